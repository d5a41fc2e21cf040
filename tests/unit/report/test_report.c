/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of a trace, and traces that are cut off, odd or hostile. */
#include "unit.h"

#include "config.h"

#include <errno.h>

#include "report/chrome.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/verdict.h"

#define READ(ts, dur, file, storage)                                              \
	"{\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":" ts          \
	",\"dur\":" dur ",\"ph\":1,\"args\":{\"fhash\":\"" file                        \
	"\",\"offset\":0,\"ret\":1000,\"storage\":" storage "}}\n"
#define STORED(ts, dur, file)                                                     \
	"{\"name\":\"storage_read\",\"cat\":\"STORAGE\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur ",\"ph\":1,\"args\":{\"fhash\":\"" file                        \
	"\",\"ret\":1000,\"demand\":1}}\n"
#define NAMED(file, path)                                                         \
	"{\"name\":\"FH\",\"cat\":\"dftracer\",\"ph\":4,\"args\":{\"name\":\"" path        \
	"\",\"value\":\"" file "\"}}\n"

static int read_figures(const char *text, size_t size, struct figures **out)
{
	struct source *trace;
	struct error e;
	int err;

	unit_write("t.pfw", text, size);
	assert_int_equal(source_open("t.pfw", &trace, &e), 0);
	err = figures_read(trace, out, &e);
	if (err) {
		assert_non_null(strstr(e.text, "t.pfw"));
		assert_null(strchr(e.text, '\n'));
	}
	source_close(trace);
	return err;
}

static struct figures *figures_of(const char *text)
{
	struct figures *f = NULL;

	assert_int_equal(read_figures(text, strlen(text), &f), 0);
	return f;
}

static void test_numbers_add_up(void **state)
{
	struct figures *f = figures_of(
		NAMED("aa", "/d/x.tar") NAMED("bb", "/d/y.tar") STORED("1000", "900", "aa")
		READ("990", "1010", "cc", "1") READ("3000", "10", "dd", "0")
		STORED("5000", "300", "bb") READ("5000", "5000", "ee", "1")
		"{\"name\":\"dropped\",\"cat\":\"dftracer\",\"ph\":2,\"args\":{\"dropped\":7}}\n"
		"nonsense\n");
	struct shard slowest[SHARDS_SHOWN];

	(void)state;
	assert_true(f->events == 5 && f->reads == 3 && f->hits == 1 && f->dropped == 7);
	assert_true(f->served == 3000 && f->stored == 2000 && f->unknown_lines == 1);
	assert_true(f->first == 990 && f->last == 10000 && !f->cut);
	/* 1010 + 10 + 5000 of 9010 */
	assert_in_range(f->waiting_permille, 660, 675);
	assert_int_equal(figures_slowest(f, slowest), 2);
	assert_string_equal(trace_files_path(&f->files, slowest[0].file), "/d/x.tar");
	assert_true(slowest[0].longest_us == 900 && slowest[1].longest_us == 300);
	figures_free(f);
}

static void test_the_older_dialect_is_read(void **state)
{
	struct figures *f = figures_of(
		"[\n{\"name\":\"FH\",\"cat\":\"dftracer\",\"ph\":\"M\",\"args\":{\"hhash\":3,"
		"\"name\":\"/d/f\",\"value\":77}}\n"
		"{\"name\":\"read\",\"cat\":\"POSIX\",\"ts\":10,\"dur\":5,\"ph\":\"X\","
		"\"args\":{\"hhash\":3,\"fhash\":77,\"ret\":9}}\n]");

	(void)state;
	assert_true(f->reads == 1 && f->served == 9 && f->unknown_lines == 0);
	assert_string_equal(trace_files_path(&f->files, 0), "/d/f");
	figures_free(f);
}

/* Three epochs of a thousand files in other orders; each file is read in two pieces. */
static void test_epochs_are_told_apart(void **state)
{
	enum { FILES = 1000, EPOCHS = 3, LINE = 256 };
	char *text = malloc(FILES * EPOCHS * 2 * LINE), *at = text;
	struct figures *f;

	(void)state;
	assert_non_null(text);
	for (unsigned e = 0; e < EPOCHS; e++) {
		for (unsigned i = 0; i < 2 * FILES; i++)
			at += snprintf(at, LINE, "{\"name\":\"read\",\"cat\":\"POSIX\",\"ts\":%u,"
				       "\"dur\":1,\"ph\":1,\"args\":{\"fhash\":\"%u\",\"ret\":1}}\n",
				       1000 + e * 100000 + i, (i / 2 * (2 * e + 7)) % FILES);
	}
	f = figures_of(text);
	assert_int_equal(f->epoch_count, EPOCHS);
	for (unsigned e = 0; e < EPOCHS; e++) {
		assert_true(f->epochs[e].files == FILES);
		assert_in_range(f->epochs[e].begin, e * 100000, e * 100000 + 200);
	}
	figures_free(f);
	free(text);
}

static void test_the_verdict_names_the_cause(void **state)
{
	static const struct {
		const char *text, *word;
	} cases[] = {
		{ READ("1", "1000000", "a", "1") STORED("1", "990000", "b"), "storage" },
		{ READ("1", "10", "a", "1") READ("9000000", "10", "a", "1"), "loader" },
		{ READ("1", "1000", "a", "0") READ("1001", "1000", "b", "0"), "requests" },
		{ READ("1", "1000", "a", "0") "{\"name\":\"decode\",\"cat\":\"DECODE\",\"ts\":5,"
		  "\"dur\":900,\"ph\":1,\"args\":{\"ret\":5}}\n", "decode" },
	};
	char text[VERDICT_BYTES];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct figures *f = figures_of(cases[i].text);

		assert_string_equal(verdict_of(f, text), cases[i].word);
		assert_true(strlen(text) > 50);
		figures_free(f);
	}
}

static void test_files_without_events_are_refused(void **state)
{
	static const char *const texts[] = {
		"", "[\n]\n", "hello\n", "{\"name\":\"read\"", "\x1f\x8b", "\x1f\x8b\x08\x00",
		"{\"name\":\"read\",\"cat\":\"POSIX\",\"ts\":0,\"dur\":1,\"ph\":1}\n",
		"{\"name\":\"read\",\"cat\":\"POSIX\",\"ts\":1e5,\"dur\":1,\"ph\":1}\n",
		"{\"name\":\"read\",\"cat\":\"POSIX\",\"ts\":99999999999999999999,\"ph\":1}\n",
		"{\"name\":\"read\",\"cat\":\"POSIX\",\"ts\":-5,\"dur\":1,\"ph\":1}\n",
	};
	struct figures *f;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_true(read_figures(texts[i], strlen(texts[i]), &f) < 0);
}

static char *page_of(const struct figures *f)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	page_write(f, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Times and durations of millennia, sizes of exabytes; and names with HTML in them. */
static void test_odd_numbers_and_names_are_harmless(void **state)
{
	struct figures *f = figures_of(
		"{\"name\":\"start\",\"cat\":\"dftracer\",\"ts\":1,\"ph\":1,\"args\":{\"dataset\":"
		"\"<script>a&b\",\"mountpoint\":\"\\ud800\\u0001\"}}\n"
		NAMED("aa", "</td>'\\\"\\u0000x") STORED("1", "999999999999", "aa")
		READ("8999999999999998", "999999999999", "cc", "1")
		READ("5", "10000000000000000", "cc", "1")
		"{\"name\":\"read\",\"cat\":\"POSIX\",\"ts\":7,\"dur\":1,\"ph\":1,\"args\":{"
		"\"ret\":9223372036854775807}}\n"
		"{\"name\":\"read\",\"cat\":\"POSIX\",\"ts\":7,\"dur\":1,\"ph\":1,\"args\":{"
		"\"ret\":-9223372036854775808}}\n");
	char *text = page_of(f);

	(void)state;
	assert_true(f->events == 4 && f->errors == 1);
	assert_null(strstr(text, "<script"));
	assert_non_null(strstr(text, "&#60;script&#62;a&#38;b"));
	assert_non_null(strstr(text, "&#60;/td&#62;&#39;&#34;?x"));
	assert_non_null(strstr(text, "</html>"));
	free(text);
	figures_free(f);
}

static void test_long_lines_are_left_out(void **state)
{
	enum { LONG = 1000000 };
	static const char line[] = READ("5", "1", "cc", "1");
	char *text = malloc(LONG + 2 * sizeof(line));
	struct figures *f = NULL;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LONG);
	text[LONG - 1] = '\n';
	memcpy(text + LONG, line, sizeof(line) - 1);
	memcpy(text + LONG + sizeof(line) - 1, line, sizeof(line) - 2); /* without an end */
	assert_int_equal(read_figures(text, LONG + 2 * sizeof(line) - 3, &f), 0);
	assert_true(f->reads == 2);
	figures_free(f);
	free(text);
}

static void test_members_of_gzip_are_read_up_to_their_damage(void **state)
{
	struct figures *f = NULL;
	size_t size;
	char *packed;

	(void)state;
	if (!WITH_ZLIB)
		skip();
	unit_write("a", READ("5", "1", "cc", "1"), strlen(READ("5", "1", "cc", "1")));
	unit_shell("gzip -c a >packed && gzip -c a >>packed");
	packed = unit_read("packed", &size);
	assert_int_equal(read_figures(packed, size, &f), 0);
	assert_true(f->reads == 2 && !f->cut);
	figures_free(f);
	assert_int_equal(read_figures(packed, size - 9, &f), 0);
	assert_true(f->reads >= 1 && f->cut);
	figures_free(f);
	packed[size / 2 + 14] ^= 0x55;
	assert_int_equal(read_figures(packed, size, &f), 0);
	assert_true(f->reads >= 1 && f->cut);
	figures_free(f);
	free(packed);
}

static void test_chrome_gets_its_events(void **state)
{
	static const char text[] = NAMED("aa", "/d/x.tar") STORED("1000", "900", "aa")
				   READ("990", "10", "cc", "1");
	struct figures *f = figures_of(text);
	struct source *trace;
	struct error e;
	size_t size = 0;
	char *events = NULL;
	FILE *out = open_memstream(&events, &size);

	(void)state;
	assert_int_equal(source_open("t.pfw", &trace, &e), 0);
	assert_int_equal(chrome_write(trace, f, out), 0);
	fclose(out);
	assert_true(strncmp(events, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", 39) == 0);
	assert_string_equal(events + size - 4, "\n]}\n");
	assert_int_equal(unit_occurrences(events, "\"ph\":\"X\""), 2);
	assert_non_null(strstr(events, "\"ts\":10,\"dur\":900"));
	assert_non_null(strstr(events, "\"file\":\"/d/x.tar\""));
	source_close(trace);
	figures_free(f);
	free(events);
}

static void test_chrome_gets_the_end_of_a_path(void **state)
{
	enum { PIECES = 3000, SHOWN = 256 };
	size_t size = 0, n = 0;
	char path[3 * PIECES + 1], text[sizeof(path) + 1024], wanted[SHOWN + 16], *events = NULL;
	FILE *out = open_memstream(&events, &size);
	struct source *trace;
	struct figures *f;
	struct error e;

	(void)state;
	for (size_t i = 0; i < PIECES; i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "/\xc3\xa4");
	snprintf(text, sizeof(text), NAMED("aa", "%s") READ("5", "1", "aa", "0"), path);
	f = figures_of(text);
	assert_int_equal(source_open("t.pfw", &trace, &e), 0);
	assert_int_equal(chrome_write(trace, f, out), 0);
	fclose(out);
	snprintf(wanted, sizeof(wanted), "\"file\":\"%s\"", path + n - SHOWN + 1);
	assert_non_null(strstr(events, wanted)); /* the byte before is half a character */
	source_close(trace);
	figures_free(f);
	free(events);
}

/* The stream is a sparse file, in which little room is left. */
static void test_chrome_ends_at_4_gib(void **state)
{
	struct figures *f = figures_of(READ("1", "1", "a", "0") READ("2", "1", "a", "0"));
	FILE *out = fopen("events", "we");
	struct source *trace;
	struct error e;

	(void)state;
	assert_non_null(out);
	assert_int_equal(source_open("t.pfw", &trace, &e), 0);
	assert_int_equal(fseeko(out, ((off_t)4 << 30) - 1000, SEEK_SET), 0);
	assert_int_equal(chrome_write(trace, f, out), 0);
	assert_int_equal(fseeko(out, ((off_t)4 << 30) - 100, SEEK_SET), 0);
	assert_int_equal(chrome_write(trace, f, out), -EFBIG);
	assert_true(ftello(out) < ((off_t)4 << 30) + 1000);
	assert_int_equal(fclose(out), 0);
	source_close(trace);
	figures_free(f);
}

static const struct CMUnitTest report[] = {
	cmocka_unit_test(test_numbers_add_up),
	cmocka_unit_test(test_the_older_dialect_is_read),
	cmocka_unit_test(test_epochs_are_told_apart),
	cmocka_unit_test(test_the_verdict_names_the_cause),
	cmocka_unit_test(test_files_without_events_are_refused),
	cmocka_unit_test(test_odd_numbers_and_names_are_harmless),
	cmocka_unit_test(test_long_lines_are_left_out),
	cmocka_unit_test(test_members_of_gzip_are_read_up_to_their_damage),
	cmocka_unit_test(test_chrome_gets_its_events),
	cmocka_unit_test(test_chrome_gets_the_end_of_a_path),
	cmocka_unit_test(test_chrome_ends_at_4_gib),
};

UNIT_MAIN(report)
