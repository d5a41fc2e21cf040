/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MDS shards against what the library's own reader finds in them, and against damage. */
#include "config.h"
#if WITH_ZLIB
#include "rows_run.h"

#include <errno.h>
#include <unistd.h>

#include "told.h"

static const char *const as_written[] = {
	"train-jpeg.mds", "png.mds", "bytes.mds", "pil.mds", "pil-grey.mds", "pil-modes.mds",
	"jpeg_array.mds", "jpegarray.mds", "list-jpeg.mds", "array.mds", "array-pixels.mds",
	"array-type.mds", "array-big.mds", "label-float.mds", "label-half.mds", "label-words.mds",
	"label-digits.mds", "label-below.mds", "label-large.mds", "label-decimal.mds",
	"label-fraction.mds", "label-long.mds", "rival.mds", "split-column.mds",
};

static void test_as_written(void **state)
{
	rows_as_written(as_written[unit_row(state)]);
}

static void test_behind_others(void **state)
{
	rows_behind_others(as_written[unit_row(state)]);
}

static void test_probe(void **state)
{
	size_t n;
	char *bytes = fixture(as_written[unit_row(state)], &n);

	assert_ptr_equal(format_probe((const unsigned char *)bytes, n), format_by_name("mds"));
	assert_null(format_probe((const unsigned char *)bytes, 11));
	free(bytes);
}

static const struct row_told told_of[] = {
	{ "train-jpeg.mds", NULL, "image (jpeg), labels: label (int)", "" },
	{ "bytes.mds", NULL, "x (bytes), labels: y (int16)", "" },
	{ "pil-modes.mds", NULL, "image (pil), labels: label (int)",
	  "3 of 7 samples have no image, or one of another mode than RGB and L, in 'image'" },
	{ "jpegarray.mds", NULL, "image (jpegarray), labels: label (int)",
	  "1 of 3 samples have several images in 'image': the first is shown" },
	{ "label-fraction.mds", NULL, "image (jpeg), no labels",
	  "has a label that is no whole number" },
	{ "label-long.mds", NULL, "image (jpeg), no labels", "has text of 300 bytes" },
	{ "rival.mds", NULL, "image (jpeg), labels: label (int)", "labels=target takes it" },
	{ "rival.mds", "target", "image (jpeg), labels: target (int)", "" },
	{ "split-column.mds", NULL, "image (jpeg), labels: label (int)",
	  "'split' may say the split of each sample, and is not used" },
};

static void test_told(void **state)
{
	rows_told(&told_of[unit_row(state)]);
}

static const struct row_refused refused[] = {
	{ "text.mds", NULL, "its columns are: more (json), n (int), text (str); -o view=tree" },
	{ "rival.mds", "klass", "has no column 'klass' for the labels" },
	{ "rival.mds", "image", "has no labels in its column 'image'" },
	{ "label-fraction.mds", "label", "no whole number, in 'label', sample 1" },
	{ "label-long.mds", "label", "text of 300 bytes, which names no class, in 'label', sample 1" },
};

static void test_refused(void **state)
{
	rows_refused(&refused[unit_row(state)]);
}

/* ---- Damage ---- */

/* The second of two samples; the first is of the same kind, and whole. */
static const struct damage {
	const char *name, *encoding, *size, *first, *second;
	size_t first_length, second_length;
	const char *word;
} damages[] = {
#define DAMAGE(name, encoding, size, first, second, word) \
	{ name, encoding, size, first, second, sizeof(first) - 1, sizeof(second) - 1, word },
#define JPEG "\4\0\0\0\377\330\377\340"
#define PIL "\22\0\0\0\1\0\0\0\1\0\0\0\3\0\0\0RGBabc"
#define ARRAY "\4\0\0\0\10\4\1x"
	DAMAGE("sizes-cut", "jpeg", "null", JPEG, "\1\0\0", "sample 1 (at byte 108) is shorter than")
	DAMAGE("size-beyond", "jpeg", "null", JPEG, "\5\0\0\0\377\330\377\340", "columns beyond its end")
	DAMAGE("size-2^32-1", "jpeg", "null", JPEG, "\377\377\377\377\377\330", "columns beyond its end")
	DAMAGE("size-below", "jpeg", "null", JPEG, "\3\0\0\0\377\330\377\340", "bytes behind its columns")
	DAMAGE("pil-cut", "pil", "null", PIL, "\13\0\0\0\1\0\0\0\1\0\0\0\3\0\0",
	       "a value that ends within its own head")
	DAMAGE("pil-mode-cut", "pil", "null", PIL, "\16\0\0\0\1\0\0\0\1\0\0\0\3\0\0\0RG",
	       "a value that ends within its own head")
	DAMAGE("pil-short", "pil", "null", PIL, "\21\0\0\0\1\0\0\0\1\0\0\0\3\0\0\0RGBab",
	       "another size than its bytes")
	DAMAGE("pil-2^32-1", "pil", "null", PIL,
	       "\22\0\0\0\377\377\377\377\377\377\377\377\3\0\0\0RGBabc", "another size than its bytes")
	DAMAGE("array-type", "ndarray", "null", ARRAY, "\4\0\0\0\7\4\1x", "an array of an unknown type")
	DAMAGE("array-rank-63", "ndarray", "null", ARRAY, "\4\0\0\0\10\374\1x", "within its own head")
	DAMAGE("array-shape", "ndarray", "null", ARRAY, "\4\0\0\0\10\4\2x", "another size than its bytes")
	DAMAGE("array-2^64", "ndarray", "null", ARRAY,
	       "\23\0\0\0\10\13\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377x",
	       "another size than its bytes")
	DAMAGE("list-count", "jpegarray", "null", "\14\0\0\0\1\0\0\0\4\0\0\0\377\330\377\340",
	       "\14\0\0\0\377\377\377\377\4\0\0\0\377\330\377\340", "another size than its bytes")
	DAMAGE("list-size", "jpegarray", "null", "\14\0\0\0\1\0\0\0\4\0\0\0\377\330\377\340",
	       "\14\0\0\0\1\0\0\0\5\0\0\0\377\330\377\340", "another size than its bytes")
	DAMAGE("other-size", "int", "4", "\1\0\0\0", "\1\0\0\0", "size is not that of its encoding")
	DAMAGE("no-size", "int", "null", "\1\0\0\0", "\1\0\0\0", "size is not that of its encoding")
	DAMAGE("negative-size", "new", "-1", "\1\0\0\0", "\1\0\0\0", "size is not that of its encoding")
	DAMAGE("element", "ndarray:bool", "null", "", "", "arrays of no known type or shape")
	DAMAGE("shape", "ndarray:uint8:3,,4", "12", "", "", "arrays of no known type or shape")
	DAMAGE("shape-0", "ndarray:uint8:0", "1", "", "", "arrays of no known type or shape")
	DAMAGE("shape-2^64", "ndarray:int64:4294967296,4294967296", "1", "", "",
	       "arrays of no known type or shape")
	DAMAGE("shape-2^32", "ndarray:uint8:65536,65536", "1", "", "", "arrays of no known type or shape")
	DAMAGE("lists-differ", "jpeg", "", "", "", "more names of columns than encodings or sizes")
	DAMAGE("no-json", "\"", "null", "", "", "has no JSON behind its table")
#undef DAMAGE
};

static void put_number(FILE *out, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		fputc((int)(value >> 8 * i & 255), out);
}

static void write_shard(const struct damage *damage, const char *version)
{
	FILE *out = fopen("damaged", "w");
	char json[256];
	size_t begin;

	snprintf(json, sizeof(json), "{\"column_names\":[\"x\"],\"column_encodings\":[\"%s\"],"
		 "\"column_sizes\":[%s],\"version\":%s}", damage->encoding, damage->size, version);
	begin = 16 + strlen(json);
	assert_non_null(out);
	put_number(out, 2);
	put_number(out, begin);
	put_number(out, begin + damage->first_length);
	put_number(out, begin + damage->first_length + damage->second_length);
	fwrite(json, 1, strlen(json), out);
	fwrite(damage->first, 1, damage->first_length, out);
	fwrite(damage->second, 1, damage->second_length, out);
	assert_int_equal(fclose(out), 0);
}

static void test_damage(void **state)
{
	const struct damage *damage = &damages[unit_row(state)];
	struct run run;

	write_shard(damage, "2");
	run_window(&run, "damaged", 0, NULL);
	assert_refused(&run, damage->word);
	run_end(&run);
}

/* The second of two labels; the first is 0. */
static const struct odd_label {
	const char *name, *encoding, *value;
	size_t size;
	const char *detail, *said, *word; /* and what labels=label refuses, or NULL */
} odd_labels[] = {
	{ "half-infinite", "float16", "\0\174", 2, "x (jpeg), no labels",
	  "which has a label that is no whole number", "no whole number, in 'label', sample 1" },
	{ "half-nan", "float16", "\1\174", 2, "x (jpeg), labels: label (float16)", "", NULL },
	{ "uint64-2^63", "uint64", "\0\0\0\0\0\0\0\200", 8, "x (jpeg), no labels",
	  "which has a number beyond 63 bits", "a number beyond 63 bits, in 'label', sample 1" },
	{ "uint64-2^63-1", "uint64", "\377\377\377\377\377\377\377\177", 8,
	  "x (jpeg), labels: label (uint64)", "", NULL },
	{ "int64-below", "int64", "\0\0\0\0\0\0\0\200", 8, "x (jpeg), labels: label (int64)", "",
	  NULL },
};

static void write_labels(const struct odd_label *odd)
{
	FILE *out = fopen("odd", "w");
	char json[256];
	size_t begin;

	snprintf(json, sizeof(json), "{\"column_names\":[\"x\",\"label\"],\"column_encodings\":"
		 "[\"jpeg\",\"%s\"],\"column_sizes\":[null,%zu],\"version\":2}", odd->encoding,
		 odd->size);
	begin = 16 + strlen(json);
	assert_non_null(out);
	put_number(out, 2);
	for (unsigned i = 0; i < 3; i++)
		put_number(out, begin + i * (8 + odd->size));
	fwrite(json, 1, strlen(json), out);
	fwrite(JPEG "\0\0\0\0\0\0\0", 1, 8 + odd->size, out);
	fwrite(JPEG, 1, 8, out);
	fwrite(odd->value, 1, odd->size, out);
	assert_int_equal(fclose(out), 0);
}

static void test_odd_labels(void **state)
{
	const struct odd_label *odd = &odd_labels[unit_row(state)];
	struct run run;
	char *said;

	write_labels(odd);
	run_window(&run, "odd", 0, NULL);
	assert_string_equal(run.e.text, "");
	assert_string_equal(run.scan.detail, odd->detail);
	said = told(&run.findings);
	assert_non_null(strstr(said, odd->said));
	free(said);
	run_end(&run);
	run_window(&run, "odd", 0, "label");
	if (odd->word)
		assert_refused(&run, odd->word);
	else
		assert_string_equal(run.e.text, "");
	run_end(&run);
}

static void test_version(void **state)
{
	struct run run;

	(void)state;
	write_shard(&damages[0], "3");
	run_window(&run, "damaged", 0, NULL);
	assert_refused(&run, "is of a version other than 2");
	run_end(&run);
}

/* Every length but the whole one is refused. */
static void test_cut(void **state)
{
	size_t n;
	char *bytes = fixture("train-jpeg.mds", &n);
	struct run run;

	(void)state;
	for (size_t cut = 12; cut < n; cut++) {
		unit_write("cut", bytes, cut);
		run_window(&run, "cut", 0, NULL);
		assert_refused(&run, "is truncated: it is an MDS shard");
		run_end(&run);
	}
	free(bytes);
}

/* An offset that lies is seen by the order, the end of the file, or the sizes of a sample. */
static void test_offsets(void **state)
{
	size_t n;
	char *bytes = fixture("train-jpeg.mds", &n);
	struct run run;

	(void)state;
	for (size_t at = 4; at < 4 + 6 * 4; at++) {
		bytes[at] ^= 64;
		unit_write("lies", bytes, n);
		run_window(&run, "lies", 0, NULL);
		assert_refused(&run, "'lies' is ");
		run_end(&run);
		bytes[at] ^= 64;
	}
	free(bytes);
}

/* Offsets of 32 bits do not reach behind a table of 4 GiB, which a sparse file has at once. */
static void test_endless_table(void **state)
{
	static const unsigned char count[4] = { 0377, 0377, 0377, 0077 };
	struct run run;

	(void)state;
	unit_write("endless", count, sizeof(count));
	assert_int_equal(truncate("endless", (INT64_C(1) << 32) + 64), 0);
	run_window(&run, "endless", 0, NULL);
	assert_refused(&run, "has a table of 4 GiB or more");
	run_end(&run);
}

/* The table may be longer than what is looked at. */
static void test_long_table(void **state)
{
	enum { SAMPLES = 20000, TABLE = 4 * (SAMPLES + 2) };
	uint32_t *table = calloc(1, TABLE);

	(void)state;
	assert_non_null(table);
	table[0] = SAMPLES;
	for (uint32_t i = 0; i <= SAMPLES; i++)
		table[i + 1] = TABLE + 300 + 10 * i;
	assert_ptr_equal(format_probe((unsigned char *)table, FORMAT_HEAD_BYTES),
			 format_by_name("mds"));
	table[9000] = 0;
	assert_null(format_probe((unsigned char *)table, FORMAT_HEAD_BYTES));
	free(table);
}

static const struct CMUnitTest mds[] = {
	unit_texts(test_as_written, as_written),
	unit_texts(test_behind_others, as_written),
	unit_texts(test_probe, as_written),
	unit_table(test_told, told_of, file),
	unit_table(test_refused, refused, file),
	unit_table(test_damage, damages, name),
	unit_table(test_odd_labels, odd_labels, name),
	cmocka_unit_test(test_version),
	cmocka_unit_test(test_cut),
	cmocka_unit_test(test_offsets),
	cmocka_unit_test(test_endless_table),
	cmocka_unit_test(test_long_table),
};

static int enter(void **state)
{
	rows_of("mds");
	return unit_enter(state);
}

UNIT_MAIN_IN(mds, enter, unit_leave)

#else
#include "left_out.h"
#endif
