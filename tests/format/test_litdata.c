/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LitData: the columns that an index.json says, and chunks against damage. A chunk may have more
 * behind its last item: so here each file is both, a chunk and the index of it.
 * tests/mount/litdata.sh compares what LitData's own writer wrote.
 */
#include "config.h"
#if WITH_ZLIB
#include "rows_run.h"

#include <errno.h>

#include "told.h"

#define LEAF "{\\\"type\\\": null, \\\"context\\\": null, \\\"children_spec\\\": []}"
#define DICT(keys, leaves) \
	"\"[1, {\\\"type\\\": \\\"builtins.dict\\\", \\\"context\\\": \\\"[" keys "]\\\", " \
	"\\\"children_spec\\\": [" leaves "]}]\""
#define KEY(name) "\\\\\\\"" name "\\\\\\\""
#define TUPLE(leaves) \
	"\"[1, {\\\"type\\\": \\\"builtins.tuple\\\", \\\"context\\\": \\\"null\\\", " \
	"\\\"children_spec\\\": [" leaves "]}]\""
#define ITEM DICT(KEY("x") ", " KEY("y"), LEAF ", " LEAF)
#define CONFIG(formats, spec, more) \
	"{\"chunks\": [], \"config\": {" more "\"data_format\": [" formats "], \"data_spec\": " spec "}}"
#define JPEG "\4\0\0\0\10\0\0\0\377\330\377\340"
#define WHOLE JPEG "\3\0\0\0\0\0\0\0"

/* Two equal items before the index. */
static void write_chunk(const char *item, size_t n, const char *index)
{
	FILE *out = fopen("chunk", "w");
	uint32_t table[4] = { 2, 16, 16 + (uint32_t)n, 16 + 2 * (uint32_t)n };

	assert_non_null(out);
	fwrite(table, 1, sizeof(table), out);
	fwrite(item, 1, n, out);
	fwrite(item, 1, n, out);
	fwrite(index, 1, strlen(index), out);
	assert_int_equal(fclose(out), 0);
}

/* The scan without an index, which is refused, and with it. */
static void scan_listed(struct run *run)
{
	run_window(run, "chunk", 0, NULL);
	assert_int_equal(run->err, -EBADMSG);
	samples_free(run->samples);
	run->samples = run->scan.samples = samples_new();
	assert_non_null(run->samples);
	run->scan.listed_in = run->source;
	run->err = format_by_name("litdata")->scan(&run->scan, &run->e);
}

static const struct {
	const char *name, *item;
	size_t n;
	const char *index, *detail;
} shown[] = {
#define SHOWN(name, item, index, detail) { name, item, sizeof(item) - 1, index, detail },
	SHOWN("dict", WHOLE, CONFIG("\"bytes\", \"int\"", ITEM, ""), "x (bytes), labels: y (int)")
	SHOWN("tuple", WHOLE, CONFIG("\"jpeg\", \"int\"", TUPLE(LEAF ", " LEAF), ""),
	      "0 (jpeg), labels: 1 (int)")
	SHOWN("nulls", WHOLE,
	      CONFIG("\"jpeg\", \"int\"", ITEM, "\"encryption\": null, \"compression_level\": null, "
		     "\"item_loader\": \"PyTreeLoader\", "), "x (jpeg), labels: y (int)")
	SHOWN("chunk-level", WHOLE,
	      CONFIG("\"jpeg\", \"int\"", ITEM, "\"compression_level\": \"chunk\", "),
	      "x (jpeg), labels: y (int)")
	SHOWN("column-config", WHOLE,
	      CONFIG("\"jpeg\", \"int\"", ITEM, "\"a\": 1, \"config\": 7, ") ,
	      "x (jpeg), labels: y (int)")
	SHOWN("image-type", WHOLE, CONFIG("\"image:png\", \"int\"", ITEM, ""),
	      "x (image:png), labels: y (int)")
	SHOWN("early-int", "\4\0\0\0\1\0\0\0\377\330\377\340" "3",
	      CONFIG("\"jpeg\", \"int\"", ITEM, ""), "x (jpeg), labels: y (int)")
	SHOWN("early-int-of-tuple", "\4\0\0\0\1\0\0\0\377\330\377\340" "3",
	      CONFIG("\"jpeg\", \"int\"", TUPLE(LEAF ", " LEAF), ""), "0 (jpeg), labels: 1 (int)")
	SHOWN("early-int-of-8-digits", "\4\0\0\0\10\0\0\0\377\330\377\340" "00000003",
	      CONFIG("\"jpeg\", \"int\"", ITEM, ""), "x (jpeg), labels: y (int)")
	SHOWN("root", "\4\0\0\0\377\330\377\340", CONFIG("\"jpeg\"", "\"[1, " LEAF "]\"", ""),
	      "item (jpeg), no labels")
	SHOWN("nested", WHOLE,
	      CONFIG("\"jpeg\", \"int\"",
		     DICT(KEY("a"), "{\\\"type\\\": \\\"builtins.list\\\", \\\"context\\\": "
				    "\\\"null\\\", \\\"children_spec\\\": [" LEAF ", " LEAF "]}"), ""),
	      "a.0 (jpeg), no labels")
#undef SHOWN
};

static void test_shown(void **state)
{
	size_t i = unit_row(state);
	struct sample second;
	struct run run;

	write_chunk(shown[i].item, shown[i].n, shown[i].index);
	scan_listed(&run);
	assert_int_equal(run.err, 0);
	assert_string_equal(run.scan.detail, shown[i].detail);
	assert_int_equal(samples_group_count(run.samples), 1);
	assert_int_equal(samples_group(run.samples, 0)->rows, 2);
	samples_get(run.samples, 0, 1, &second);
	assert_int_equal(second.body.length, 4);
	if (strstr(shown[i].detail, "labels: "))
		assert_int_equal(second.label, 3);
	run_end(&run);
}

static const struct {
	const char *name, *item;
	size_t n;
	const char *index, *word;
} refused[] = {
#define REFUSED(name, item, index, word) { name, item, sizeof(item) - 1, index, word },
	REFUSED("number-of-9-bytes", "\4\0\0\0\11\0\0\0\377\330\377\340\3\0\0\0\0\0\0\0\0",
		CONFIG("\"jpeg\", \"int\"", ITEM, ""), "a number of another size")
	REFUSED("number-of-0-bytes", "\4\0\0\0\0\0\0\0\377\330\377\340",
		CONFIG("\"jpeg\", \"int\"", ITEM, ""), "a number of another size")
	REFUSED("number-of-text-and-more", "\4\0\0\0\2\0\0\0\377\330\377\340" "3\0",
		CONFIG("\"jpeg\", \"int\"", ITEM, ""), "a number of another size")
	REFUSED("number-of-sign", "\4\0\0\0\1\0\0\0\377\330\377\340" "-",
		CONFIG("\"jpeg\", \"int\"", ITEM, ""), "a number of another size")
	REFUSED("size-2^32-1", "\377\377\377\377\10\0\0\0\377\330\377\340\3\0\0\0\0\0\0\0",
		CONFIG("\"jpeg\", \"int\"", ITEM, ""), "columns beyond its end")
	REFUSED("no-config", WHOLE, "{\"chunks\": []}", "has no config behind its list")
	REFUSED("config-cut", WHOLE, "{\"chunks\": [], \"config\": {\"data_format\"", "has no config")
	REFUSED("no-format", WHOLE, "{\"config\": {\"data_spec\": \"\"}}", "has no data_format")
	REFUSED("spec-null", WHOLE, CONFIG("\"jpeg\"", "null", ""), "data_spec that is no JSON")
	REFUSED("spec-text", WHOLE, CONFIG("\"jpeg\"", "\"[1\"", ""), "data_spec that is no JSON")
	REFUSED("spec-of-1", WHOLE, CONFIG("\"jpeg\"", "\"[1]\"", ""), "data_spec of another form")
	REFUSED("spec-of-numbers", WHOLE, CONFIG("\"jpeg\"", "\"[1, 7]\"", ""), "of another form")
	REFUSED("more-leaves", WHOLE, CONFIG("\"jpeg\"", ITEM, ""), "more leaves than data_format")
	REFUSED("fewer-leaves", WHOLE, CONFIG("\"jpeg\", \"int\", \"int\"", ITEM, ""), "fewer leaves")
	REFUSED("no-leaves", WHOLE, CONFIG("", TUPLE(""), ""), "items have no leaves")
	REFUSED("format-number", WHOLE, CONFIG("\"jpeg\", 7", ITEM, ""), "no list of names")
	REFUSED("encrypted", WHOLE,
		CONFIG("\"jpeg\", \"int\"", ITEM, "\"encryption\": {\"level\": \"sample\"}, "),
		"are encrypted")
	REFUSED("batches", WHOLE,
		CONFIG("\"jpeg\", \"int\"", ITEM, "\"compression_level\": \"batch\", "),
		"compressed within the chunks")
	REFUSED("tokens", WHOLE,
		CONFIG("\"jpeg\", \"int\"", ITEM, "\"item_loader\": \"TokensLoader\", "),
		"another loader than PyTreeLoader")
	REFUSED("no-images", "\1\0\0\0\10\0\0\0a\3\0\0\0\0\0\0\0",
		CONFIG("\"str\", \"int\"", ITEM, ""), "its columns are: x (str), y (int)")
#undef REFUSED
};

static void test_refused(void **state)
{
	size_t i = unit_row(state);
	struct run run;

	write_chunk(refused[i].item, refused[i].n, refused[i].index);
	scan_listed(&run);
	assert_refused(&run, refused[i].word);
	run_end(&run);
}

static void test_deep_spec(void **state)
{
	char *index = NULL;
	struct run run;
	size_t n;
	FILE *out = open_memstream(&index, &n);

	(void)state;
	assert_non_null(out);
	fprintf(out, "{\"config\": {\"data_format\": [\"jpeg\"], \"data_spec\": \"[1, ");
	for (unsigned i = 0; i < 10000; i++)
		fprintf(out, "{\\\"type\\\": \\\"builtins.list\\\", \\\"children_spec\\\": [");
	for (unsigned i = 0; i < 10000; i++)
		fprintf(out, "]}");
	fprintf(out, "]\"}}");
	fclose(out);
	write_chunk(WHOLE, sizeof(WHOLE) - 1, index);
	scan_listed(&run);
	assert_refused(&run, "data_spec of another form");
	run_end(&run);
	free(index);
}

/* A key above another, of which each name has both: "kkk.xkkk". */
#define BELOW \
	"{\\\"type\\\": \\\"builtins.dict\\\", \\\"context\\\": \\\"[" KEY("x%.*s") ", " KEY("y") \
	"]\\\", \\\"children_spec\\\": [" LEAF ", " LEAF "]}"

static const struct {
	const char *name;
	int letters;
	const char *word; /* NULL: it is read */
} long_names[] = {
	{ "of-255-bytes", 53, NULL },
	{ "of-256-bytes", 54, "has keys that make a name beyond 255 bytes" },
};

static void test_long_names(void **state)
{
	char key[201], index[2048];
	struct run run;

	memset(key, 'k', 200);
	key[200] = '\0';
	snprintf(index, sizeof(index), CONFIG("\"jpeg\", \"int\"", DICT(KEY("%s"), BELOW), ""), key,
		 long_names[unit_row(state)].letters, key);
	write_chunk(WHOLE, sizeof(WHOLE) - 1, index);
	scan_listed(&run);
	if (long_names[unit_row(state)].word)
		assert_refused(&run, long_names[unit_row(state)].word);
	else
		assert_int_equal(run.err, 0);
	run_end(&run);
}

static void test_without_index(void **state)
{
	struct run run;

	(void)state;
	write_chunk(WHOLE, sizeof(WHOLE) - 1, "");
	run_window(&run, "chunk", 0, NULL);
	assert_refused(&run, "the index.json beside it says what is in it");
	run_end(&run);
}

static void test_probe(void **state)
{
	static const char index[] = "{\"chunks\": [{\"chunk_bytes\": 7}]}";
	size_t n;
	char *bytes;

	(void)state;
	assert_ptr_equal(format_probe((const unsigned char *)index, sizeof(index)),
			 format_by_name("litdata"));
	write_chunk(WHOLE, sizeof(WHOLE) - 1, "");
	bytes = unit_read("chunk", &n);
	assert_ptr_equal(format_probe((const unsigned char *)bytes, n),
			 format_by_name("litdata"));
	bytes[4]--;
	assert_null(format_probe((const unsigned char *)bytes, n));
	free(bytes);
}

static const struct CMUnitTest litdata[] = {
	unit_table(test_shown, shown, name),
	unit_table(test_refused, refused, name),
	cmocka_unit_test(test_deep_spec),
	unit_table(test_long_names, long_names, name),
	cmocka_unit_test(test_without_index),
	cmocka_unit_test(test_probe),
};

static int enter(void **state)
{
	rows_of("litdata");
	return unit_enter(state);
}

UNIT_MAIN_IN(litdata, enter, unit_leave)

#else
#include "left_out.h"
#endif
