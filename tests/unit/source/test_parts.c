/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a file that was cut: their names, and one source of all of them. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/memory_source.h"
#include "source/part_names.h"
#include "source/parts.h"
#include "source/source_set.h"

/* "next": b is directly behind a; "gap": parts are missing between; "": neither. */
static const struct name_row {
	const char *a, *b, *relation;
} names[] = {
	{ "train.tar.gz.partaa", "train.tar.gz.partab", "next" },
	{ "train.tar.gz.partaz", "train.tar.gz.partba", "next" },
	{ "train.tar.gz.part-aa", "train.tar.gz.part-ab", "next" },
	{ "train.part1", "train.part2", "next" },
	{ "train.part9", "train.part10", "next" },
	{ "train.part09", "train.part10", "next" },
	{ "d/x.tar.000", "d/x.tar.001", "next" },
	{ "d/x.tar.99", "d/x.tar.100", "next" },
	{ "x.zip.001", "x.zip.002", "next" },
	{ "x.7z.001", "x.7z.002", "next" },
	{ "x.tar.aa", "x.tar.ab", "next" },
	{ "x.tar-aa", "x.tar-ab", "next" },
	{ "x.tar_01", "x.tar_02", "next" },
	{ "x.tar.89", "x.tar.9000", "next" },
	{ "x.tar.9899", "x.tar.990000", "next" },
	{ "x.tar.yz", "x.tar.zaaa", "next" },
	{ "x.tar.bq", "x.tar.br", "next" },
	{ "x.tar.br", "x.tar.bs", "next" },
	{ "x.tar.br", "x.tar.bz", "" },
	{ "x.tar.zstb", "x.tar.zstd", "" },
	{ "x.z01", "x.z02", "next" },
	{ "x.z09", "x.z10", "next" },
	{ "x.z01", "x.zip", "next" },
	{ "x.parta", "x.partb", "next" },
	{ "x.tar.aa", "x.tar.ac", "gap" },
	{ "x.tar.001", "x.tar.003", "gap" },
	{ "x.part1", "x.part3", "gap" },
	{ "x.part8", "x.part10", "gap" },
	{ "x.tar.gz", "x.tar.xz", "" },
	{ "x.tar.aa", "x.tar.gz", "" },
	{ "x.tar.1", "x.tar.20201111", "" },
	{ "x.tar.aa", "y.tar.ab", "" },
	{ "x.tar.1", "x.tar.ab", "" },
	{ "train-000.tar", "train-001.tar", "" },
	{ "ILSVRC.2011", "ILSVRC.2012", "" },
	{ "part-00000", "part-00001", "" },
	{ "x.tfrecord-00000-of-00002", "x.tfrecord-00001-of-00002", "" },
	{ "x.zip", "y.zip", "" },
	{ "x.tar", "x.zip", "" },
};

static const char *relation_of(const struct name_row *row)
{
	struct part_name a, b;

	if (!part_name_parse(row->a, &a) || !part_name_parse(row->b, &b) ||
	    !part_name_is_sibling(&a, &b))
		return "";
	if (part_name_is_next(&a, &b))
		return "next";
	return part_name_is_gap(&a, &b) ? "gap" : "";
}

static void test_names(void **state)
{
	const struct name_row *row = &names[unit_row(state)];

	assert_string_equal(relation_of(row), row->relation);
}

static void test_the_next_name(void **state)
{
	static const char *const rows[][2] = {
		{ "d/x.tar.gz.partaz", "d/x.tar.gz.partba" }, { "x.z09", "x.z10" },
		{ "x.tar.99", "x.tar.100" }, { "x.part1", "x.part2" },
	};
	struct part_name name;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *next;

		assert_true(part_name_parse(rows[i][0], &name));
		next = part_name_next(&name);
		assert_string_equal(next, rows[i][1]);
		free(next);
	}
}

/* ---- One source of three ---- */

enum { PARTS = 3 };
static const size_t sizes[PARTS] = { 5000, 5000, 1234 };
static unsigned char bytes[11234];

static struct source *open_parts(void)
{
	struct source *whole = NULL;
	size_t at = 0;

	for (int i = 0; i < PARTS; i++) {
		struct source *part = memory_source("x.tar.1", bytes + at, sizes[i], sizes[i]);

		at += sizes[i];
		if (whole)
			assert_int_equal(parts_add(&whole, part, NULL), 0);
		else
			whole = part;
	}
	return whole;
}

static void test_bytes_of_all_parts(void **state)
{
	static const struct { size_t at, length; } reads[] = {
		{ 0, sizeof(bytes) }, { 0, 5000 }, { 4999, 2 }, { 5000, 1 }, { 4000, 7000 },
		{ 9999, 1 }, { 10000, 1234 }, { 11233, 1 }, { 11234, 0 },
	};
	struct source *whole = open_parts();
	unsigned char got[sizeof(bytes)];

	(void)state;
	assert_int_equal(source_size(whole), sizeof(bytes));
	assert_int_equal(source_part_count(whole), PARTS);
	assert_int_equal(source_part_start(whole, 2), 10000);
	for (size_t i = 0; i < COUNT(reads); i++) {
		assert_int_equal(source_pread(whole, got, reads[i].length, reads[i].at), 0);
		assert_memory_equal(got, bytes + reads[i].at, reads[i].length);
	}
	assert_int_equal(source_pread(whole, got, 2, 11233), -EIO);
	source_hint(whole, HINT_SOON, 4990, 20);
	assert_int_equal(memory_source_hinted(source_part(whole, 0)), 10);
	assert_int_equal(memory_source_hinted(source_part(whole, 1)), 10);
	source_close(whole);
}

static void test_a_fault_names_the_part(void **state)
{
	struct source *whole = open_parts();
	struct read_context context = { .hint = READ_EXACT };
	unsigned char got[6000];

	(void)state;
	memory_source_fail((struct source *)(uintptr_t)source_part(whole, 1), 77, -EIO, 1);
	assert_int_equal(source_read(whole, got, sizeof(got), 100, &context), -EIO);
	assert_string_equal(context.fault.source, source_path(source_part(whole, 1)));
	assert_int_equal(context.fault.at, 77);
	source_close(whole);
}

/* The identity is of all: a byte of any part that is looked at changes it. */
static void test_identity_of_all_parts(void **state)
{
	struct source *whole = open_parts();
	struct identity before, now;

	(void)state;
	assert_int_equal(source_identity(whole, 8, &before), 0);
	for (size_t at = 0; at < sizeof(bytes); at += 4999) {
		bytes[at] ^= 1;
		assert_int_equal(source_identity(whole, 8, &now), 0);
		assert_false(identity_equal(&before, &now));
		bytes[at] ^= 1;
	}
	assert_int_equal(source_identity(whole, 8, &now), 0);
	assert_true(identity_equal(&before, &now));
	assert_int_equal(source_identity(whole, 0, &now), 0);
	assert_int_equal(now.samples, 0);
	assert_true(identity_equal(&before, &now));
	source_close(whole);
}

/* ---- Files of a directory ---- */

/* The files that are opened of these, as "COUNT:PARTS ..." or "-ERRNO"; and the message. */
static const struct set_row {
	const char *files, *arguments, *got, *said;
} sets[] = {
	{ "x.tar.gz.partaa x.tar.gz.partab x.tar.gz.partac", "x.tar.gz.partaa", "3", NULL },
	{ "x.tar.gz.partaa x.tar.gz.partab x.tar.gz.partac", "x.tar.gz.parta{a..c}", "3", NULL },
	{ "x.part1 x.part2 x.part10 x.part3 x.part4 x.part5 x.part6 x.part7 x.part8 x.part9",
	  "x.part1 x.part10 x.part2 x.part3 x.part4 x.part5 x.part6 x.part7 x.part8 x.part9",
	  "10", NULL },
	{ "x.tar.000 x.tar.001 y.tar", "x.tar.000 y.tar", "2 1", NULL },
	{ "x.z01 x.z02 x.zip", "x.zip", "3", NULL },
	{ "x.z01 x.z02 x.zip", "x.z01", "3", NULL },
	{ "x.tar.aa x.tar.gz x.tar.xz", "x.tar.gz", "1", NULL },
	{ "x.tar.aa x.tar.ab x.tar.gz", "x.tar.aa", "2", NULL },
	{ "x.tar.bp x.tar.bq x.tar.br x.tar.bs", "x.tar.bp", "4", NULL },
	{ "x.tar.05 x.tar.06", "x.tar.05", "2", NULL },
	{ "s-0.tar s-1.tar", "s-{0..1}.tar", "1 1", NULL },
	{ "x.tar.aa x.tar.ac", "x.tar.aa", "-2", "'x.tar.ab' is missing: 'x.tar.ac' is" },
	{ "x.tar.aa x.tar.ab", "x.tar.ab", "-22", "name the first, 'x.tar.aa'" },
	{ "x.tar.0 x.tar.2", "x.tar.0 x.tar.2", "-2", "'x.tar.1' is missing" },
	{ "=x.tar.0 =x.tar.1", "x.tar.0 x.tar.1", "1 1", NULL }, /* "=": they begin alike */
	{ "=x.tar.0 =x.tar.1", "x.tar.0", "1", NULL },
};

static void write_row(const struct set_row *row)
{
	char *names_of = strdup(row->files), *rest = names_of, *name;
	char text[2000];

	for (int i = 0; (name = strsep(&rest, " ")); i++) {
		memset(text, *name == '=' ? 'A' : 'a' + i, sizeof(text));
		unit_write(name + (*name == '='), text, sizeof(text));
	}
	free(names_of);
}

static void describe_set(const struct source_set *set, char *got, size_t room)
{
	size_t n = 0;

	for (uint32_t i = 0; i < set->count && n < room; i++)
		n += (size_t)snprintf(got + n, room - n, "%s%u", i ? " " : "",
				      source_part_count(set->sources[i]));
}

static void test_sets(void **state)
{
	const struct set_row *row = &sets[unit_row(state)];
	char *texts[16], *words = strdup(row->arguments), *rest = words, got[64];
	struct source_set set = { NULL, 0 };
	struct error e = { 0 };
	size_t n = 0;
	int err;

	unit_shell("rm -f ./*");
	write_row(row);
	while ((texts[n] = strsep(&rest, " ")))
		n++;
	err = source_set_open(texts, n, false, &set, &e);
	if (err)
		snprintf(got, sizeof(got), "%d", err);
	else
		describe_set(&set, got, sizeof(got));
	assert_string_equal(got, row->got);
	if (row->said)
		assert_non_null(strstr(e.text, row->said));
	source_set_close(&set);
	free(words);
}

static void test_parts_have_one_owner(void **state)
{
	char path[] = "x.tar.0", *texts[] = { path };
	struct source_set set;
	struct error e;

	(void)state;
	if (geteuid() != 0)
		skip();
	unit_shell("rm -f ./*; echo a >x.tar.0; echo b >x.tar.1; chown 1234 x.tar.1");
	assert_int_equal(source_set_open(texts, 1, false, &set, &e), -EPERM);
	assert_non_null(strstr(e.text, "'x.tar.1' to user 1234"));
}

/* The part of a sentence beyond the format's own. */
static void test_explanations(void **state)
{
	static const struct { const char *files, *said; } rows[] = {
		{ "x.tar.aa", "'x.tar.ab' is not there" },
		{ "x.tar.aa x.tar.ab", "'x.tar.ac' is not there" },
		{ "x.tar.05 x.tar.06", "parts before 'x.tar.05' may be missing" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct set_row row = { .files = rows[i].files };
		char *first = strndup(row.files, strcspn(row.files, " "));
		struct source_set set;
		struct error e = { .text = "'x' is truncated" };

		unit_shell("rm -f ./*");
		write_row(&row);
		assert_int_equal(source_set_open(&first, 1, false, &set, NULL), 0);
		parts_explain(set.sources[0], &e);
		assert_non_null(strstr(e.text, rows[i].said));
		source_set_close(&set);
		free(first);
	}
}

static const struct CMUnitTest tests[] = {
	unit_table(test_names, names, a),
	cmocka_unit_test(test_the_next_name),
	cmocka_unit_test(test_bytes_of_all_parts),
	cmocka_unit_test(test_a_fault_names_the_part),
	cmocka_unit_test(test_identity_of_all_parts),
	unit_table(test_sets, sets, arguments),
	cmocka_unit_test(test_parts_have_one_owner),
	cmocka_unit_test(test_explanations),
};

int main(void)
{
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251);
	return unit_run(tests, COUNT(tests), unit_enter, unit_leave);
}
