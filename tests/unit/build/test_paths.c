/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths, taken apart. */
#include "unit.h"

#include "build/paths.h"

static const struct {
	const char *path, *safe;
} safes[] = {
	{ "a/b", "a/b" }, { "", "" }, { ".", "." }, { "./a", "./a" }, { "a/", "a/" },
	{ "/a/b", "a/b" }, { "///a", "a" }, { "/", "" },
	{ "..", "" }, { "../", "" }, { "../a", "a" }, { "../../a", "a" },
	{ "a/..", "" }, { "a/../b", "b" }, { "a/b/../../c/d", "c/d" }, { "/../a", "a" },
	{ "a/..//b", "b" }, { "a/../b/..", "" },
	{ "..a", "..a" }, { "a..", "a.." }, { "a/..b/c", "a/..b/c" }, { "...", "..." },
	{ "a/...", "a/..." }, { "/..", "" },
};

static void test_safe_is_what_follows_the_last_dot_dot(void **state)
{
	size_t i = unit_row(state);

	assert_string_equal(path_safe(safes[i].path), safes[i].safe);
}

static const struct {
	const char *path, *leaf, *parents;
} splits[] = {
	{ "a", "a", "" }, { "a/b", "b", "a/" }, { "a/b/", "b", "a/" },
	{ "a//b///", "b", "a//" }, { "./a", "a", "./" }, { "a/.", "a", "" },
	{ "a/./b/./", "b", "a/./" }, { "", "", "" }, { ".", "", "" }, { "./", "", "" },
	{ "././/.", "", "" }, { ".a", ".a", "" }, { "..", "..", "" },
};

static void test_split_finds_the_leaf(void **state)
{
	size_t i = unit_row(state);
	struct path_split split = path_split(splits[i].path);

	assert_int_equal(split.leaf_length, strlen(splits[i].leaf));
	if (split.leaf_length)
		assert_memory_equal(split.leaf, splits[i].leaf, split.leaf_length);
	assert_int_equal(split.parents, strlen(splits[i].parents));
	assert_ptr_equal(split.path, splits[i].path);
}

static const struct {
	const char *path;
	bool reserved;
} reserved[] = {
	{ ".granaryfs", true }, { ".granaryfs/", true }, { ".granaryfs/stats", true },
	{ "./.granaryfs", true }, { ".//./.granaryfs/a", true },
	{ ".granaryfs2", false }, { ".granaryf", false }, { "a/.granaryfs", false },
	{ ".Granaryfs", false }, { "", false }, { ".", false }, { "a", false },
};

static void test_reserved_is_the_first_component(void **state)
{
	size_t i = unit_row(state);

	assert_int_equal(path_is_reserved(reserved[i].path),
			 reserved[i].reserved);
}

static const struct {
	size_t before, length, after; /* components */
	bool fits;
} fits[] = {
	{ 0, 255, 0, true }, { 0, 256, 0, false }, { 255, 255, 255, true },
	{ 256, 1, 1, false }, { 1, 256, 1, false }, { 1, 1, 256, false },
	{ 0, 0, 0, true }, { 1, 100000, 1, false },
};

static void test_fits_looks_at_every_component(void **state)
{
	static char path[200000];

	(void)state;
	for (size_t i = 0; i < COUNT(fits); i++) {
		char *at = path;

		memset(path, 'x', sizeof(path));
		at += fits[i].before;
		*at++ = '/';
		at += fits[i].length;
		*at++ = '/';
		at[fits[i].after] = '\0';
		assert_int_equal(path_fits(path, 255), fits[i].fits);
	}
}

static void test_next_walks_over_slashes(void **state)
{
	const char *at = "a//bc/.///";
	size_t length;

	(void)state;
	at = path_next(at, &length);
	assert_int_equal(length, 1);
	assert_string_equal(at, "bc/.///");
	at = path_next(at, &length);
	assert_int_equal(length, 2);
	at = path_next(at, &length);
	assert_int_equal(length, 1);
	assert_string_equal(at, "");
	assert_true(path_is_dot("", 0) && path_is_dot(".x", 1));
	assert_false(path_is_dot("..", 2) || path_is_dot("a", 1));
}

/* Of all paths of these letters: what is plain may be used as it is. */
static void test_plain_is_safe_fits_and_is_not_reserved(void **state)
{
	static const char letters[] = "a./g";
	unsigned plain = 0;

	(void)state;
	for (unsigned i = 0; i < 1U << 14; i++) {
		char path[8] = { 0 };

		for (unsigned k = 0; k < 7; k++)
			path[k] = letters[i >> 2 * k & 3];
		path[i % 8 ? i % 8 - 1 : 0] = '\0';
		if (!path_is_plain(path))
			continue;
		plain++;
		assert_ptr_equal(path_safe(path), path);
		assert_true(path_fits(path, 255));
		assert_false(path_is_reserved(path));
		assert_true(path_split(path).leaf_length > 0);
	}
	assert_true(plain > 500);
	assert_true(path_is_plain("n01440764/n01440764_10026.JPEG"));
	assert_true(path_is_plain("class/"));
	assert_false(path_is_plain("") || path_is_plain("/a") || path_is_plain("./a") ||
		     path_is_plain("a/../b") || path_is_plain("a//b") ||
		     path_is_plain(".granaryfs") || path_is_plain(".granaryfs/a"));
}

static void test_long_paths_are_not_plain(void **state)
{
	char path[300];

	(void)state;
	memset(path, 'a', sizeof(path));
	path[256] = '\0';
	assert_false(path_is_plain(path));
	path[255] = '\0';
	assert_true(path_is_plain(path) && path_fits(path, 255));
}

static const struct CMUnitTest paths[] = {
	unit_table(test_safe_is_what_follows_the_last_dot_dot, safes, path),
	unit_table(test_split_finds_the_leaf, splits, path),
	unit_table(test_reserved_is_the_first_component, reserved, path),
	cmocka_unit_test(test_fits_looks_at_every_component),
	cmocka_unit_test(test_next_walks_over_slashes),
	cmocka_unit_test(test_plain_is_safe_fits_and_is_not_reserved),
	cmocka_unit_test(test_long_paths_are_not_plain),
};

UNIT_MAIN(paths)
