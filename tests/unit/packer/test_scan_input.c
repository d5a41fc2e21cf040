/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entries of an input: what a tree can have is added, anything else is refused. */
#include "unit.h"

#include <errno.h>

#include "packer/scan.h"

enum { ROOT = 0, A = 1 }; /* numbers of entries */

static struct pack_scan scan;
static struct pack_input source;

static int add_kind(size_t directory, const char *name, uint16_t kind)
{
	const struct pack_scan_entry entry = { .kind = kind, .mode = 0644, .target = "there",
					       .size = kind == PACK_FILE ? 5 : 0 };

	return pack_scan_add(&scan, directory, name, strlen(name), &entry);
}

/* The root, a/ and a/file. */
static int begin(void **state)
{
	(void)state;
	source = (struct pack_input){ .copies_most = 1 << 20 };
	scan = (struct pack_scan){ .root = -1, .input = &source };
	assert_int_equal(add_kind(ROOT, "", PACK_DIRECTORY), 0);
	assert_int_equal(add_kind(ROOT, "a", PACK_DIRECTORY), 0);
	assert_int_equal(add_kind(A, "file", PACK_FILE), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	pack_scan_free(&scan);
	return 0;
}

static void test_paths_are_made(void **state)
{
	(void)state;
	assert_int_equal(add_kind(ROOT, "a-b", PACK_SYMLINK), 0);
	assert_int_equal(scan.count, 4);
	assert_string_equal(scan.entries[0].path, "");
	assert_string_equal(scan.entries[2].path, "a/file");
	assert_string_equal(scan.entries[3].path, "a-b");
	assert_string_equal(scan.entries[3].target, "there");
	assert_int_equal(scan.bytes, 5);
}

static void test_names_are_checked(void **state)
{
	static const char *const names[] = { "", ".", "..", "x/y", "/x" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(add_kind(ROOT, names[i], PACK_FILE), -EBADMSG);
	assert_int_equal(pack_scan_add(&scan, ROOT, "b\0c", 3,
				       &(struct pack_scan_entry){ .kind = PACK_FILE }),
			 -EBADMSG);
	assert_int_equal(scan.count, 3);
}

static void test_order_is_checked(void **state)
{
	(void)state;
	assert_int_equal(add_kind(A, "file", PACK_FILE), -EBADMSG);
	assert_int_equal(add_kind(A, "early", PACK_FILE), -EBADMSG);
	assert_int_equal(add_kind(ROOT, "a", PACK_DIRECTORY), -EBADMSG);
	assert_int_equal(add_kind(ROOT, "b", PACK_FILE), 0);
	assert_int_equal(add_kind(A, "late", PACK_FILE), -EBADMSG);
}

static void test_directories_are_checked(void **state)
{
	(void)state;
	assert_int_equal(add_kind(2, "in_a_file", PACK_FILE), -EBADMSG);
	assert_int_equal(add_kind(3, "in_itself", PACK_FILE), -EBADMSG);
	assert_int_equal(add_kind(SIZE_MAX, "nowhere", PACK_FILE), -EBADMSG);
}

static void test_attributes_are_checked(void **state)
{
	const struct pack_scan_entry wrong[] = {
		{ .kind = PACK_HARDLINK }, { .kind = 77 },
		{ .kind = PACK_FILE, .mode = 0100644 },
		{ .kind = PACK_FILE, .mtime_ns = 1000000000 },
		{ .kind = PACK_FILE, .size = UINT64_MAX },
		{ .kind = PACK_DIRECTORY, .size = 1 },
		{ .kind = PACK_DIRECTORY, .linked = true },
		{ .kind = PACK_SYMLINK, .size = 1, .target = "there" },
		{ .kind = PACK_SYMLINK, .linked = true, .target = "there" },
	};
	const struct pack_scan_entry large = { .kind = PACK_FILE, .size = UINT64_C(1) << 60 };

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(pack_scan_add(&scan, ROOT, "b", 1, &wrong[i]), -EBADMSG);
	assert_int_equal(pack_scan_add(&scan, ROOT, "b", 1, &large), 0);
	assert_int_equal(pack_scan_add(&scan, ROOT, "c", 1, &large), -EBADMSG);
}

static void test_attributes_ascend(void **state)
{
	static const char *const names[] = { "user.a", "user.b", "user.c", "user.m" };
	static const char *const wrong[] = { "user.m", "user.d", "security.x", "zuser.z" };
	const struct pack_scan_entry *file = &scan.entries[2];

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(pack_scan_add_xattr(&scan, names[i], "v", 1), 0);
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(pack_scan_add_xattr(&scan, wrong[i], "w", 1), -EBADMSG);
	assert_int_equal(file->xattr_count, COUNT(names));
	for (uint32_t i = 0; i < file->xattr_count; i++)
		assert_string_equal(file->xattrs[i].name, names[i]);
}

static void test_attributes_have_an_end(void **state)
{
	static const char value[65537];
	char name[300];

	(void)state;
	snprintf(name, sizeof(name), "user.%0256d", 0);
	assert_int_equal(pack_scan_add_xattr(&scan, name, "v", 1), -EBADMSG);
	assert_int_equal(pack_scan_add_xattr(&scan, "user.a", value, sizeof(value)), -EBADMSG);
	for (int i = 0; i < PACK_SCAN_XATTRS; i++) {
		snprintf(name, sizeof(name), "user.%04d", i);
		assert_int_equal(pack_scan_add_xattr(&scan, name, "v", 1), 0);
	}
	assert_int_equal(pack_scan_add_xattr(&scan, "user.9999", "v", 1), -EBADMSG);
}

/* The second name of an inode is a link to the first. */
static void test_links_are_found(void **state)
{
	const struct pack_scan_entry linked = { .kind = PACK_FILE, .inode = 9, .linked = true };

	(void)state;
	assert_int_equal(pack_scan_add(&scan, ROOT, "b", 1, &linked), 0);
	assert_int_equal(pack_scan_add(&scan, ROOT, "c", 1, &linked), 0);
	assert_int_equal(pack_scan_find_links(&scan), 0);
	assert_int_equal(scan.entries[3].kind, PACK_FILE);
	assert_int_equal(scan.entries[4].kind, PACK_HARDLINK);
	assert_string_equal(scan.entries[4].target, "b");
}

static void test_links_have_one_size(void **state)
{
	struct pack_scan_entry linked = { .kind = PACK_FILE, .inode = 9, .linked = true };

	(void)state;
	assert_int_equal(pack_scan_add(&scan, ROOT, "b", 1, &linked), 0);
	linked.size = 1;
	assert_int_equal(pack_scan_add(&scan, ROOT, "c", 1, &linked), 0);
	assert_int_equal(pack_scan_find_links(&scan), -EBADMSG);
}

/* Each level's path has all names above it. */
static void test_depth_is_bounded(void **state)
{
	size_t depth = 1;
	int err;

	(void)state;
	source.copies_most = 4096;
	do {
		err = add_kind(depth == 1 ? A : scan.count - 1, "name", PACK_DIRECTORY);
		depth++;
	} while (!err && depth < 1000);
	assert_int_equal(err, -E2BIG);
	assert_in_range(depth, 30, 50);
	assert_true(scan.copies <= 4096);
}

static void test_copies_are_bounded(void **state)
{
	static const char value[600];
	struct pack_scan_entry link = { .kind = PACK_SYMLINK, .target = "there" };

	(void)state;
	source.copies_most = scan.copies + 1000;
	assert_int_equal(pack_scan_add_xattr(&scan, "user.a", value, sizeof(value)), 0);
	assert_int_equal(pack_scan_add_xattr(&scan, "user.b", value, sizeof(value)), -E2BIG);
	assert_int_equal(pack_scan_add(&scan, ROOT, "b", 1, &link), 0);
	source.copies_most = scan.copies + 6;
	assert_int_equal(pack_scan_add(&scan, ROOT, "c", 1, &link), -E2BIG);
}

static int list_nothing(void *context, struct pack_scan *out, struct error *e)
{
	(void)context;
	(void)out;
	(void)e;
	return 0;
}

static void test_a_root_is_needed(void **state)
{
	const struct pack_input input = { .list = list_nothing };
	struct pack_scan empty;
	struct error e;

	(void)state;
	assert_int_equal(pack_scan_list(&input, &empty, &e), -EBADMSG);
	pack_scan_free(&empty);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_paths_are_made, begin, end),
	cmocka_unit_test_setup_teardown(test_names_are_checked, begin, end),
	cmocka_unit_test_setup_teardown(test_order_is_checked, begin, end),
	cmocka_unit_test_setup_teardown(test_directories_are_checked, begin, end),
	cmocka_unit_test_setup_teardown(test_attributes_are_checked, begin, end),
	cmocka_unit_test_setup_teardown(test_attributes_ascend, begin, end),
	cmocka_unit_test_setup_teardown(test_attributes_have_an_end, begin, end),
	cmocka_unit_test_setup_teardown(test_links_are_found, begin, end),
	cmocka_unit_test_setup_teardown(test_links_have_one_size, begin, end),
	cmocka_unit_test_setup_teardown(test_depth_is_bounded, begin, end),
	cmocka_unit_test_setup_teardown(test_copies_are_bounded, begin, end),
	cmocka_unit_test(test_a_root_is_needed),
};

UNIT_MAIN(tests)
