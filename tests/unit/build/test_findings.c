/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings: one line each, sorted, equal ones counted, within bounds. */
#include "unit.h"

#include "build/kit.h"
#include "index/index.h"
#include "told.h"

static void expect_lines(struct findings *findings, const char *want)
{
	char *lines = told(findings);

	assert_string_equal(lines, want);
	free(lines);
}

static void test_kinds_are_in_order_and_files_joined(void **state)
{
	struct findings all = { 0 }, files[3] = {
		{ .file = "a.tar" }, { .file = "b.tar" }, { .file = "c.tar" }
	};

	(void)state;
	findings_add(&all, FINDING_UNUSED, "labels=%s does nothing", "x");
	for (size_t i = 0; i < COUNT(files); i++) {
		findings_add(&files[i], FINDING_CHOSEN, "two columns");
		if (i)
			findings_add(&files[i], FINDING_LEFT_OUT, "%zu rows", i);
	}
	/* twice in one file is not two files */
	findings_add(&files[0], FINDING_CHOSEN, "two columns");
	for (size_t i = 0; i < COUNT(files); i++) {
		findings_join(&all, &files[i]);
		assert_int_equal(files[i].items.count, 0);
		findings_free(&files[i]);
	}
	expect_lines(&all, "'b.tar': 1 rows\n'c.tar': 2 rows\n"
			   "'a.tar' and 2 more: two columns\nlabels=x does nothing");
}

static void test_a_line_feed_in_a_name_parts_nothing(void **state)
{
	struct findings found = { .file = "x" };

	(void)state;
	findings_add(&found, FINDING_CHOSEN, "t\nwo");
	expect_lines(&found, "'x': t?wo");
	findings_add(NULL, FINDING_CHOSEN, "nobody asks");
}

static void test_the_rest_is_counted(void **state)
{
	struct findings file = { .file = "x" }, all = { 0 };
	char *lines;

	(void)state;
	for (unsigned i = 0; i < FINDINGS_MOST + 7; i++)
		findings_add(&file, FINDING_CHOSEN, "member %u", i);
	lines = told(&file);
	assert_int_equal(unit_occurrences(lines, "\n"), FINDINGS_MOST);
	assert_non_null(strstr(lines, "\n7 more findings are not told"));
	free(lines);

	for (unsigned i = 0; i < 1000; i++)
		findings_add(&all, FINDING_CHOSEN, "%0*u", 1000, i);
	lines = told(&all);
	assert_in_range(strlen(lines), FINDINGS_BYTES_MOST - 1100, FINDINGS_BYTES_MOST + 100);
	assert_non_null(strstr(lines, "\n984 more findings are not told"));
	free(lines);

	/* one that is longer than a line is cut */
	findings_add(&all, FINDING_CHOSEN, "%01000000u", 1U);
	lines = told(&all);
	assert_in_range(strlen(lines), 1000, 2000);
	free(lines);
}

static void add_line(const char *line, void *lines)
{
	snprintf((char *)lines + strlen(lines), 256 - strlen(lines), "%s|", line);
}

/* The notes of an index of 0.1 are in its summary. */
static void test_notes_of_old_and_new_indexes(void **state)
{
	struct findings found = { .file = "x" };
	struct index_summary *summary;
	struct image image;
	struct index *index;

	(void)state;
	for (int i = 0; i < 2; i++) {
		char lines[256] = "";

		kit_image("f:a:1", &image);
		summary = (void *)image.sections[SECTION_SUMMARY].items; /* aligned, as all are */
		strcpy(summary->notes, "an old note\n\nand one more");
		if (i) {
			findings_add(&found, FINDING_CHOSEN, "new");
			assert_int_equal(findings_publish(&found, &image), 0);
		}
		index = kit_open(&image);
		index_for_each_note(index, add_line, lines);
		assert_string_equal(lines, i ? "'x': new|" : "an old note|and one more|");
		index_close(index);
	}
	findings_free(&found);
}

static const struct CMUnitTest findings_tests[] = {
	cmocka_unit_test(test_kinds_are_in_order_and_files_joined),
	cmocka_unit_test(test_a_line_feed_in_a_name_parts_nothing),
	cmocka_unit_test(test_the_rest_is_counted),
	cmocka_unit_test(test_notes_of_old_and_new_indexes),
};

UNIT_MAIN(findings_tests)
