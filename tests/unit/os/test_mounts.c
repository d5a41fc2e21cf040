/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding mounts, and taking them away. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/bounded.h"
#include "os/mounts.h"

/* Where anybody can look. */

static void test_type_of_what_is_mounted(void **state)
{
	struct mount_entry entry;

	(void)state;
	assert_int_equal(mounts_find("/", &entry), 1);
	assert_string_not_equal(entry.type, "");
	assert_int_equal(mounts_find("/proc", &entry), 1);
	assert_string_equal(entry.type, "proc");
}

static void test_nothing_is_mounted_there(void **state)
{
	static const char *const paths[] = {
		"/no/such/directory", "/pro", "/proc/", "proc", "/proc/self", "//", "",
	};
	struct mount_entry entry = { .type = "same" };

	(void)state;
	assert_int_equal(mounts_find(unit_directory(), &entry), 0);
	for (size_t i = 0; i < COUNT(paths); i++)
		assert_int_equal(mounts_find(paths[i], &entry), 0);
	assert_string_equal(entry.type, "same");
}

static int mount_id(const char *path)
{
	CLEANUP(cleanup_close) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? MOUNT_ID_UNKNOWN : mounts_id_of(fd);
}

static void test_the_table_and_the_descriptor_agree(void **state)
{
	struct mount_entry by_path, by_id;

	(void)state;
	assert_int_equal(mounts_find("/proc", &by_path), 1);
	assert_int_equal(by_path.id, mount_id("/proc/self"));
	assert_int_equal(mounts_find_id(by_path.id, &by_id), 1);
	assert_memory_equal(&by_path, &by_id, sizeof(by_id));
	assert_int_equal(mounts_find_id(by_path.id, NULL), 1);
	assert_int_equal(mounts_find_id(0x7fffffff, NULL), 0);
}

static void check_path(const char *given, const char *wanted)
{
	char *path = mounts_path(given);

	assert_non_null(path);
	assert_string_equal(path, wanted);
	free(path);
}

static void test_paths_as_the_table_has_them(void **state)
{
	static const char *const forms[] = {
		"a", "a/", "a//", "a/.", "./a/./", "a/../a", "link", "link/", "link/.",
	};
	char wanted[256];

	(void)state;
	assert_int_equal(mkdir("a", 0700), 0);
	assert_int_equal(symlink("a", "link"), 0);
	snprintf(wanted, sizeof(wanted), "%s/a", unit_directory());
	for (size_t i = 0; i < COUNT(forms); i++)
		check_path(forms[i], wanted);
	check_path(wanted, wanted);
	check_path(".", unit_directory());
	check_path("/", "/");
	check_path("//", "/");
	check_path("/.", "/");
	assert_null(mounts_path("nothing"));
	assert_int_equal(errno, ENOENT);
}

static void test_what_is_alive(void **state)
{
	(void)state;
	assert_false(mounts_is_dead("/proc"));
	assert_false(mounts_is_dead("."));
	assert_false(mounts_is_dead("/no/such/directory"));
}

static void test_there_is_no_such_mount(void **state)
{
	char path[256];

	(void)state;
	snprintf(path, sizeof(path), "%s/nothing", unit_directory());
	assert_int_equal(mounts_unmount(path, MOUNT_ID_UNKNOWN), -EINVAL);
	assert_int_equal(mounts_abort(path, MOUNT_ID_UNKNOWN), -EINVAL);
	assert_int_equal(mounts_expire(path, MOUNT_ID_UNKNOWN), -EINVAL);
	assert_int_equal(mounts_detach(path, MOUNT_ID_UNKNOWN), -ENOENT);
	assert_int_equal(mounts_connection(0xffffffff), 0);
}

/* In a mount namespace of their own, as root. */

enum { CANNOT_MOUNT = 77 };

static int enter_namespace(void *run)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("test", unit_directory(), "tmpfs", 0, NULL) < 0 ||
	    chdir(unit_directory()) < 0 || mkdir("a", 0755) < 0 || mkdir("b", 0755) < 0)
		return CANNOT_MOUNT;
	return (*(int (**)(void))run)();
}

static void in_namespace(int (*run)(void))
{
	int status = unit_child(enter_namespace, &run);

	if (status == CANNOT_MOUNT)
		skip();
	assert_int_equal(status, 0);
}

/* `name` in the test's directory. */
static const char *in(const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % COUNT(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", unit_directory(), name);
	return path;
}

static bool put(const char *type, const char *name)
{
	return mount("test", name, type, 0, NULL) == 0;
}

static bool is_there(const char *name, const char *type)
{
	struct mount_entry entry = { .type = "" };

	return mounts_find(in(name), &entry) == (*type != '\0') &&
	       strcmp(entry.type, type) == 0;
}

static int id_at(const char *name)
{
	struct mount_entry entry;

	return mounts_find(in(name), &entry) == 1 ? entry.id : MOUNT_ID_UNKNOWN;
}

static int stacked(void)
{
	struct mount_entry lower, upper;

	WANT(put("tmpfs", "a") && mounts_find(in("a"), &lower) == 1);
	WANT(put("ramfs", "a") && mounts_find(in("a"), &upper) == 1);
	WANT(strcmp(upper.type, "ramfs") == 0 && upper.parent == lower.id);
	WANT(mount_id(in("a")) == upper.id);
	WANT(mounts_detach(in("a"), lower.id) == -ESTALE);
	WANT(mounts_detach(in("a"), upper.id) == 0 && is_there("a", "tmpfs"));
	WANT(mounts_find_id(upper.id, NULL) == 0);
	WANT(mounts_detach(in("a"), MOUNT_ID_UNKNOWN) == 0 && is_there("a", ""));
	WANT(mounts_detach(in("a"), MOUNT_ID_UNKNOWN) == -EINVAL);
	return 0;
}

static void test_the_topmost_counts_and_is_detached_first(void **state)
{
	(void)state;
	in_namespace(stacked);
}

/* a/b, and something over a: what is at a/b now is another a/b. */
static int hidden(void)
{
	WANT(mkdir("a/b", 0755) == 0 && put("tmpfs", "a/b") && is_there("a/b", "tmpfs"));
	WANT(put("tmpfs", "a") && is_there("a/b", ""));
	WANT(mkdir("a/b", 0755) == 0 && is_there("a/b", ""));
	WANT(put("ramfs", "a/b") && is_there("a/b", "ramfs"));
	WANT(mounts_unmount(in("a/b"), MOUNT_ID_UNKNOWN) == 0 && is_there("a/b", ""));
	WANT(mounts_unmount(in("a"), MOUNT_ID_UNKNOWN) == 0 && is_there("a/b", "tmpfs"));
	return 0;
}

static void test_what_another_mount_hides_is_not_found(void **state)
{
	(void)state;
	in_namespace(hidden);
}

static int inside(void)
{
	char *path = NULL;
	int id;

	WANT(put("tmpfs", "a") && (id = id_at("a")) != MOUNT_ID_UNKNOWN);
	WANT(mounts_inside(id, &path) == 0 && !path);
	WANT(mkdir("a/x y", 0755) == 0 && put("ramfs", "a/x y"));
	WANT(mounts_inside(id, NULL) == 1 && mounts_inside(id, &path) == 1);
	WANT(path && strcmp(path, in("a/x y")) == 0);
	free(path);
	return 0;
}

static void test_what_is_mounted_inside(void **state)
{
	(void)state;
	in_namespace(inside);
}

static int odd_names(void)
{
	static const char *const names[] = {
		"a space", "new\nline", "tab\tand # - hash", "back\\slash", "\\040",
		" - ", "\xff\xfe", "\\", "caf\xc3\xa9", "\\1", " ",
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		char *path;

		WANT(mkdir(names[i], 0755) == 0 && put("ramfs", names[i]));
		WANT(is_there(names[i], "ramfs"));
		WANT((path = mounts_path(names[i])) && strcmp(path, in(names[i])) == 0);
		free(path);
		WANT(mounts_unmount(in(names[i]), MOUNT_ID_UNKNOWN) == 0);
		WANT(is_there(names[i], ""));
	}
	return 0;
}

static void test_names_that_the_table_escapes(void **state)
{
	(void)state;
	in_namespace(odd_names);
}

static int odd_sources(void)
{
	static char longest[4000];
	const char *sources[] = { "", " ", "a - b", "- fuse.granaryfs", longest, "\\" };

	memset(longest, '\n', sizeof(longest) - 1); /* four bytes each in the table */
	for (size_t i = 0; i < COUNT(sources); i++) {
		WANT(mount(sources[i], "a", "ramfs", 0, NULL) == 0);
		WANT(is_there("a", "ramfs"));
	}
	for (size_t i = 0; i < COUNT(sources); i++)
		WANT(mounts_unmount(in("a"), MOUNT_ID_UNKNOWN) == 0);
	return 0;
}

static void test_any_source_and_long_lines(void **state)
{
	(void)state;
	in_namespace(odd_sources);
}

/* A granaryfs that an overlay hides, and other mounts below overlays. */
static const struct {
	const char *layer;
	unsigned connection;
} layers[] = {
	{ "granaryfs@57", 57 }, { "granaryfs@4294967295", 4294967295U },
	{ "granaryfs@", 0 }, { "granaryfs@0", 0 }, { "granaryfs@5x", 0 },
	{ "xgranaryfs@5", 0 }, { "granaryfs@4294967296", 0 }, { "granaryfs", 0 },
};

static int overlays(void)
{
	struct mount_entry entry;
	char options[512], *path;

	for (size_t i = 0; i < COUNT(layers); i++) {
		unsigned number = layers[i].connection;

		WANT(mkdir(layers[i].layer, 0755) == 0);
		snprintf(options, sizeof(options), "lowerdir=b:%s", in(layers[i].layer));
		if (mount("/data/x.tar", "a", "overlay", MS_RDONLY, options) < 0)
			return CANNOT_MOUNT;
		WANT(mounts_find(in("a"), &entry) == 1 && entry.connection == number);
		WANT(entry.granaryfs == (number != 0) &&
		     entry.front == (number ? &front_kind_overlay : NULL));
		path = number ? mounts_of_connection(number, &entry) : NULL;
		WANT(!number || (path && strcmp(path, in("a")) == 0));
		free(path);
		WANT(mounts_unmount(in("a"), entry.id) == 0);
		WANT(!number || !mounts_of_connection(number, NULL));
	}
	return 0;
}

static void test_what_an_overlay_hides(void **state)
{
	(void)state;
	in_namespace(overlays);
}

enum { MANY = 1500 };

static int many(void)
{
	char name[64];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "a/directory with a name of some length %d", i);
		WANT(mkdir(name, 0755) == 0 && put(i % 2 ? "ramfs" : "tmpfs", name));
	}
	WANT(is_there(name, "ramfs"));
	WANT(is_there("a/directory with a name of some length 0", "tmpfs"));
	WANT(is_there("a/directory with a name of some length 777", "ramfs"));
	return 0;
}

static void test_a_long_table(void **state)
{
	(void)state;
	in_namespace(many);
}

static int unmounting(void)
{
	int fd, id;

	WANT(put("tmpfs", "a") && (id = id_at("a")) != MOUNT_ID_UNKNOWN);
	WANT((fd = open("a/file", O_CREAT | O_RDWR, 0600)) >= 0);
	WANT(mounts_unmount(in("a"), id) == -EBUSY && is_there("a", "tmpfs"));
	WANT(mounts_unmount(in("a"), id + 1000) == -ESTALE);
	close(fd);
	WANT(mounts_unmount(in("a"), id + 1000) == -ESTALE && is_there("a", "tmpfs"));
	WANT(mounts_unmount(in("a"), id) == 0 && is_there("a", ""));
	WANT(mounts_unmount(in("a"), id) == -EINVAL);
	WANT(mounts_unmount("/", MOUNT_ID_UNKNOWN) == -EINVAL);
	return 0;
}

static void test_unmounting_says_busy(void **state)
{
	(void)state;
	in_namespace(unmounting);
}

/* The directory above is swapped for a link to another one, where something is too. */
static int swapped(void)
{
	WANT(mkdir("a/m", 0755) == 0 && mkdir("b/m", 0755) == 0);
	WANT(put("tmpfs", "b/m"));
	WANT(rename("a", "c") == 0 && symlink("b", "a") == 0);
	WANT(mounts_unmount(in("a/m"), MOUNT_ID_UNKNOWN) == -EINVAL);
	WANT(put("ramfs", "c/m") && unlink("a") == 0 && rename("c", "a") == 0);
	WANT(is_there("a/m", "ramfs"));
	WANT(mounts_unmount(in("a/m"), id_at("b/m")) == -ESTALE);
	WANT(mounts_unmount(in("a/m"), id_at("a/m")) == 0 && is_there("b/m", "tmpfs"));
	return 0;
}

static void test_a_path_that_leads_elsewhere(void **state)
{
	(void)state;
	in_namespace(swapped);
}

static int expiring(void)
{
	struct stat st;
	int fd, id;

	WANT(put("tmpfs", "a") && (id = id_at("a")) != MOUNT_ID_UNKNOWN);
	WANT(mounts_expire(in("a"), id + 1000) == -ESTALE);
	WANT(mounts_expire(in("a"), id) == -EAGAIN);
	WANT(stat("a", &st) == 0);
	WANT(mounts_expire(in("a"), id) == -EAGAIN); /* the look was a use */
	WANT((fd = open("a/file", O_CREAT | O_RDWR, 0600)) >= 0);
	WANT(mounts_expire(in("a"), id) == -EBUSY);
	close(fd);
	WANT((fd = open("a", O_PATH)) >= 0);
	WANT(mounts_expire(in("a"), id) == -EBUSY);
	close(fd);
	WANT(mounts_expire(in("a"), id) == -EAGAIN);
	WANT(mounts_find(in("a"), NULL) == 1 && mounts_find_id(id, NULL) == 1);
	WANT(mounts_expire(in("a"), id) == 0 && is_there("a", ""));
	WANT(mounts_expire(in("a"), id) == -EINVAL);
	return 0;
}

static void test_expiring_what_nobody_uses(void **state)
{
	(void)state;
	in_namespace(expiring);
}

static int aborting(void)
{
	int fd;

	WANT(put("tmpfs", "a"));
	WANT((fd = open("a/file", O_CREAT | O_RDWR, 0600)) >= 0);
	WANT(mounts_abort(in("a"), id_at("a") + 1000) == -ESTALE);
	WANT(mounts_abort(in("a"), id_at("a")) == 0 && is_there("a", ""));
	return 0;
}

static void test_aborting_what_is_no_fuse_detaches(void **state)
{
	(void)state;
	in_namespace(aborting);
}

/* A FUSE mount whose daemon never says a word: its connection. */
static int mount_fuse(const char *name, unsigned owner)
{
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -1;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u",
		 fd, owner, owner);
	return mount("test", name, MOUNT_TYPE, MS_NODEV | MS_NOSUID, options) == 0 ? fd : -1;
}

enum { SOMEBODY = 54321, PROMPT_MILLISECONDS = 5000 };

/* Ways to take a hung or dead mount away; the daemon lives or not meanwhile. */
static const struct {
	const char *name;
	int (*take)(const char *path, int id);
	bool dead;
	unsigned owner;
} ways[] = {
	{ "unmount, hung", mounts_unmount, false, 0 },
	{ "detach, hung", mounts_detach, false, SOMEBODY },
	{ "abort, hung", mounts_abort, false, SOMEBODY },
	{ "unmount, dead", mounts_unmount, true, SOMEBODY },
	{ "detach, dead", mounts_detach, true, 0 },
	{ "abort, dead", mounts_abort, true, 0 },
	{ "detach if dead, dead", mounts_detach_dead, true, SOMEBODY },
};

static int take_fuse(size_t i)
{
	struct mount_entry entry;
	long long start = bounded_now();
	int fd = mount_fuse("a", ways[i].owner);
	char *path;

	if (fd < 0)
		return CANNOT_MOUNT;
	WANT(mounts_find(in("a"), &entry) == 1 && strcmp(entry.type, MOUNT_TYPE) == 0);
	WANT(entry.uid == ways[i].owner && entry.gid == ways[i].owner);
	WANT(entry.granaryfs && !entry.front && entry.connection == entry.minor);
	if (ways[i].dead)
		close(fd);
	WANT(mounts_is_dead(in("a")) == ways[i].dead);
	WANT(mounts_detach_dead(in("a"), entry.id + 1000) == -ESTALE);
	WANT(ways[i].dead || mounts_detach_dead(in("a"), entry.id) == -EBUSY);
	WANT((path = mounts_path("a/.")) && strcmp(path, in("a")) == 0);
	WANT(ways[i].take(path, entry.id) == 0 && is_there("a", ""));
	free(path);
	if (!ways[i].dead) /* the daemon's side: no reader, and no mount */
		WANT(read(fd, &entry, sizeof(entry)) < 0);
	if (!ways[i].dead)
		close(fd);
	WANT(bounded_now() - start < PROMPT_MILLISECONDS);
	return 0;
}

static int hung_and_dead(void)
{
	int status = 0;

	for (size_t i = 0; i < COUNT(ways) && !status; i++) {
		status = take_fuse(i);
		if (status)
			fprintf(stderr, "# %s\n", ways[i].name);
	}
	return status;
}

static void test_nothing_waits_for_a_daemon(void **state)
{
	(void)state;
	in_namespace(hung_and_dead);
}

/* A machine that systemd started has them mounted, and twice is EBUSY. */
static bool mount_connections(void)
{
	return mount("test", "/sys/fs/fuse/connections", "fusectl", 0, NULL) == 0 ||
	       errno == EBUSY;
}

/* Numbers come again; what mounts_connection gives does not. */
static int connections(void)
{
	struct mount_entry entry;
	ino_t first, second;
	int fd = mount_fuse("a", 0);

	if (fd < 0 || !mount_connections())
		return CANNOT_MOUNT;
	WANT(mounts_find(in("a"), &entry) == 1);
	WANT((first = mounts_connection(entry.minor)) != 0);
	WANT(mounts_unmount(in("a"), entry.id) == 0);
	WANT(mounts_connection(entry.minor) != first);
	close(fd);
	WANT((fd = mount_fuse("a", 0)) >= 0 && mounts_find(in("a"), &entry) == 1);
	WANT((second = mounts_connection(entry.minor)) != 0 && second != first);
	WANT(mounts_abort(in("a"), entry.id) == 0);
	close(fd);
	return 0;
}

static void test_connections_are_told_apart(void **state)
{
	(void)state;
	in_namespace(connections);
}

static const struct CMUnitTest mounts[] = {
	cmocka_unit_test(test_type_of_what_is_mounted),
	cmocka_unit_test(test_nothing_is_mounted_there),
	cmocka_unit_test(test_the_table_and_the_descriptor_agree),
	cmocka_unit_test(test_paths_as_the_table_has_them),
	cmocka_unit_test(test_what_is_alive),
	cmocka_unit_test(test_there_is_no_such_mount),
	cmocka_unit_test(test_the_topmost_counts_and_is_detached_first),
	cmocka_unit_test(test_what_another_mount_hides_is_not_found),
	cmocka_unit_test(test_what_is_mounted_inside),
	cmocka_unit_test(test_names_that_the_table_escapes),
	cmocka_unit_test(test_any_source_and_long_lines),
	cmocka_unit_test(test_what_an_overlay_hides),
	cmocka_unit_test(test_a_long_table),
	cmocka_unit_test(test_unmounting_says_busy),
	cmocka_unit_test(test_a_path_that_leads_elsewhere),
	cmocka_unit_test(test_expiring_what_nobody_uses),
	cmocka_unit_test(test_aborting_what_is_no_fuse_detaches),
	cmocka_unit_test(test_nothing_waits_for_a_daemon),
	cmocka_unit_test(test_connections_are_told_apart),
};

UNIT_MAIN(mounts)
