/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where an index is written, with whose rights. */
#include "unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place/index_place.h"
#include "stats/stats.h"

/* Not in any database: numbers are enough here. */
enum { USER = 4201, GROUP = 4202, STRANGER = 4211 };

static char path[] = "link/a.tar";
static const struct dataset_config config;
static struct source_set sources;
static struct index_wish wish;
static struct opened_places spots;

/* "d" with a.tar in it, opened by a link to the directory; then `script`. */
static void begin(const char *script)
{
	char *paths[] = { path };

	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	unit_shell("chmod 755 . && mkdir d other && echo right >d/a.tar && echo wrong >other/a.tar "
		   "&& ln -s d link");
	if (script)
		unit_shell(script);
	assert_int_equal(source_set_open(paths, 1, false, &sources, NULL), 0);
	assert_int_equal(index_wish_make(&config, &sources, &wish, NULL), 0);
	spots = (struct opened_places){ .wish = &wish };
}

/* Without an index to compare, samples would be reads for nothing. */
static void test_no_samples_without_index(void **state)
{
	uint64_t before = stats_get(COUNTER_source_reads);
	struct index *index;
	const char *found;

	(void)state;
	begin("truncate -s 1M d/a.tar");
	assert_int_equal(index_find(&wish, &index, &found), -ENOENT);
	assert_int_equal(stats_get(COUNTER_source_reads) - before, 2);
	assert_int_equal(wish.identities[0].samples, 0);
	index_wish_sample(&wish);
	assert_int_equal(stats_get(COUNTER_source_reads) - before, 2 + 64);
	assert_true(wish.identities[0].samples != 0);
	index_wish_sample(&wish);
	assert_int_equal(stats_get(COUNTER_source_reads) - before, 2 + 64);
}

static int clean(void **state)
{
	(void)state;
	opened_places_close(&spots);
	index_wish_free(&wish);
	source_set_close(&sources);
	unit_shell("rm -rf -- *");
	return 0;
}

static const struct place *spot(unsigned i)
{
	const struct place *place;
	struct error e;

	if (opened_places_get(&spots, i, &place, &e) < 0)
		fail_msg("%s", e.text);
	return place;
}

static void put(const struct place *place)
{
	int fd = place_create(place, "", 0644);

	assert_true(fd >= 0);
	close(fd);
}

static bool is_there(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

static void test_beside_the_file_that_was_opened(void **state)
{
	(void)state;
	begin(NULL);
	assert_ptr_equal(spot(0), spot(0));
	put(spot(0));
	assert_true(is_there("d/a.tar.gidx"));
}

static void test_a_directory_that_was_swapped_before(void **state)
{
	const struct place *place;
	struct error e;

	(void)state;
	begin(NULL);
	unit_shell("mv d moved && ln -s other d");
	assert_int_equal(opened_places_get(&spots, 0, &place, &e), -ESTALE);
	assert_non_null(strstr(e.text, "a.tar.gidx"));
	unit_shell("rm d && cp -r moved d");
	assert_int_equal(opened_places_get(&spots, 0, &place, &e), -ESTALE);
	unit_shell("rm -r d && mv moved d");
	put(spot(0));
	assert_int_equal(unit_names_in("other"), 1);
}

static void test_a_directory_that_was_swapped_after(void **state)
{
	(void)state;
	begin(NULL);
	spot(0);
	unit_shell("mv d moved && ln -s other d");
	put(spot(0));
	assert_true(is_there("moved/a.tar.gidx"));
	assert_int_equal(unit_names_in("other"), 1);
}

static void test_a_cache_is_made(void **state)
{
	char cache[256];

	(void)state;
	begin(NULL);
	clean(NULL);
	snprintf(cache, sizeof(cache), "%s/new/cache", unit_directory());
	setenv("XDG_CACHE_HOME", cache, 1);
	assert_int_equal(unsetenv("HOME"), 0);
	unit_shell("mkdir d && echo right >d/a.tar && ln -s d link");
	assert_int_equal(source_set_open((char *[]){ path }, 1, false, &sources, NULL), 0);
	assert_int_equal(index_wish_make(&config, &sources, &wish, NULL), 0);
	spots = (struct opened_places){ .wish = &wish };
	put(spot(1));
	assert_int_equal(unit_names_in("new/cache/granaryfs"), 1);
}

static void owner_is(const char *name, uid_t uid, gid_t gid)
{
	struct stat st;

	assert_int_equal(lstat(name, &st), 0);
	assert_int_equal(st.st_uid, uid);
	assert_int_equal(st.st_gid, gid);
}

static void test_root_acts_as_the_owner_of_the_directory(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	begin("chown 4201:4202 d/a.tar && chown 4201:7 d");
	put(spot(0));
	owner_is("d/a.tar.gidx", USER, GROUP);
}

/* An index of a stranger's would not be used; so it must not be one. */
static void test_root_does_not_act_as_a_stranger(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	begin("chown 4201:4202 d/a.tar && chown 4211 d");
	put(spot(0));
	owner_is("d/a.tar.gidx", 0, getegid());
	assert_true(index_owner_is_allowed(&wish, USER));
	assert_true(index_owner_is_allowed(&wish, 0));
	assert_false(index_owner_is_allowed(&wish, STRANGER));
}

#define TEST(name) cmocka_unit_test_teardown(name, clean)

static const struct CMUnitTest places[] = {
	TEST(test_no_samples_without_index),
	TEST(test_beside_the_file_that_was_opened),
	TEST(test_a_directory_that_was_swapped_before),
	TEST(test_a_directory_that_was_swapped_after),
	TEST(test_a_cache_is_made),
	TEST(test_root_acts_as_the_owner_of_the_directory),
	TEST(test_root_does_not_act_as_a_stranger),
};

UNIT_MAIN(places)
