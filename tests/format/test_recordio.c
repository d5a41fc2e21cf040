/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RecordIO files against what MXNet's own reader finds in them, and against damage. */
#include "config.h"
#if WITH_ZLIB
#include "rows_run.h"

#include <errno.h>

static const char *const as_written[] = {
	"train.rec", "val.rec", "label-float.rec", "label-below.rec", "label-hot.rec",
	"label-mixed.rec", "label-large.rec", "label-fraction.rec", "label-infinite.rec",
	"label-boxes.rec", "label-pairs.rec", "faces.rec", "faces-aligned.rec",
	"faces-few.rec", "parts.rec", "png.rec", "missing.rec",
	"set-train-00000-of-00002.rec", "set-train-00001-of-00002.rec",
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

	assert_ptr_equal(format_probe((const unsigned char *)bytes, 8),
			 format_by_name("recordio"));
	assert_null(format_probe((const unsigned char *)bytes, 7));
	free(bytes);
}

static const struct row_told told_of[] = {
	{ "train.rec", NULL, "images (jpg), one label each", "" },
	{ "train.rec", "0", "images (jpg), one label each", "" },
	{ "label-hot.rec", NULL, "images (jpg), one-hot labels", "" },
	{ "label-boxes.rec", NULL, "images (jpg), no labels",
	  "record 0 has labels that are not one-hot; labels=0 takes the first of each" },
	{ "label-boxes.rec", "1", "images (jpg), label 1 of several", "" },
	{ "label-pairs.rec", "0", "images (jpg), label 0 of several", "" },
	{ "label-fraction.rec", NULL, "images (jpg), no labels",
	  "record 1 has a label that is no whole number" },
	{ "faces.rec", NULL, "InsightFace, images (jpg), one label each", "" },
	{ "faces-aligned.rec", NULL, "InsightFace, images (jpg), label 0 of several",
	  "the first is the class, as InsightFace's loader has it" },
	{ "faces-few.rec", NULL, "InsightFace, images (jpg), one label each",
	  "says that there are 4 images and 3 identities, and there are 2 images and 3 other" },
	{ "missing.rec", NULL, "images (jpg), one label each",
	  "1 of 3 records have a header and no image" },
};

static void test_told(void **state)
{
	rows_told(&told_of[unit_row(state)]);
}

static const struct row_refused refused[] = {
	{ "texts.rec", NULL, "-o view=tree shows each record as a file" },
	{ "tensors.rec", NULL, "is a RecordIO file, and has no images behind MXNet's headers" },
	{ "train.rec", "label", "they have no names in RecordIO; labels=0" },
	{ "train.rec", "", "they have no names in RecordIO; labels=0" },
	{ "train.rec", "-1", "they have no names in RecordIO; labels=0" },
	{ "train.rec", "12345678901", "they have no names in RecordIO; labels=0" },
	{ "train.rec", "1", "has no label in that place in its record 0; choose another" },
	{ "label-boxes.rec", "2", "has a label that is no whole number in its record 0" },
	{ "label-fraction.rec", "0", "has a label that is no whole number in its record 1" },
};

static void test_refused(void **state)
{
	rows_refused(&refused[unit_row(state)]);
}

/* ---- Damage ---- */

#define MAGIC "\012\043\327\316"
#define HEADER "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define JPEG "\377\330\377\340"
#define RECORD MAGIC "\034\0\0\0" HEADER JPEG

/* Bytes behind 20 records. */
static const struct damage {
	const char *name, *data;
	size_t n;
	const char *word;
} damages[] = {
#define DAMAGE(name, data, word) { name, data, sizeof(data) - 1, word },
	DAMAGE("magic", "\012\043\327\317\034\0\0\0" HEADER JPEG,
	       "is damaged: RecordIO's record 20 (at byte 720) does not begin with the magic")
	DAMAGE("zeros", "\0\0\0\0\0\0\0\0", "does not begin with the magic number of RecordIO")
	DAMAGE("length-2^29-1", MAGIC "\377\377\377\037" HEADER JPEG,
	       "is truncated: RecordIO's record 20, which begins at byte 720")
	DAMAGE("length-beyond", MAGIC "\041\0\0\0" HEADER JPEG, "is truncated: RecordIO's record 20")
	DAMAGE("kind-7", MAGIC "\034\0\0\340" HEADER JPEG, "a part that is none of a record's first")
	DAMAGE("kind-middle", MAGIC "\034\0\0\100" HEADER JPEG,
	       "a part that is none of a record's first")
	DAMAGE("kind-last", MAGIC "\034\0\0\140" HEADER JPEG,
	       "a part that is none of a record's first")
	DAMAGE("first-alone", MAGIC "\034\0\0\040" HEADER JPEG, "is truncated: RecordIO's record 20")
	DAMAGE("first-twice", MAGIC "\034\0\0\040" HEADER JPEG MAGIC "\0\0\0\040",
	       "has a first part behind its first one")
	DAMAGE("whole-behind-first", MAGIC "\034\0\0\040" HEADER JPEG RECORD,
	       "has a first part behind its first one")
	DAMAGE("part-of-5-bytes", MAGIC "\005\0\0\040abcde\0\0\0" MAGIC "\0\0\0\140",
	       "whose length is no multiple of 4")
	DAMAGE("short", MAGIC "\010\0\0\0abcdefgh", "is too short for the header")
	DAMAGE("empty", MAGIC "\0\0\0\0", "is too short for the header")
	DAMAGE("labels-beyond", MAGIC "\034\0\0\0\2" HEADER JPEG "\0\0\0", "is too short for the header")
	DAMAGE("labels-2^32-1", MAGIC "\034\0\0\0\377\377\377\377" HEADER, "is too short for the header")
	DAMAGE("bytes-behind", MAGIC, "is truncated: RecordIO's record 20")
#undef DAMAGE
};

static void test_damage(void **state)
{
	const struct damage *damage = &damages[unit_row(state)];
	FILE *out = fopen("damaged", "w");
	struct run run;

	assert_non_null(out);
	for (unsigned i = 0; i < 20; i++)
		fwrite(RECORD, 1, sizeof(RECORD) - 1, out);
	fwrite(damage->data, 1, damage->n, out);
	assert_int_equal(fclose(out), 0);
	run_window(&run, "damaged", 0, NULL);
	assert_refused(&run, damage->word);
	run_end(&run);
}

/* A record of parts without end. */
static void test_parts(void **state)
{
	FILE *out = fopen("parts", "w");
	struct run run;

	(void)state;
	assert_non_null(out);
	fwrite(RECORD MAGIC "\0\0\0\040", 1, sizeof(RECORD) + 7, out);
	for (unsigned i = 0; i < 5000; i++)
		fwrite(MAGIC "\0\0\0\100", 1, 8, out);
	assert_int_equal(fclose(out), 0);
	run_window(&run, "parts", 0, NULL);
	assert_refused(&run, "has more than 4096 parts");
	run_end(&run);
}

static const struct {
	const char *file;
	unsigned records;
} cuts[] = { { "png.rec", 4 }, { "parts.rec", 8 } };

/* Every length of a file but those of whole records is refused. */
static void test_cut(void **state)
{
	size_t n;
	char *bytes = fixture(cuts[unit_row(state)].file, &n);
	unsigned whole = 0;
	struct run run;

	for (size_t cut = 8; cut < n; cut++) {
		unit_write("cut", bytes, cut);
		run_window(&run, "cut", 0, NULL);
		if (run.err)
			assert_refused(&run, "is truncated: RecordIO's record");
		whole += !run.err;
		run_end(&run);
	}
	assert_int_equal(whole, cuts[unit_row(state)].records - 1);
	free(bytes);
}

static const struct CMUnitTest recordio[] = {
	unit_texts(test_as_written, as_written),
	unit_texts(test_behind_others, as_written),
	unit_texts(test_probe, as_written),
	unit_table(test_told, told_of, file),
	unit_table(test_refused, refused, file),
	unit_table(test_damage, damages, name),
	cmocka_unit_test(test_parts),
	unit_table(test_cut, cuts, file),
};

static int enter(void **state)
{
	rows_of("recordio");
	return unit_enter(state);
}

UNIT_MAIN_IN(recordio, enter, unit_leave)

#else
#include "left_out.h"
#endif
