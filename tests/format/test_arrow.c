/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Arrow format against what the fixtures were made of. */
#include "config.h"
#if WITH_ZLIB
#include "rows_run.h"

#include <errno.h>

#include "format/row_names.h"

/* Every file of expected.tsv. */
static void for_each(void (*check)(const char *name), unsigned at_least)
{
	char *all = fixture("expected.tsv", NULL), *rest = all, *line;
	unsigned count = 0;

	while ((line = strtok_r(NULL, "\n", &rest)))
		if (strncmp(line, "file\t", 5) == 0) {
			check(line + 5);
			count++;
		}
	free(all);
	assert_true(count >= at_least);
}

static void test_as_written(void **state)
{
	(void)state;
	for_each(rows_as_written, 18);
}

static void test_window(void **state)
{
	(void)state;
	for_each(rows_behind_others, 18);
}

static void probe(const char *name)
{
	size_t n;
	char *bytes = fixture(name, &n);

	assert_ptr_equal(format_probe((const unsigned char *)bytes, n),
			 format_by_name("arrow"));
	/* metadata may be longer than what a probe sees */
	assert_ptr_equal(format_probe((const unsigned char *)bytes, 160),
			 format_by_name("arrow"));
	free(bytes);
}

static void test_probe(void **state)
{
	static const unsigned char nothing[64], ones[64] = { 0xff, 0xff, 0xff, 0xff, 0x20 };

	(void)state;
	for_each(probe, 18);
	assert_null(format_probe(nothing, sizeof(nothing)));
	assert_null(format_probe(ones, sizeof(ones)));
}

static const struct {
	const char *file, *detail;
} files_detail[] = {
	{ "ImageNet_train.arrow",
	  "file, image_data (binary), labels: label (uint16)" },
	{ "pets-train-00000-of-00002.arrow",
	  "stream, image (struct<bytes, path>), labels: label (int64), 3 names" },
	{ "flicker-bytes.arrow",
	  "file, image_data (binary), no labels" },
	{ "datumaro.arrow", "file, media.image (struct<bytes, path>), no labels" },
	{ "label-hot-fixed.arrow",
	  "stream, image (binary), labels: label (fixed_size_list of int)" },
	{ "dictionary-file.arrow",
	  "file, image (binary), labels: label (dictionary of utf8)" },
};

static void test_detail(void **state)
{
	size_t i = unit_row(state);
	struct run run;

	take_fixture(files_detail[i].file);
	run_window(&run, files_detail[i].file, 0, NULL);
	assert_string_equal(run.scan.detail, files_detail[i].detail);
	run_end(&run);
}

/* labels=NAME */
static void test_labels(void **state)
{
	const struct sample_group *group;
	struct sample sample;
	struct run run;

	(void)state;
	take_fixture("words.arrow");
	run_window(&run, "words.arrow", 0, "other");
	assert_int_equal(run.err, 0);
	group = samples_group(run.samples, 0);
	samples_get(run.samples, 0, 3, &sample);
	assert_string_equal(group->labels, "other");
	assert_int_equal(sample.label, 4294967295);
	assert_null(sample.class_name);
	run_end(&run);

	run_window(&run, "words.arrow", 0, "nothing");
	assert_refused(&run, "no column 'nothing'");
	assert_refused(&run, "jpg (binary), class (utf8), other (uint32)");
	run_end(&run);

	run_window(&run, "words.arrow", 0, "jpg");
	assert_refused(&run, "no labels in its column 'jpg', which is binary");
	run_end(&run);
}

/* A member of a struct, which is null in one row. */
static void test_labels_that_are_named(void **state)
{
	struct sample sample;
	struct run run;

	(void)state;
	take_fixture("datumaro.arrow");
	run_window(&run, "datumaro.arrow", 0, "meta.label");
	assert_int_equal(run.err, 0);
	assert_string_equal(samples_group(run.samples, 0)->labels, "meta.label");
	for (int i = 0; i < 5; i++) {
		samples_get(run.samples, 0, (uint64_t)i, &sample);
		assert_int_equal(sample.label, 4 - i);
		assert_int_equal(sample.body.volume == SAMPLE_MISSING, i == 1 || i == 3);
	}
	run_end(&run);
}

static const struct {
	const char *file, *word;
} files_unlabelled[] = {
	{ "label-fraction.arrow", "has a label that is no whole number, 2.5, in 'label', "
				  "row 1" },
	{ "label-several.arrow", "has lists of 1 and of 2 elements, in 'label', row 1" },
	{ "label-multi.arrow", "has a list that is not one-hot, in 'label', row 0" },
};

/* Columns that labels=NAME asks for, and that hold no labels. */
static void test_named_columns_without_labels(void **state)
{
	size_t i = unit_row(state);
	struct run run;

	take_fixture(files_unlabelled[i].file);
	run_window(&run, files_unlabelled[i].file, 0, "label");
	assert_refused(&run, files_unlabelled[i].word);
	run_end(&run);
}

static const struct {
	const char *file, *word;
} files_refused[] = {
	{ "numbers.arrow", "a (int32), b (utf8)" },
	{ "large-label.arrow", "in 'label', row 1" },
	{ "paths-only.arrow", "no bytes in 'image' in any of its 3 rows (null), but "
			      "paths of files; write it with them (datasets: "
			      "ds.with_format(\"arrow\").map(datasets.table." },
	{ "null-only.arrow", "no bytes in 'image' in any of its 2 rows (null); write" },
	{ "zstd.arrow", "zstd" },
	{ "lz4.arrow", "compression=None" },
};

static void test_refused(void **state)
{
	size_t i = unit_row(state);
	struct run run;

	take_fixture(files_refused[i].file);
	run_window(&run, files_refused[i].file, 0, NULL);
	assert_refused(&run, files_refused[i].word);
	run_end(&run);
}

/* A name that ends in no type of file gets the extension. */
static void test_names(void **state)
{
	static const struct {
		const char *path, *name;
	} table[] = {
		{ "a/b.png", "b.png" }, { "n01.JPEG", "n01.JPEG" }, { "clip.mp4", "clip.mp4" },
		{ "x.nii.gz", "x.nii.gz" }, { "b", "b.jpg" }, { "a.b.2", "a.b.2.jpg" },
		{ "photo 12.5 cm", "photo 12.5 cm.jpg" }, { "v1.0-17", "v1.0-17.jpg" },
		{ "ends.", "ends..jpg" }, { ".hidden", ".hidden" }, { "..", NULL }, { "a/", NULL },
	};
	const struct sample_group group = { .split = "", .name = "image", .extension = "jpg" };
	struct samples *samples = samples_new();
	struct row_names names;

	(void)state;
	assert_non_null(samples);
	assert_int_equal(samples_begin(samples, &group), 0);
	row_names_begin(&names);
	for (size_t i = 0; i < COUNT(table); i++) {
		const char *got = row_names_make(&names, samples, table[i].path,
						   strlen(table[i].path), i, "jpg");

		if (!table[i].name)
			assert_null(got);
		else
			assert_same_text(table[i].path, got, table[i].name);
	}
	row_names_end(&names);
	samples_free(samples);
}

static void scan_choices(void *name)
{
	struct run run;

	run_window(&run, name, 0, NULL);
	assert_int_equal(run.err, 0);
	run_end(&run);
}

/* In a file that has it once. */
static void patch(char *bytes, size_t n, const char *old, const char *new, size_t length)
{
	char *at = memmem(bytes, n, old, length);

	assert_non_null(at);
	memcpy(at, new, length);
}

/* A column that is called as labels are, of floats. */
static void test_no_labels(void **state)
{
	char name[] = "floats.arrow", *bytes, *said;
	size_t n;

	(void)state;
	take_fixture("wide.arrow");
	bytes = unit_read("wide.arrow", &n);
	patch(bytes, n, "\1\0\0\0y", "\1\0\0\0q", 5);
	patch(bytes, n, "weight", "labels", 6);
	unit_write(name, bytes, n);
	free(bytes);
	said = unit_stderr_of(scan_choices, name);
	assert_non_null(strstr(said, "no labels are taken from the column 'labels', which "
			       "has a label that is no whole number, 0.5: they are"));
	free(said);
}

/* Where several columns could be the label, the chosen one is named. */
static const struct {
	const char *file, *says[2];
} files_choices[] = {
	{ "two-labels.arrow", { "from the column 'label'", "'y' could be" } },
	{ "two-classes.arrow", { "may have classes in the column 'scene'", "none is taken" } },
	{ "class-and-more.arrow", { "column 'fine_label'", "'coarse_label' could" } },
	{ "datumaro.arrow", { "'annotations', 'attributes' are not shown beside "
			      "'media.image'", "2 of 5 rows hold no bytes" } },
	{ "label-fraction.arrow", { "no labels are taken from the column 'label'",
				    "no whole number, 2.5: they are" } },
	{ "label-several.arrow", { "no labels", "lists of 1 and of 2 elements" } },
};

static void test_choices(void **state)
{
	size_t i = unit_row(state);
	char name[64], *said;

	snprintf(name, sizeof(name), "%s", files_choices[i].file);
	take_fixture(name);
	said = unit_stderr_of(scan_choices, name);
	for (size_t k = 0; k < COUNT(files_choices[i].says); k++) {
		if (!strstr(said, files_choices[i].says[k]))
			print_message("# %s: %s\n", name, said);
		assert_non_null(strstr(said, files_choices[i].says[k]));
	}
	free(said);
}

static int class_names(const char *json, const char *column, const char ***out, size_t *n,
		       struct arena *arena)
{
	return row_names_classes(json, strlen(json), column, arena, out, n);
}

static void test_classes(void **state)
{
#define FEATURES(text) "{\"info\": {\"features\": {" text "}}}"
#define CLASSES(names) "\"_type\": \"ClassLabel\", \"names\": [" names "]"
	static const char two[] = FEATURES("\"a\": {" CLASSES("\"x\", \"y\"") "},"
					   "\"b\": {\"_type\": \"Image\"}");
	static const char more[] = FEATURES("\"a\": {" CLASSES("\"x\"") "},"
					    "\"b\": {" CLASSES("\"y\"") "}");
	static const char bad[] = FEATURES("\"a\": {" CLASSES("\"x\", 2") "}");
	struct arena arena = { NULL };
	const char **names;
	struct row_class_columns columns;
	size_t n;

	(void)state;
	assert_int_equal(class_names(two, "a", &names, &n, &arena), 0);
	assert_int_equal(n, 2);
	assert_string_equal(names[1], "y");
	assert_int_equal(class_names(two, "b", &names, &n, &arena), 0);
	assert_int_equal(n, 0);
	assert_int_equal(class_names(bad, "a", &names, &n, &arena), -EBADMSG);
	assert_int_equal(n, 0);
	assert_int_equal(class_names("{\"info\": 1}", "a", &names, &n, &arena), -EBADMSG);
	assert_int_equal(class_names("[[[", "a", &names, &n, &arena), -EBADMSG);
	row_class_columns(two, strlen(two), &columns);
	assert_int_equal(columns.count, 1);
	assert_string_equal(columns.names[0], "a");
	row_class_columns(more, strlen(more), &columns);
	assert_int_equal(columns.count, 2);
	assert_string_equal(columns.names[1], "b");
	row_class_columns("{", 1, &columns);
	assert_int_equal(columns.count, 0);
	arena_free(&arena);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_as_written),
	cmocka_unit_test(test_window),
	cmocka_unit_test(test_probe),
	unit_table(test_detail, files_detail, file),
	cmocka_unit_test(test_labels),
	cmocka_unit_test(test_labels_that_are_named),
	unit_table(test_named_columns_without_labels, files_unlabelled, file),
	unit_table(test_refused, files_refused, file),
	unit_table(test_choices, files_choices, file),
	cmocka_unit_test(test_no_labels),
	cmocka_unit_test(test_classes),
};

UNIT_MAIN(tests)

#else
#include "left_out.h"
#endif
