/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TFRecord files against what their own libraries read in them, and against damage. */
#include "config.h"
#if WITH_ZLIB
#include "rows_run.h"

#include <errno.h>

#include "base/crc32c.h"

static const char *const as_written[] = {
	"train-00000-of-00002", "train-00001-of-00002", "validation-00000-of-00001",
	"pets-train.tfrecord-00000-of-00001", "pets-test.tfrecord-00000-of-00001",
	"package.tfrecord", "label-float.tfrecord", "label-hot.tfrecord",
	"label-hot-float.tfrecord", "label-words.tfrecord", "label-below.tfrecord",
	"label-none.tfrecord", "label-fraction.tfrecord", "label-multi.tfrecord",
	"rival.tfrecord", "split-column.tfrecord", "odd.tfrecord",
};

static void test_probe(void **state)
{
	size_t n;
	char *bytes = fixture(as_written[unit_row(state)], &n);

	assert_ptr_equal(format_probe((const unsigned char *)bytes, n),
			 format_by_name("tfrecord"));
	assert_ptr_equal(format_probe((const unsigned char *)bytes, 12),
			 format_by_name("tfrecord"));
	assert_null(format_probe((const unsigned char *)bytes, 11));
	free(bytes);
}

static void test_as_written(void **state)
{
	rows_as_written(as_written[unit_row(state)]);
}

static void test_behind_others(void **state)
{
	rows_behind_others(as_written[unit_row(state)]);
}

static const struct row_told told_of[] = {
	{ "train-00000-of-00002", NULL,
	  "Example, image/encoded (bytes), labels: image/class/synset (bytes)",
	  "labels=image/class/label takes the numbers" },
	{ "train-00000-of-00002", "image/class/label",
	  "Example, image/encoded (bytes), labels: image/class/label (int64)", "" },
	{ "validation-00000-of-00001", NULL,
	  "Example, image/encoded (bytes), labels: image/class/label (int64)",
	  "labels=image/class/text takes the texts" },
	{ "label-fraction.tfrecord", NULL, "Example, image (bytes), no labels",
	  "has a label that is no whole number" },
	{ "label-multi.tfrecord", NULL, "Example, image (bytes), no labels",
	  "has a label of 3 values that is not one-hot" },
	{ "rival.tfrecord", NULL, "Example, image (bytes), labels: label (int64)",
	  "labels=target takes it" },
	{ "rival.tfrecord", "target", "Example, image (bytes), labels: target (int64)", "" },
	{ "split-column.tfrecord", NULL, "Example, image (bytes), labels: label (int64)",
	  "'split' may say the split of each record, and is not used" },
	{ "odd.tfrecord", NULL, "Example, image (bytes), labels: label (int64)",
	  "2 of 7 records have nothing in 'image'" },
	{ "odd.tfrecord", NULL, "Example, image (bytes), labels: label (int64)",
	  "1 of 7 records have several values in 'image'" },
	{ "several.tfrecord", NULL, "Example, left (bytes), right (bytes), labels: y (int64)", "" },
};

static void test_told(void **state)
{
	rows_told(&told_of[unit_row(state)]);
}

static const struct row_refused refused[] = {
	{ "numbers.tfrecord", NULL, "its features are: a (int64), b (float), c (bytes)" },
	{ "numbers.tfrecord", NULL, "view=tree shows each record as a file" },
	{ "bytes.tfrecord", NULL, "records that are no tf.train.Example" },
	{ "empty-records.tfrecord", NULL, "its features are: none" },
	{ "sequence.tfrecord", NULL, "records that are tf.train.SequenceExample" },
	{ "rival.tfrecord", "klass", "has no feature 'klass' for the labels" },
	{ "rival.tfrecord", "image", "has no labels in its feature 'image'" },
	{ "label-fraction.tfrecord", "label", "no whole number in 'label', record 1" },
	{ "label-multi.tfrecord", "label", "is not one-hot in 'label', record 0" },
};

static void test_refused(void **state)
{
	rows_refused(&refused[unit_row(state)]);
}

/* ---- Damage ---- */

static void put_number(FILE *out, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		fputc((int)(value >> 8 * i & 255), out);
}

static uint32_t masked(const void *bytes, size_t n)
{
	uint32_t crc = crc32c(0, bytes, n);

	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* A record that says it has `length` bytes, and has these. */
static void put_record(FILE *out, uint64_t length, const void *data, size_t n)
{
	fwrite(&length, 1, 8, out);
	put_number(out, masked(&length, 8), 4);
	fwrite(data, 1, n, out);
	put_number(out, masked(data, n), 4);
}

#define JPEG "\377\330\377\340"
/* {"x": JPEG} */
#define EXAMPLE "\012\017\012\015\012\001x\022\010\012\006\012\004" JPEG
#define EIGHT "\200\200\200\200\200\200\200\200"

static const struct damage {
	const char *name;
	uint64_t length; /* that the second record says; 0: what it has */
	const char *data;
	size_t n;
	const char *word;
} damages[] = {
#define DAMAGE(name, length, data, word) { name, length, data, sizeof(data) - 1, word },
	DAMAGE("length-2^63", UINT64_C(1) << 63, EXAMPLE, "is truncated: TFRecord 20, which begins at")
	DAMAGE("length-2^64-1", UINT64_MAX, EXAMPLE, "is truncated: TFRecord 20, which begins at")
	DAMAGE("length-beyond", 1000, EXAMPLE, "is truncated: TFRecord 20, which begins at")
	DAMAGE("field-beyond", 0, "\012\020\012\015\012\001x\022\010\012\006\012\004" JPEG,
	       "is damaged: TFRecord 20 (at byte 660) is no tf.train.Example")
	DAMAGE("value-beyond", 0, "\012\017\012\015\012\001x\022\010\012\006\012\005" JPEG,
	       "is damaged: TFRecord 20")
	DAMAGE("varint-of-11-bytes", 0, "\012" EIGHT "\200\200\200\001", "is damaged: TFRecord 20")
	DAMAGE("length-of-2^63", 0, "\012" EIGHT "\200\001", "is damaged: TFRecord 20")
	DAMAGE("group", 0, "\013\014", "is damaged: TFRecord 20")
	DAMAGE("number-as-list", 0, "\012\007\012\005\012\001x\022\000\010\001", "is damaged: TFRecord 20")
	DAMAGE("bytes-as-number", 0, "\012\013\012\011\012\001x\022\004\012\002\010\001",
	       "is damaged: TFRecord 20")
	DAMAGE("floats-of-3-bytes", 0, "\012\016\012\014\012\001x\022\007\022\005\012\003abc",
	       "is damaged: TFRecord 20")
	DAMAGE("other-field", 0, "\012\000\032\001x", "is damaged: TFRecord 20")
#undef DAMAGE
};

static void test_damage(void **state)
{
	const struct damage *damage = &damages[unit_row(state)];
	FILE *out = fopen("damaged", "w");
	struct run run;

	assert_non_null(out);
	for (unsigned i = 0; i < 20; i++)
		put_record(out, sizeof(EXAMPLE) - 1, EXAMPLE, sizeof(EXAMPLE) - 1);
	put_record(out, damage->length ? damage->length : damage->n, damage->data, damage->n);
	assert_int_equal(fclose(out), 0);
	run_window(&run, "damaged", 0, NULL);
	assert_refused(&run, damage->word);
	run_end(&run);
}

/* Every length of a file of two records but the whole ones is refused. */
static void test_cut(void **state)
{
	size_t n;
	char *bytes = fixture("package.tfrecord", &n);
	unsigned whole = 0;
	struct run run;

	(void)state;
	for (size_t cut = 12; cut < n; cut++) {
		unit_write("cut", bytes, cut);
		run_window(&run, "cut", 0, NULL);
		if (run.err)
			assert_refused(&run, "is truncated: TFRecord");
		whole += !run.err;
		run_end(&run);
	}
	assert_int_equal(whole, 3); /* of the 4 records */
	free(bytes);
}

/* Each flipped bit of a length is seen; of data where they are compared. */
static void test_flipped(void **state)
{
	size_t n;
	char *bytes = fixture("package.tfrecord", &n);
	struct run run;

	(void)state;
	for (size_t at = 0; at < 12; at++) {
		bytes[at] ^= 1;
		unit_write("flipped", bytes, n);
		run_window(&run, "flipped", 0, NULL);
		assert_refused(&run, "length that its checksum does not fit");
		run_end(&run);
		bytes[at] ^= 1;
	}
	free(bytes);
}

static int scan_comparing(const char *path, struct run *run)
{
	run_window(run, path, 0, NULL);
	samples_free(run->samples);
	run->samples = run->scan.samples = samples_new();
	assert_non_null(run->samples);
	run->scan.compares = true;
	return format_by_name("tfrecord")->scan(&run->scan, &run->e);
}

static void test_compared(void **state)
{
	size_t n;
	char *bytes = fixture("train-00000-of-00002", &n);
	struct run run;

	(void)state;
	unit_write("whole", bytes, n);
	assert_int_equal(scan_comparing("whole", &run), 0);
	run_end(&run);
	bytes[n - 100] ^= 16;
	unit_write("flipped", bytes, n);
	assert_int_equal(scan_comparing("flipped", &run), -EBADMSG);
	assert_non_null(strstr(run.e.text, "TFRecord 3"));
	assert_non_null(strstr(run.e.text, "has data that its checksum does not fit"));
	run_end(&run);
	free(bytes);
}

static const struct CMUnitTest tfrecord[] = {
	unit_texts(test_as_written, as_written),
	unit_texts(test_behind_others, as_written),
	unit_texts(test_probe, as_written),
	unit_table(test_told, told_of, file),
	unit_table(test_refused, refused, file),
	unit_table(test_damage, damages, name),
	cmocka_unit_test(test_cut),
	cmocka_unit_test(test_flipped),
	cmocka_unit_test(test_compared),
};

static int enter(void **state)
{
	rows_of("tfrecord");
	return unit_enter(state);
}

UNIT_MAIN_IN(tfrecord, enter, unit_leave)

#else
#include "left_out.h"
#endif
