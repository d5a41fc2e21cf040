/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where an index is made: a directory stays the one that was opened, whatever its path
 * is.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/fsuid.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/place.h"
#include "os/fsids.h"

/* Not in any database: numbers are enough here. */
enum { USER = 4201, GROUP = 4202, ANOTHER = 4211 };

static int clean(void **state)
{
	(void)state;
	unit_shell("chmod 755 . && rm -rf -- *");
	return 0;
}

static struct place *opened(const char *path, bool make)
{
	struct place *place = NULL;
	struct error e = { 0 };

	if (place_open(path, make, &place, &e) < 0)
		fail_msg("%s", e.text);
	return place;
}

static void refused(const char *path, bool make, int err)
{
	struct place *place;
	struct error e = { 0 };

	assert_int_equal(place_open(path, make, &place, &e), err);
	assert_int_equal(e.status, ERROR_SYSTEM);
	assert_non_null(strstr(e.text, path));
}

static void put(const struct place *place)
{
	int fd = place_create(place, "", 0644);

	assert_true(fd >= 0);
	close(fd);
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void owner_is(const char *path, uid_t uid, gid_t gid)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_uid, uid);
	assert_int_equal(st.st_gid, gid);
}

/* ---- Following ----------------------------------------------------------- */

static void test_directories_are_made_and_private(void **state)
{
	char path[256];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/home/.cache/granaryfs/x.gidx", unit_directory());
	refused(path, false, -ENOENT);
	assert_false(is_there("home"));
	place_close(opened(path, true));
	place_close(opened(path, true));
	place_close(opened(path, false));
	assert_int_equal(stat("home/.cache/granaryfs", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_false(is_there(path));
}

static void test_what_is_no_place(void **state)
{
	(void)state;
	unit_write("plain", "x", 1);
	unit_shell("ln -s loop loop; ln -s plain link");
	refused("plain/a/x.gidx", true, -ENOTDIR);
	refused("link/x.gidx", true, -ENOTDIR);
	refused("loop/x.gidx", true, -ELOOP);
	refused("none/x.gidx", false, -ENOENT);
	refused("directory/", true, -EISDIR);
	place_close(opened("x.gidx", true));
	place_close(opened("././/x.gidx", true));
	place_close(opened("/x.gidx", false));
}

static void test_directories_are_opened_by_the_same_rule(void **state)
{
	struct error e = { 0 };
	int fd;

	(void)state;
	unit_shell("mkdir -p one/two && ln -s one link && echo x >plain");
	fd = place_open_directory("link/two/", &e);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(place_open_directory("", &e), -ENOENT);
	assert_int_equal(place_open_directory("plain", &e), -ENOTDIR);
	assert_int_equal(place_open_directory("none", &e), -ENOENT);
	assert_int_equal(place_open_directory("none", NULL), -ENOENT);
	assert_true(e.text[0] != '\0');
}

static void test_links_in_a_path_are_followed(void **state)
{
	static const char *const paths[] = { "one/x", "one/../one/two/../x", "rel/x", "abs/x",
					     "rel//two/../x" };
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "mkdir -p one/two; ln -s one rel; ln -s %s/rel abs",
		 unit_directory());
	unit_shell(command);
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct place *place = opened(paths[i], false);

		assert_string_equal(place_path(place), paths[i]);
		put(place);
		assert_int_equal(unlink("one/x"), 0);
		place_close(place);
	}
}

static void test_the_directory_stays_the_one_that_was_opened(void **state)
{
	char temporary[PLACE_TEMPORARY_BYTES];
	struct place *place;
	struct stat st;
	int fd;

	(void)state;
	unit_shell("mkdir d other");
	place = opened("d/x", false);
	unit_shell("mv d moved && ln -s other d");
	fd = place_create_temporary(place, temporary);
	assert_true(fd >= 0);
	assert_int_equal(place_rename(place, temporary, ""), 0);
	assert_int_equal(place_link(place, "", ".claim"), 0);
	assert_int_equal(place_touch(place, fd), 0);
	place_refresh(place);
	assert_int_equal(unit_names_in("moved"), 2);
	assert_int_equal(place_unlink(place, ".claim"), 0);
	assert_int_equal(place_stat(place, "", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(is_there("moved/x"));
	assert_int_equal(unit_names_in("moved"), 1);
	assert_int_equal(unit_names_in("other"), 0);
	close(fd);
	place_close(place);
}

static void test_beside_a_file(void **state)
{
	struct error e = { 0 };
	struct place *place;
	struct stat st;

	(void)state;
	unit_shell("mkdir d other && echo x >d/a.tar && echo x >other/a.tar && "
		   "ln d/a.tar d/b.tar && ln -s a.tar d/c.tar");
	assert_int_equal(stat("d/a.tar", &st), 0);
	assert_int_equal(place_open_sibling("d/a.tar.gidx", "a.tar", st.st_dev, st.st_ino,
					    &place, &e), 0);
	put(place);
	place_close(place);
	assert_true(is_there("d/a.tar.gidx"));
	assert_int_equal(place_open_sibling("d/x", "c.tar", st.st_dev, st.st_ino, &place,
					    &e),
			 -ESTALE);
	assert_int_equal(place_open_sibling("d/x", "none", st.st_dev, st.st_ino, &place,
					    &e),
			 -ESTALE);
	unit_shell("mv d moved && ln -s other d");
	assert_int_equal(place_open_sibling("d/a.tar.gidx", "a.tar", st.st_dev, st.st_ino,
					    &place, &e), -ESTALE);
	assert_non_null(strstr(e.text, "d/a.tar.gidx"));
	assert_int_equal(place_open_sibling("none/x", "a.tar", st.st_dev, st.st_ino,
					    &place, &e),
			 -ENOENT);
	assert_int_equal(unit_names_in("other"), 1);
}

/* ---- Names --------------------------------------------------------------- */

static void test_a_link_has_a_name_and_is_not_followed(void **state)
{
	struct place *place;
	struct stat st;

	(void)state;
	unit_shell("ln -s target x; ln -s precious y; echo safe >precious");
	place = opened("x", false);
	assert_int_equal(place_create(place, "", 0644), -EEXIST);
	assert_int_equal(place_read(place, ""), -ELOOP);
	assert_int_equal(place_stat(place, "", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	place_close(place);
	place = opened("y", false);
	assert_int_equal(place_read(place, ""), -ELOOP);
	assert_int_equal(place_unlink(place, ""), 0);
	place_close(place);
	assert_false(is_there("target"));
	assert_true(is_there("precious"));
}

static void test_a_pipe_does_not_block(void **state)
{
	struct place *place = opened("x", false);
	int fd;

	(void)state;
	unit_shell("mkfifo x");
	fd = place_read(place, "");
	assert_true(fd >= 0);
	close(fd);
	place_close(place);
}

/* Cut, it would be another's. */
static void test_a_name_that_is_too_long(void **state)
{
	char path[256 + 1];
	struct place *place;

	(void)state;
	memset(path, 'n', 255);
	path[255] = '\0';
	place = opened(path, false);
	put(place);
	assert_int_equal(place_create(place, ".claim", 0644), -ENAMETOOLONG);
	place_close(place);
}

/* ---- Root, in others' directories --------------------------------------------- */

static bool is_root(void)
{
	struct fsids before;
	bool may = geteuid() == 0 && fsids_assume(USER, GROUP, &before) == 0;

	if (geteuid() == 0)
		fsids_restore(&before);
	return may;
}

/* `script` makes "d", a directory of the user's, and more. */
static void as_root(const char *script)
{
	char command[1024];

	if (!is_root())
		skip();
	snprintf(command, sizeof(command), "mkdir d roots && chmod 755 . && %s && "
		 "chown -h %d:%d d", script, USER, GROUP);
	unit_shell(command);
}

static void test_a_users_link_leads_root_nowhere(void **state)
{
	(void)state;
	as_root("ln -s ../roots d/link && ln -s ../new d/new && chown -h 4201:4202 d/link d/new");
	refused("d/link/x", false, -EPERM);
	refused("d/link/x", true, -EPERM);
	refused("d/link/below/x", true, -EACCES);
	assert_int_equal(place_open_directory("d/link", NULL), -EPERM);
	refused("d/new/x", true, -EACCES);
	assert_int_equal(unit_names_in("roots"), 0);
	assert_int_equal(unit_names_in("."), 2);
}

/* A link may lie in a directory that is root's, and in which others may make names. */
static void test_a_users_link_in_a_directory_of_roots(void **state)
{
	(void)state;
	as_root("ln -s roots link && chown -h 4201:4202 link");
	refused("link/x", true, -EPERM);
	unit_shell("rm link && ln -s roots link");
	place_close(opened("link/x", true));
}

/* A file that is written for long: its own links are followed by the same rule. */
static void test_a_file_by_the_same_rule(void **state)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT;
	int fd;

	(void)state;
	as_root("ln -s ../roots/new d/log && ln -s ../roots d/link && ln -s own d/mine && "
		"chown -h 4201:4202 d/log d/link d/mine && ln -s roots/by-root log");
	assert_int_equal(place_open_file("d/log", flags, 0640, NULL), -EPERM);
	assert_int_equal(place_open_file("d/link/new", flags, 0640, NULL), -EPERM);
	assert_int_equal(unit_names_in("roots"), 0);
	fd = place_open_file("d/mine", flags, 0640, NULL);
	assert_true(fd >= 0);
	close(fd);
	owner_is("d/own", USER, GROUP);
	fd = place_open_file("log", flags, 0640, NULL);
	assert_true(fd >= 0);
	close(fd);
	assert_true(is_there("roots/by-root"));
	assert_int_equal(place_open_file("roots", flags, 0640, NULL), -EISDIR);
	assert_int_equal(place_open_file("none/x", flags, 0640, NULL), -ENOENT);
	unit_shell("ln -s loop loop");
	assert_int_equal(place_open_file("loop", flags, 0640, NULL), -ELOOP);
}

static void test_from_one_users_directory_to_anothers(void **state)
{
	(void)state;
	as_root("mkdir anothers d/sub && chown 4211 anothers && chown 4201 d/sub && "
		"ln -s ../anothers d/link");
	refused("d/link/x", false, -EPERM);
	place_close(opened("d/sub/x", false));
}

static void test_directories_of_a_cache_are_its_owners(void **state)
{
	(void)state;
	as_root("mkdir d/real && chown 4201:4202 d/real && ln -s real d/.cache");
	place_close(opened("d/.cache/granaryfs/x", true));
	owner_is("d/real/granaryfs", USER, GROUP);
}

static void test_files_are_whose_rights_made_them(void **state)
{
	struct place *place;
	int fd;

	(void)state;
	as_root("true");
	place = opened("d/x", false);
	assert_int_equal(place_uid(place), USER);
	assert_int_equal(place_gid(place), GROUP);
	put(place);
	owner_is("d/x", 0, getegid());
	assert_int_equal(place_unlink(place, ""), 0);
	place_set_ids(place, USER, GROUP);
	fd = place_create(place, "", 0644);
	assert_true(fd >= 0);
	owner_is("d/x", USER, GROUP);
	assert_int_equal(place_set_owner(place, fd, ANOTHER, (gid_t)-1), -EPERM);
	assert_int_equal(place_set_owner(place, fd, USER, GROUP), 0);
	assert_int_equal(place_set_mode(place, fd, 0640), 0);
	close(fd);
	/* what the user may not, root does not for him */
	unit_shell("chown 0 d && chmod 755 d");
	assert_int_equal(place_unlink(place, ""), -EACCES);
	assert_int_equal(place_create(place, ".claim", 0644), -EACCES);
	place_close(place);
}

/* ---- The thread's rights --------------------------------------------------- */

static int take_and_restore(void *unused)
{
	gid_t groups[] = { 7, 8, 9 }, now[4];
	struct fsids before;
	int number = 0;

	(void)unused;
	if (setgroups(3, groups) < 0 || prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0) < 0)
		return 1;
	if (fsids_assume(USER, GROUP, &before) < 0 || setfsuid((uid_t)-1) != USER ||
	    setfsgid((gid_t)-1) != GROUP || getgroups(4, now) != 0)
		return 2;
	if (prctl(PR_GET_PDEATHSIG, &number, 0, 0, 0) < 0 || number != SIGUSR1)
		return 3;
	fsids_restore(&before);
	if (setfsuid((uid_t)-1) != 0 || setfsgid((gid_t)-1) != (int)getegid() ||
	    getgroups(4, now) != 3 || now[0] != 7 || now[2] != 9)
		return 4;
	if (prctl(PR_GET_PDEATHSIG, &number, 0, 0, 0) < 0 || number != SIGUSR1)
		return 5;
	return open("d/by-root", O_CREAT | O_WRONLY, 0600) < 0 ? 6 : 0;
}

static void test_a_threads_rights_come_back(void **state)
{
	(void)state;
	as_root("true");
	assert_int_equal(unit_child(take_and_restore, NULL), 0);
	owner_is("d/by-root", 0, getegid());
}

/* A process without the right gets an error, and keeps its ids. */
static int take_without_rights(void *unused)
{
	struct fsids before;
	struct place *place;

	(void)unused;
	if (setresuid(USER, USER, USER) < 0)
		return 1;
	if (fsids_assume(ANOTHER, GROUP, &before) != -EPERM)
		return 2;
	fsids_restore(&before);
	if (setfsuid((uid_t)-1) != USER)
		return 3;
	if (place_open("x", false, &place, NULL) < 0)
		return 5;
	place_set_ids(place, ANOTHER, GROUP);
	if (place_create(place, "", 0644) != -EACCES)
		return 6;
	place_close(place);
	return fsids_assume(USER, GROUP, &before) == 0 && !before.taken ? 0 : 4;
}

static void test_who_may_not_stays_what_it_is(void **state)
{
	(void)state;
	as_root("true");
	assert_int_equal(unit_child(take_without_rights, NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, clean, clean)

static const struct CMUnitTest places[] = {
	TEST(test_directories_are_made_and_private),
	TEST(test_what_is_no_place),
	TEST(test_directories_are_opened_by_the_same_rule),
	TEST(test_links_in_a_path_are_followed),
	TEST(test_the_directory_stays_the_one_that_was_opened),
	TEST(test_beside_a_file),
	TEST(test_a_link_has_a_name_and_is_not_followed),
	TEST(test_a_pipe_does_not_block),
	TEST(test_a_name_that_is_too_long),
	TEST(test_a_users_link_leads_root_nowhere),
	TEST(test_a_users_link_in_a_directory_of_roots),
	TEST(test_a_file_by_the_same_rule),
	TEST(test_from_one_users_directory_to_anothers),
	TEST(test_directories_of_a_cache_are_its_owners),
	TEST(test_files_are_whose_rights_made_them),
	TEST(test_a_threads_rights_come_back),
	TEST(test_who_may_not_stays_what_it_is),
};

UNIT_MAIN(places)
