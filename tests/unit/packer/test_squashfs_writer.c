/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images, as unsquashfs reads them; what is refused; the same bytes from any threads. */
#include "config.h"
#if WITH_SQUASHFS
#include "packer/kit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY(p) { .entry = { .kind = PACK_DIRECTORY, .path = p, .mode = 0755 } }
#define FILE_OF(p, bytes, s)                                                      \
	{ .entry = { .kind = PACK_FILE, .path = p, .mode = 0644, .size = bytes,   \
		     .mtime = 1000000000 }, .seed = s }
#define LINK(k, p, to) { .entry = { .kind = k, .path = p, .target = to, .mode = 0777 } }

static const struct writer_config config = { .level = -1, .threads = 2,
					     .newest = 1000000000 };

/* Around the sizes of blocks (128 KiB) and of small files (16 KiB). */
static const struct item sizes[] = {
	DIRECTORY(""), DIRECTORY("a"), DIRECTORY("a/b"), DIRECTORY("a/empty"),
	FILE_OF("a/none", 0, 1), FILE_OF("a/one", 1, 2), FILE_OF("a/b/small", 16383, 3),
	FILE_OF("a/b/own", 16384, 4), FILE_OF("a/b/block-1", 131071, 5),
	FILE_OF("a/b/block", 131072, 6), FILE_OF("a/b/block+1", 131073, 7),
	FILE_OF("a/b/blocks", 500000, 8), FILE_OF("zeros", 300000, 0),
	FILE_OF("few zeros", 77, 0), FILE_OF("same", 500000, 8), FILE_OF("same small", 1, 2),
};

static const char *const compressors[] = { "none", "lz4", "zstd", "gzip", "xz" };

static void assert_extracted(const struct item *items, size_t count)
{
	char path[512];
	size_t i, size;

	for (i = 0; i < count; i++) {
		char *wanted = kit_contents(&items[i]), *found;

		if (items[i].entry.kind == PACK_FILE) {
			snprintf(path, sizeof(path), "out/%s", items[i].entry.path);
			found = unit_read(path, &size);
			assert_int_equal(size, items[i].entry.size);
			assert_memory_equal(found, wanted, size);
			free(found);
		}
		free(wanted);
	}
}

static void test_contents(void **state)
{
	size_t i = unit_row(state);
	struct writer_config with = config;


	with.compressor = compressors[i];
	kit_packed(&squashfs_writer, "x.sqfs", &with, sizes, COUNT(sizes));
	unit_shell("rm -rf out; unsquashfs -n -q -no-progress -d out x.sqfs "
		   ">log 2>&1 || { cat log >&2; false; }");
	assert_extracted(sizes, COUNT(sizes));
	assert_int_equal(unit_names_in("out/a/empty"), 0);
}

static void test_attributes(void **state)
{
	const struct item items[] = {
		{ .entry = { .path = "", .mode = 01777, .uid = 7, .gid = 8 } },
		{ .entry = { .kind = PACK_FILE, .path = "f", .mode = 04750, .uid = 70000,
			     .gid = 4294967294u, .size = 5, .mtime = 1234567890,
			     .mtime_ns = 999999999 } },
		{ .entry = { .kind = PACK_SYMLINK, .path = "l", .target = "../x y",
			     .mode = 0777, .uid = 1, .gid = 2, .mtime = -5 } },
		{ .entry = { .kind = PACK_FILE, .path = "late", .mtime = 1ll << 40 } },
		{ .entry = { .kind = PACK_DIRECTORY, .path = "d", .mode = 0500 } },
	};
	char *listing;

	(void)state;
	kit_packed(&squashfs_writer, "x.sqfs", &config, items, COUNT(items));
	listing = kit_output("TZ=UTC LC_ALL=C unsquashfs -lln x.sqfs | tr -s ' '");
	kit_assert_in(listing, "drwxrwxrwt 7/8 ");
	kit_assert_in(listing, "-rwsr-x--- 70000/4294967294 5 2009-02-13 23:31 "
			       "squashfs-root/f\n");
	kit_assert_in(listing, "lrwxrwxrwx 1/2 6 1970-01-01 00:00 "
			       "squashfs-root/l -> ../x y\n");
	kit_assert_in(listing, "2106-02-07 06:28 squashfs-root/late\n");
	kit_assert_in(listing, "dr-x------ 0/0 ");
	free(listing);
}

static void test_hard_links(void **state)
{
	const struct item items[] = {
		FILE_OF("d/first", 200000, 1), LINK(PACK_HARDLINK, "a/second", "d/first"),
		LINK(PACK_HARDLINK, "third", "d/first"), LINK(PACK_SYMLINK, "s", "d"),
		LINK(PACK_HARDLINK, "s2", "s"),
	};
	struct stat one, other;

	(void)state;
	kit_packed(&squashfs_writer, "x.sqfs", &config, items, COUNT(items));
	unit_shell("rm -rf out; unsquashfs -n -q -no-progress -d out x.sqfs >log 2>&1");
	assert_extracted(items, COUNT(items));
	assert_int_equal(stat("out/d/first", &one), 0);
	assert_int_equal(stat("out/a/second", &other), 0);
	assert_int_equal(one.st_ino, other.st_ino);
	assert_int_equal(one.st_nlink, 3);
	assert_int_equal(lstat("out/s", &one), 0);
	assert_int_equal(lstat("out/s2", &other), 0);
	assert_int_equal(one.st_ino, other.st_ino);
}

static void test_names(void **state)
{
	char longest[300] = "dir/";
	const struct item items[] = {
		FILE_OF("new\nline", 10, 1), FILE_OF("\xff\xfe bytes", 10, 2),
		FILE_OF(longest, 10, 3), FILE_OF("- dash", 10, 4), FILE_OF("...", 10, 5),
		FILE_OF("back\\slash", 10, 6),
	};

	(void)state;
	memset(longest + 4, 'n', 255);
	kit_packed(&squashfs_writer, "x.sqfs", &config, items, COUNT(items));
	unit_shell("rm -rf out; unsquashfs -n -q -no-progress -d out x.sqfs >log 2>&1");
	assert_extracted(items, COUNT(items));
	assert_int_equal(unit_names_in("out"), COUNT(items));
}

/* A shuffled plan brings no directories: they are as their first file, and 0755. */
static void test_implied_directories(void **state)
{
	const struct item items[] = {
		FILE_OF("b/c/2", 10, 1), FILE_OF("a/1", 10, 2), FILE_OF("b/0", 10, 3),
		FILE_OF("b/c/1", 10, 4),
		{ .entry = { .path = "b", .mode = 0700, .uid = 5 } },
	};
	char *listing;

	(void)state;
	kit_packed(&squashfs_writer, "x.sqfs", &config, items, COUNT(items));
	unit_shell("rm -rf out; unsquashfs -n -q -no-progress -d out x.sqfs >log 2>&1");
	assert_extracted(items, COUNT(items));
	listing = kit_output("TZ=UTC LC_ALL=C unsquashfs -lln x.sqfs | grep ^d | "
			     "tr -s ' '");
	kit_assert_in(listing, "drwxr-xr-x 0/0 33 2001-09-09 01:46 squashfs-root\n");
	kit_assert_in(listing, "drwxr-xr-x 0/0 24 2001-09-09 01:46 squashfs-root/a\n");
	kit_assert_in(listing, "drwx------ 5/0 ");
	free(listing);
}

static void test_nothing(void **state)
{
	char *listing;

	(void)state;
	kit_packed(&squashfs_writer, "x.sqfs", &config, NULL, 0);
	listing = kit_output("unsquashfs -lln x.sqfs");
	kit_assert_in(listing, "drwxr-xr-x 0/0");
	assert_int_equal(unit_occurrences(listing, "squashfs-root"), 1);
	free(listing);
}

static char *packed_by(unsigned threads, const struct item *items, size_t count,
		       size_t *size)
{
	struct writer_config with = config;

	with.threads = threads;
	kit_packed(&squashfs_writer, "t.sqfs", &with, items, count);
	return unit_read("t.sqfs", size);
}

/* Small and large ones in turn, so that blocks of both kinds are under way at once. */
static void test_threads(void **state)
{
	static char names[600][24];
	static struct item items[600];
	char *one, *other;
	size_t i, size, again;

	(void)state;
	for (i = 0; i < COUNT(items); i++) {
		snprintf(names[i], sizeof(names[i]), "c%zu/%zu", i % 10, i);
		items[i] = (struct item)FILE_OF(names[i], i % 7 * i % 50000,
						(unsigned)(i % 100));
	}
	one = packed_by(1, items, COUNT(items), &size);
	for (i = 2; i <= 4; i++) {
		other = packed_by((unsigned)i, items, COUNT(items), &again);
		assert_int_equal(size, again);
		assert_memory_equal(one, other, size);
		free(other);
	}
	free(one);
}

/* Equal files cost one, and none is taken for another. */
static void test_duplicates(void **state)
{
	static char names[40][16];
	static struct item items[40];
	struct stat st;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(items); i++) {
		snprintf(names[i], sizeof(names[i]), "%zu", i);
		items[i] = (struct item)FILE_OF(names[i], 300000, (unsigned)(i % 2 + 1));
	}
	kit_packed(&squashfs_writer, "x.sqfs", &config, items, COUNT(items));
	assert_int_equal(stat("x.sqfs", &st), 0);
	assert_in_range(st.st_size, 600000, 620000);
	unit_shell("rm -rf out; unsquashfs -n -q -no-progress -d out x.sqfs >log 2>&1");
	assert_extracted(items, COUNT(items));
}

static void test_refused_entries(void **state)
{
	static char too_long[300], deep[8192];
	const struct pack_xattr acl = { "system.posix_acl_access", "x", 1 };
	const struct {
		struct item items[2];
		int error;
		const char *word;
	} table[] = {
		{ { FILE_OF(too_long, 0, 1) }, -ENAMETOOLONG, "squashfs has room for 255" },
		{ { FILE_OF(deep, 0, 1) }, -ENAMETOOLONG, "directories in one another" },
		{ { LINK(PACK_SYMLINK, "l", deep) }, -ENAMETOOLONG, "symbolic link" },
		{ { FILE_OF("a//b", 0, 1) }, -EINVAL, "empty or dots" },
		{ { FILE_OF("../b", 0, 1) }, -EINVAL, "empty or dots" },
		{ { FILE_OF("a/.", 0, 1) }, -EINVAL, "empty or dots" },
		{ { FILE_OF("/a", 0, 1) }, -EINVAL, "empty or dots" },
		{ { FILE_OF("f", 0, 1), FILE_OF("f", 0, 1) }, -EEXIST, "f: comes twice" },
		{ { FILE_OF("f", 0, 1), FILE_OF("f/g", 0, 1) }, -EEXIST, "f: comes twice" },
		{ { DIRECTORY("d/e"), DIRECTORY("d/e") }, -EEXIST, "d/e: comes twice" },
		{ { LINK(PACK_HARDLINK, "d/l", "no") }, -ENOENT, "d/l: a hard link to no" },
		{ { DIRECTORY("d"), LINK(PACK_HARDLINK, "l", "d") }, -ENOENT, "hard link" },
		{ { { .entry = { .kind = PACK_FILE, .path = "f", .xattr_count = 1,
				 .xattrs = &acl } } }, -ENOTSUP, "posix_acl" },
	};
	size_t i;

	(void)state;
	memset(too_long, 'x', 256);
	for (i = 0; i + 2 < sizeof(deep); i += 2)
		memcpy(deep + i, "d/", 2);
	deep[sizeof(deep) - 2] = 'f';
	for (i = 0; i < COUNT(table); i++) {
		struct error e = { 0 };
		size_t count = table[i].items[1].entry.path ? 2 : 1;

		assert_int_equal(kit_pack(&squashfs_writer, "x.sqfs", &config,
					  table[i].items, count, &e), table[i].error);
		kit_assert_in(e.text, table[i].word);
	}
}

static void test_refused_levels(void **state)
{
	const struct {
		const char *compressor;
		int level;
		const char *word;
	} table[] = {
		{ "bzip2", -1, "squashfs has none, lz4, zstd, gzip and xz" },
		{ "none", 1, "no levels" }, { "zstd", 0, "1 to 22" },
		{ "zstd", 23, "1 to 22" }, { "gzip", 10, "1 to 9" }, { "xz", 10, "0 to 9" },
		{ "lz4", 5, "two levels" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(table); i++) {
		struct writer_config with = config;
		struct error e = { 0 };

		with.compressor = table[i].compressor;
		with.level = table[i].level;
		assert_int_equal(kit_pack(&squashfs_writer, "x.sqfs", &with, NULL, 0, &e),
				 -EINVAL);
		assert_int_equal(e.status, ERROR_USAGE);
		kit_assert_in(e.text, table[i].word);
	}
}

/* As many bytes as the entry said must come. */
static void test_wrong_sizes(void **state)
{
	const struct pack_entry entry = { .kind = PACK_FILE, .path = "f", .size = 10 };
	struct error e = { 0 };
	struct writer *w;
	FILE *file = tmpfile();

	(void)state;
	assert_int_equal(squashfs_writer.open(&w, fileno(file), "x", &config, &e), 0);
	assert_int_equal(squashfs_writer.begin(w, &entry, &e), 0);
	assert_int_equal(squashfs_writer.data(w, "12345678901", 11, &e), -EINVAL);
	assert_int_equal(squashfs_writer.data(w, "123456789", 9, &e), 0);
	assert_int_equal(squashfs_writer.end(w, &e), -EINVAL);
	assert_int_equal(squashfs_writer.close(w, false, &e), 0);
	fclose(file);
}

static void test_full_disk(void **state)
{
	struct error e = { 0 };

	(void)state;
	assert_int_equal(kit_pack(&squashfs_writer, "/dev/full", &config, sizes,
				  COUNT(sizes), &e), -ENOSPC);
	kit_assert_in(e.text, "No space left");
}

static const struct CMUnitTest tests[] = {
	unit_texts(test_contents, compressors),
	cmocka_unit_test(test_attributes),
	cmocka_unit_test(test_hard_links),
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_implied_directories),
	cmocka_unit_test(test_nothing),
	cmocka_unit_test(test_threads),
	cmocka_unit_test(test_duplicates),
	cmocka_unit_test(test_refused_entries),
	cmocka_unit_test(test_refused_levels),
	cmocka_unit_test(test_wrong_sizes),
	cmocka_unit_test(test_full_disk),
};

UNIT_MAIN(tests)

#else
#include "left_out.h"
#endif
