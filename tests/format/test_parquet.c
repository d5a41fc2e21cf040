/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parquet files against what pyarrow reads in them, and against damage. */
#include "config.h"
#if WITH_ZLIB && WITH_DEFLATE && WITH_ZSTD && WITH_LZ4
#include "rows_run.h"

#include <errno.h>


#define CODEC_FILES(codec)                                                              \
	codec "-dictionary.parquet", codec "-plain.parquet", codec "-v2.parquet",       \
		codec "-v2-dictionary.parquet"

static const char *const as_written[] = {
	"train-00000-of-00001.parquet", "test-00000-of-00001.parquet",
	CODEC_FILES("none"), CODEC_FILES("snappy"), CODEC_FILES("zstd"),
	"gzip-dictionary.parquet", "gzip-plain.parquet", "lz4-dictionary.parquet",
	"lz4-plain.parquet",
	"delta-length-byte-array-none.parquet", "delta-length-byte-array-snappy.parquet",
	"delta-byte-array-none.parquet", "delta-byte-array-snappy.parquet", "pages.parquet",
	"label-bool.parquet", "label-uint32.parquet", "label-int8.parquet",
	"label-float.parquet", "label-double.parquet", "label-words.parquet",
	"label-large.parquet", "label-coded.parquet", "label-fraction.parquet",
	"rival.parquet", "split-column.parquet", "nulls.parquet",
};

static void test_as_written(void **state)
{
	rows_as_written(as_written[unit_row(state)]);
}

static void test_behind_others(void **state)
{
	rows_behind_others(as_written[unit_row(state)]);
}

static const struct row_told told_of[] = {
	{ "train-00000-of-00001.parquet", NULL,
	  "no codec, image.bytes (binary), labels: label (int64), 3 names", "" },
	{ "zstd-plain.parquet", NULL,
	  "zstd, image.bytes (binary), labels: label (int64)", "" },
	{ "label-fraction.parquet", NULL, "snappy, image (binary), no labels",
	  "has a label that is no whole number, 0.5" },
	{ "rival.parquet", NULL, "snappy, image (binary), labels: label (int64)",
	  "labels=target takes it" },
	{ "rival.parquet", "target", "snappy, image (binary), labels: target (int64)", "" },
	{ "split-column.parquet", NULL, "snappy, image (binary), labels: label (int64)",
	  "'split' may say the split of each row, and is not used" },
	{ "nulls.parquet", NULL, "no codec, image.bytes (binary), no labels",
	  "2 of 5 rows hold no bytes in 'image'" },
	{ "several.parquet", NULL, "snappy, left (binary), right (binary), labels: y (int64)",
	  "'mask' is not shown" },
};

static void test_told(void **state)
{
	rows_told(&told_of[unit_row(state)]);
}

static const struct row_refused refused[] = {
	{ "text.parquet", NULL, "its columns are: text (string), n (int64); a table of text" },
	{ "text.parquet", NULL, "Python's datasets: load_dataset('parquet'" },
	{ "list.parquet", NULL, "image.list.element (list of binary)" },
	{ "paths.parquet", NULL, "has no bytes in 'image.bytes' in any of its rows" },
	{ "brotli.parquet", NULL, "has 'image' compressed with brotli, which is not read" },
	{ "rival.parquet", "klass", "has no column 'klass' for the labels" },
	{ "rival.parquet", "image", "has no labels in its column 'image'" },
	{ "label-fraction.parquet", "label", "no whole number, 0.5, in 'label', row 0" },
};

static void test_refused(void **state)
{
	rows_refused(&refused[unit_row(state)]);
}

/* ---- Damage ---- */

static void scan_bytes(const char *bytes, size_t n, struct run *run)
{
	unit_write("x.parquet", bytes, n);
	run_window(run, "x.parquet", 0, NULL);
}

static void test_tails(void **state)
{
	static const struct {
		size_t n;
		const char *bytes, *word;
	} tails[] = {
		{ 4, "PAR1", "is truncated: it has 4 bytes" },
		{ 12, "PAR1\0\0\0\0PARE", "has an encrypted footer, which is not read" },
		{ 12, "PAR1\0\0\0\0PAR2", "is truncated: it does not end as a Parquet file does" },
		{ 12, "PAR1\1\0\0\0PAR1", "its footer has a length of 1 bytes" },
		{ 12, "PAR1\377\377\377\377PAR1", "its footer has a length of 4294967295 bytes" },
		{ 13, "PAR1\377\1\0\0\0PAR1", "its footer at byte 4 makes no sense" },
		/* a list of 2^32 - 1 structs */
		{ 19, "PAR1\051\374\377\377\377\377\017\7\0\0\0PAR1", "makes no sense" },
	};
	struct run run;

	(void)state;
	for (size_t i = 0; i < COUNT(tails); i++) {
		scan_bytes(tails[i].bytes, tails[i].n, &run);
		assert_refused(&run, tails[i].word);
		run_end(&run);
	}
}

/* Structs in structs, deeper than they may be. */
static void test_deep(void **state)
{
	char bytes[4 + 100 + 8] = "PAR1";
	struct run run;

	(void)state;
	memset(bytes + 4, 0x1c, 100);
	memcpy(bytes + 104, "\144\0\0\0PAR1", 8);
	scan_bytes(bytes, sizeof(bytes), &run);
	assert_refused(&run, "makes no sense");
	run_end(&run);
}

/* Whatever byte is another: a sentence, or rows that can be read or are refused later. */
static void test_flipped(void **state)
{
	static const char *const files[] = { "snappy-dictionary.parquet", "none-v2.parquet",
					     "delta-byte-array-none.parquet" };
	size_t n;
	char *bytes = fixture(files[unit_row(state) % COUNT(files)], &n);
	struct run run;

	for (size_t at = 0; at < n; at++) {
		bytes[at] ^= (char)(1 << at % 8);
		scan_bytes(bytes, n, &run);
		if (run.err)
			assert_int_equal(run.err, -EBADMSG);
		if (run.err)
			assert_non_null(strstr(run.e.text, "x.parquet"));
		run_end(&run);
		bytes[at] ^= (char)(1 << at % 8);
	}
	free(bytes);
}

static const int flips[] = { 0, 1, 2 };

static const struct CMUnitTest parquet[] = {
	unit_texts(test_as_written, as_written),
	unit_texts(test_behind_others, as_written),
	unit_table(test_told, told_of, file),
	unit_table(test_refused, refused, file),
	cmocka_unit_test(test_tails),
	cmocka_unit_test(test_deep),
	unit_rows(test_flipped, flips),
};

static int enter(void **state)
{
	rows_of("parquet");
	return unit_enter(state);
}

UNIT_MAIN_IN(parquet, enter, unit_leave)

#else
#include "left_out.h"
#endif
