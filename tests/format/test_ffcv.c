/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FFCV files against what FFCV's own reader finds in them, and against damage. */
#include "config.h"
#if WITH_ZLIB
#include "rows_run.h"

#include <errno.h>

static const char *const as_written[] = {
	"raw.beton", "jpg.beton", "smart.beton", "proportion.beton", "pets_train.beton",
	"pets_val.beton", "label-first.beton", "fields.beton", "several.beton", "rival.beton",
	"none.beton", "label-below.beton", "label-float.beton", "label-fraction.beton",
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
	{ "raw.beton", NULL, "image (7 ppm), labels: label (int)", "" },
	{ "jpg.beton", "label", "image (7 jpg), labels: label (int)", "" },
	{ "smart.beton", NULL, "image (3 jpg, 4 ppm), labels: label (int)", "" },
	{ "none.beton", NULL, "image (2 jpg), no labels", "" },
	{ "several.beton", NULL, "left (2 ppm), right (2 jpg), labels: y (int)", "" },
	{ "rival.beton", NULL, "image (3 jpg), labels: label (int)", "labels=target takes it" },
	{ "rival.beton", "target", "image (3 jpg), labels: target (int)", "" },
	{ "label-float.beton", NULL, "image (3 jpg), labels: label (float)", "" },
	{ "label-fraction.beton", NULL, "image (3 jpg), no labels",
	  "no labels are taken from 'label', which has numbers that are not whole" },
};

static void test_told(void **state)
{
	rows_told(&told_of[unit_row(state)]);
}

static const struct row_refused refused[] = {
	{ "numbers.beton", NULL,
	  "no field of images; its fields are: covariate (array), label (float); Python's ffcv" },
	{ "rival.beton", "klass", "has no field 'klass' of ints or floats for the labels" },
	{ "rival.beton", "image", "its fields are: image (image), target (int), label (int)" },
	{ "label-fraction.beton", "label", "no whole number in 'label', sample 1" },
};

static void test_refused(void **state)
{
	rows_refused(&refused[unit_row(state)]);
}

/* ---- Damage ---- */

/* Where the parts of a file of two samples lie: a JPEG of 4 bytes, and one pixel. */
enum {
	FIELDS = 24,
	FIELD = 1041,
	RECORDS = FIELDS + 2 * FIELD,
	RECORD = 24,
	JPEG = RECORDS + 2 * RECORD,
	PIXEL = JPEG + 4,
	PIECES = PIXEL + 3,
	PIECE = 24,
	END = PIECES + 2 * PIECE,
};

static void put(unsigned char *file, size_t at, unsigned bytes, uint64_t value)
{
	for (unsigned i = 0; i < bytes; i++)
		file[at + i] = (unsigned char)(value >> 8 * i);
}

static void make_file(unsigned char file[END])
{
	memset(file, 0, END);
	put(file, 0, 2, 2);
	put(file, 2, 2, 2);
	put(file, 4, 4, 1 << 21);
	put(file, 8, 8, 2);
	put(file, 16, 8, PIECES);
	file[FIELDS] = 2;
	memcpy(file + FIELDS + 1, "image", 5);
	file[FIELDS + FIELD] = 1;
	memcpy(file + FIELDS + FIELD + 1, "label", 5);
	put(file, RECORDS + 5, 8, JPEG);
	put(file, RECORDS + RECORD, 1, 1);
	put(file, RECORDS + RECORD + 1, 2, 1);
	put(file, RECORDS + RECORD + 3, 2, 1);
	put(file, RECORDS + RECORD + 5, 8, PIXEL);
	put(file, PIECES, 8, 1);
	put(file, PIECES + 8, 8, PIXEL);
	put(file, PIECES + 16, 8, 3);
	put(file, PIECES + PIECE + 8, 8, JPEG);
	put(file, PIECES + PIECE + 16, 8, 4);
}

static const struct damage {
	const char *name;
	size_t at;
	unsigned bytes;
	uint64_t value;
	const char *word; /* NULL: it is none */
} damages[] = {
	{ "none", 0, 0, 0, NULL },
	{ "samples-2^63", 8, 8, UINT64_C(1) << 63, "samples have no room before byte" },
	{ "samples-3", 8, 8, 3, "its 3 samples have no room before byte" },
	{ "samples-0", 8, 8, 0, NULL },
	{ "table-beyond", 16, 8, END + 1, "is truncated: it ends at byte" },
	{ "table-2^64-1", 16, 8, UINT64_MAX, "is truncated: it ends at byte" },
	{ "table-within-records", 16, 8, JPEG - 1, "samples have no room before byte" },
	{ "table-odd", 16, 8, PIECES + 1, "its table of pieces has 47 bytes for 2 samples" },
	{ "fields-65535", 2, 2, 65535, "has 65535 fields, more than the 1024" },
	{ "fields-1024", 2, 2, 1024, "is truncated: it ends at byte" },
	{ "type-7", FIELDS, 1, 7, "has a field 'image' of FFCV's type 7" },
	{ "type-255", FIELDS, 1, 255, "has a field 'image' of FFCV's type 255" },
	{ "no-images", FIELDS, 1, 0, "no field of images; its fields are: image (float)" },
	{ "mode", RECORDS, 1, 2, "sample 0 has an image of a kind that FFCV does not write" },
	{ "place", RECORDS + 5, 8, JPEG + 1, "sample 0 has an image without bytes" },
	{ "place-of-other", RECORDS + 5, 8, PIXEL, "sample 0 has an image without bytes" },
	{ "size-0", PIECES + PIECE + 16, 8, 0, "sample 0 has an image without bytes" },
	{ "size-2^63", PIECES + PIECE + 16, 8, UINT64_C(1) << 63, "an image beyond its pages" },
	{ "size-beyond", PIECES + PIECE + 16, 8, 8, "sample 0 has an image beyond its pages" },
	{ "width-0", RECORDS + RECORD + 1, 2, 0, "sample 1 has an image without bytes" },
	{ "width-65535", RECORDS + RECORD + 1, 4, UINT32_MAX, "an image beyond its pages" },
	{ "width-2", RECORDS + RECORD + 1, 2, 2, "sample 1 has an image beyond its pages" },
	{ "pixels-2^64-1", RECORDS + RECORD + 5, 8, UINT64_MAX, "an image beyond its pages" },
};

static void test_damage(void **state)
{
	const struct damage *damage = &damages[unit_row(state)];
	unsigned char file[END];
	struct run run;

	make_file(file);
	put(file, damage->at, damage->bytes, damage->value);
	unit_write("damaged", file, sizeof(file));
	run_window(&run, "damaged", 0, NULL);
	if (damage->word)
		assert_refused(&run, damage->word);
	else
		assert_string_equal(run.e.text, "");
	run_end(&run);
}

/* Every length of the file is refused; the probe needs the header only. */
static void test_cut(void **state)
{
	unsigned char file[END];
	struct run run;

	(void)state;
	make_file(file);
	for (size_t cut = FIELDS; cut < END; cut++) {
		assert_ptr_equal(format_probe(file, cut), format_by_name("ffcv"));
		unit_write("cut", file, cut);
		run_window(&run, "cut", 0, NULL);
		assert_refused(&run, cut < PIECES ? "is truncated" :
				     cut == PIECES || cut == PIECES + PIECE ?
						    "sample 0 has an image without bytes" :
						    "its table of pieces has");
		run_end(&run);
	}
	assert_null(format_probe(file, FIELDS - 1));
}

/* A piece of no bytes has the place of the next one: of bytes that are none. */
static void test_empty_pieces(void **state)
{
	unsigned char file[END + 3 * PIECE] = { 0 };
	struct sample first;
	struct run run;

	(void)state;
	make_file(file);
	put(file, END, 8, 1);
	put(file, END + 8, 8, JPEG);
	put(file, END + PIECE, 8, 1);
	put(file, END + PIECE + 8, 8, JPEG);
	put(file, END + 2 * PIECE + 8, 8, PIXEL);
	unit_write("empty", file, sizeof(file));
	run_window(&run, "empty", 0, NULL);
	assert_string_equal(run.e.text, "");
	samples_get(run.samples, 0, 0, &first);
	assert_int_equal(first.body.length, 4);
	run_end(&run);
}

static const struct CMUnitTest ffcv[] = {
	unit_texts(test_as_written, as_written),
	unit_texts(test_behind_others, as_written),
	unit_table(test_told, told_of, file),
	unit_table(test_refused, refused, file),
	unit_table(test_damage, damages, name),
	cmocka_unit_test(test_cut),
	cmocka_unit_test(test_empty_pieces),
};

static int enter(void **state)
{
	rows_of("ffcv");
	return unit_enter(state);
}

UNIT_MAIN_IN(ffcv, enter, unit_leave)

#else
#include "left_out.h"
#endif
