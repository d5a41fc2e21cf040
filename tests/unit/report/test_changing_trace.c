/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace that another process changes between the passes: other times, within no array. */
#include "unit.h"

#include "report/chrome.h"
#include "report/figures.h"
#include "report/trace_text.h"

#define EVENT(name, category, ts, dur)                                             \
	"{\"name\":\"" name "\",\"cat\":\"" category "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur ",\"ph\":1,\"args\":{\"fhash\":\"aa\",\"ret\":1000}}"
#define ALL_KINDS(ts, dur)                                                         \
	EVENT("read", "POSIX", ts, dur), EVENT("lookup", "FUSE", ts, dur),         \
	EVENT("storage_read", "STORAGE", ts, dur), EVENT("push", "PUSH", ts, dur), \
	EVENT("decode", "DECODE", ts, dur)

enum { LINES_MOST = 32 };

/* The lines of the next passes: these stand for those of report/trace_text.c. */
struct trace_text {
	const char *const *next;
};

static const char *const whole[LINES_MOST] = { ALL_KINDS("1000", "500") };
static const char *const changed[LINES_MOST] = {
	ALL_KINDS("1000", "500"), /* as before */
	ALL_KINDS("1", "1"), ALL_KINDS("1499", "900000000000"),
	ALL_KINDS("8999999999999999", "999999999999"), ALL_KINDS("1400", "101"),
};

static const char *const *const passes[] = { whole, changed, changed };
static size_t pass;
static struct trace_text reader;

struct trace_text *trace_text_new(const struct source *source)
{
	(void)source;
	assert_true(pass < COUNT(passes));
	reader.next = passes[pass++];
	return &reader;
}

void trace_text_free(struct trace_text *text)
{
	(void)text;
}

int trace_text_line(struct trace_text *text, const char **line, size_t *size)
{
	if (!*text->next)
		return 0;
	*line = *text->next++;
	*size = strlen(*line);
	return 1;
}

bool trace_text_is_cut(const struct trace_text *text)
{
	(void)text;
	return false;
}

static void test_events_beyond_the_span_are_left_out(void **state)
{
	struct figures *f = NULL;
	struct source *trace;
	struct error e;
	size_t size = 0;
	char *events = NULL;
	FILE *out = open_memstream(&events, &size);

	(void)state;
	unit_write("t.pfw", "", 0);
	assert_int_equal(source_open("t.pfw", &trace, &e), 0);
	assert_int_equal(figures_read(trace, &f, &e), 0);
	assert_true(f->first == 1000 && f->last == 1500 && f->events == 5);
	assert_true(f->reads == 1 && f->requests == 1 && f->storage_reads == 1);
	assert_true(f->decodes == 1 && f->pushed == 1000 && f->read_us == 500);
	assert_int_equal(chrome_write(trace, f, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(unit_occurrences(events, "\"ph\":\"X\""), 5);
	source_close(trace);
	figures_free(f);
	free(events);
}

static const struct CMUnitTest changing_trace[] = {
	cmocka_unit_test(test_events_beyond_the_span_are_left_out),
};

UNIT_MAIN(changing_trace)
