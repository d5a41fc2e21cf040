/* What is mounted where. */
#include "unit.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mounts.h"

static void test_type_of_what_is_mounted(void **state)
{
	char type[64] = "";

	(void)state;
	assert_int_equal(mounts_type("/", type, sizeof(type)), 1);
	assert_string_not_equal(type, "");
	assert_int_equal(mounts_type("/proc", type, sizeof(type)), 1);
	assert_string_equal(type, "proc");
}

static void test_nothing_is_mounted_there(void **state)
{
	char type[8] = "same";

	(void)state;
	assert_int_equal(mounts_type(unit_folder(), type, sizeof(type)), 0);
	assert_int_equal(mounts_type("/no/such/folder", type, sizeof(type)), 0);
	assert_int_equal(mounts_type("/pro", type, sizeof(type)), 0);
	assert_int_equal(mounts_type("", type, sizeof(type)), 0);
	assert_string_equal(type, "same");
}

static void test_a_long_type_is_cut(void **state)
{
	char type[3] = "";

	(void)state;
	assert_int_equal(mounts_type("/proc", type, sizeof(type)), 1);
	assert_string_equal(type, "pr");
}

enum { CANNOT_MOUNT = 77 };

static bool is_mounted(const char *path, const char *want)
{
	char type[64] = "";

	return mounts_type(path, type, sizeof(type)) == (*want != '\0') &&
	       strcmp(type, want) == 0;
}

/* Two filesystems, one over the other, at a path with a space in it. */
static int stack_and_detach(void *path)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("one", path, "tmpfs", 0, NULL) < 0 ||
	    mount("two", path, "ramfs", 0, NULL) < 0)
		return CANNOT_MOUNT;
	if (!is_mounted(path, "ramfs"))
		return 1;
	if (mounts_detach(path, MOUNT_ID_UNKNOWN) != 0 || !is_mounted(path, "tmpfs"))
		return 2;
	if (mounts_detach(path, MOUNT_ID_UNKNOWN) != 0 || !is_mounted(path, ""))
		return 3;
	return mounts_detach(path, MOUNT_ID_UNKNOWN) == -EINVAL ? 0 : 4;
}

static void test_the_topmost_counts_and_is_detached_first(void **state)
{
	char path[256];
	int status;

	(void)state;
	snprintf(path, sizeof(path), "%s/a folder", unit_folder());
	assert_int_equal(mkdir(path, 0700), 0);
	status = unit_child(stack_and_detach, path);
	if (status == CANNOT_MOUNT)
		skip();
	assert_int_equal(status, 0);
}

static const struct CMUnitTest mounts[] = {
	cmocka_unit_test(test_type_of_what_is_mounted),
	cmocka_unit_test(test_nothing_is_mounted_there),
	cmocka_unit_test(test_a_long_type_is_cut),
	cmocka_unit_test(test_the_topmost_counts_and_is_detached_first),
};

UNIT_MAIN(mounts)
