/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the index of a dataset is kept. */
#include "unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place/locate.h"

static void set(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static struct index_places locate(const char *const *paths, uint32_t count,
				  const char *variant)
{
	struct dataset_name name = { paths, count, variant };
	struct index_places places;

	assert_int_equal(locate_index(&name, NULL, &places), 0);
	return places;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static const char *const one[] = { "data/train-0.tar", "data/train-1.tar",
				   "data/train-2.tar" };
static const char *const other[] = { "data/train-0.tar", "data/train-1.tar",
				     "data/train-3.tar" };

/* Makes the files; the real path of their directory ends in "real". */
static void make_sources(void)
{
	static bool made;

	if (made)
		return;
	made = true;
	assert_int_equal(mkdir("real", 0755), 0);
	assert_int_equal(symlink("real", "data"), 0);
	unit_write("real/train-0.tar", "", 0);
}

static void test_one_that_was_named_is_the_only_one(void **state)
{
	struct dataset_name name = { one, 3, ",nested=off" };
	struct index_places places;

	(void)state;
	assert_int_equal(locate_index(&name, "here/x", &places), 0);
	assert_int_equal(places.count, 1);
	assert_true(places.named);
	assert_false(places.beside);
	assert_string_equal(places.paths[0], "here/x");
	locate_free(&places);
	assert_int_equal(places.count, 0);
}

static void test_beside_the_real_file_then_in_the_cache(void **state)
{
	struct index_places places;

	(void)state;
	make_sources();
	set("XDG_CACHE_HOME", "/xdg");
	set("HOME", "/home/me");
	places = locate(one, 1, "");
	assert_int_equal(places.count, 2);
	assert_false(places.named);
	assert_true(places.beside);
	assert_true(ends_in(places.paths[0], "/real/train-0.tar.gidx"));
	assert_int_equal(places.paths[0][0], '/');
	assert_int_equal(strncmp(places.paths[1], "/xdg/granaryfs/train-0.tar-", 27), 0);
	assert_true(ends_in(places.paths[1], ".gidx"));
	locate_free(&places);
}

static const struct {
	const char *xdg, *home, *begin; /* NULL: not set; no place */
} homes[] = {
	{ "/xdg", "/home/me", "/xdg/granaryfs/" },
	{ NULL, "/home/me", "/home/me/.cache/granaryfs/" },
	{ "", "/home/me", "/home/me/.cache/granaryfs/" },
	{ "relative", "/home/me", "/home/me/.cache/granaryfs/" },
	{ "/xdg", NULL, "/xdg/granaryfs/" },
	{ NULL, NULL, NULL },
	{ NULL, "", NULL },
	{ "relative", "relative", NULL },
};

static void test_the_cache_is_where_the_environment_says(void **state)
{
	(void)state;
	make_sources();
	for (size_t i = 0; i < COUNT(homes); i++) {
		struct index_places places;

		set("XDG_CACHE_HOME", homes[i].xdg);
		set("HOME", homes[i].home);
		places = locate(one, 1, "");
		assert_int_equal(places.count, homes[i].begin ? 2 : 1);
		if (homes[i].begin)
			assert_int_equal(strncmp(places.paths[1], homes[i].begin,
						 strlen(homes[i].begin)), 0);
		locate_free(&places);
	}
}

/* All places of two datasets are apart, or all are the same. */
static bool same_places(struct index_places a, struct index_places b)
{
	int equal = 0;

	assert_int_equal(a.count, 2);
	assert_int_equal(b.count, 2);
	for (int i = 0; i < 2; i++)
		equal += strcmp(a.paths[i], b.paths[i]) == 0;
	locate_free(&a);
	locate_free(&b);
	assert_true(equal == 0 || equal == 2);
	return equal == 2;
}

static void test_sets_and_options_have_places_of_their_own(void **state)
{
	struct index_places places;

	(void)state;
	make_sources();
	set("HOME", "/home/me");
	assert_true(same_places(locate(one, 3, ""), locate(one, 3, "")));
	assert_false(same_places(locate(one, 3, ""), locate(one, 2, "")));
	assert_false(same_places(locate(one, 3, ""), locate(one, 1, "")));
	assert_false(same_places(locate(one, 3, ""), locate(other, 3, "")));
	assert_false(same_places(locate(one, 3, ""), locate(one, 3, ",nested=off")));
	assert_false(same_places(locate(one, 1, ""), locate(one, 1, ",nested=off")));
	places = locate(one, 3, ",nested=off");
	assert_non_null(strstr(places.paths[0], "/real/train-0.tar+2-"));
	assert_true(ends_in(places.paths[0], ",nested=off.gidx"));
	locate_free(&places);
}

static void test_files_of_one_name_are_apart_in_the_cache(void **state)
{
	static const char *const a[] = { "/a/x.tar" }, *const b[] = { "/b/x.tar" };

	(void)state;
	set("HOME", "/home/me");
	assert_false(same_places(locate(a, 1, ""), locate(b, 1, "")));
}

/* The part that tells sets and options apart must outlive the cutting of a long name. */
static void test_long_names_stay_apart_in_the_cache(void **state)
{
	char long_name[230];
	const char *paths[] = { long_name, "y.tar" }, *others[] = { long_name, "z.tar" };
	struct index_places places;

	(void)state;
	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[0] = '/';
	long_name[sizeof(long_name) - 1] = '\0';
	set("HOME", "/home/me");
	places = locate(paths, 1, "");
	assert_in_range(strlen(strrchr(places.paths[1], '/')), 1, 256);
	locate_free(&places);
	assert_false(same_places(locate(paths, 2, ""), locate(others, 2, "")));
	assert_false(same_places(locate(paths, 1, ""), locate(paths, 1, ",nested=off")));
}

static const struct CMUnitTest locating[] = {
	cmocka_unit_test(test_one_that_was_named_is_the_only_one),
	cmocka_unit_test(test_beside_the_real_file_then_in_the_cache),
	cmocka_unit_test(test_the_cache_is_where_the_environment_says),
	cmocka_unit_test(test_sets_and_options_have_places_of_their_own),
	cmocka_unit_test(test_files_of_one_name_are_apart_in_the_cache),
	cmocka_unit_test(test_long_names_stay_apart_in_the_cache),
};

UNIT_MAIN(locating)
