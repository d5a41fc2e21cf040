/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tar format against tarfile's reading of the same archives. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <locale.h>

#include "tar_run.h"

static void compare(const char *name)
{
	char tar[512], list[512], *want, *got;
	struct run run;

	snprintf(tar, sizeof(tar), "%s.tar", name);
	snprintf(list, sizeof(list), "%s.list", name);
	run_scan(&run, tar);
	if (run.err)
		print_message("# %s\n", run.e.text);
	assert_int_equal(run.err, 0);
	want = run_read_file(list, NULL);
	got = run_listing(&run);
	run_assert_same(name, got, want);
	assert_true(run.position > 0 && run.position <= run.scan.length);
	assert_true(run.members >= entries_count(run.entries));
	free(want);
	free(got);
	run_end(&run);
}

/* Every archive for which the fixtures left a list. */
static void test_as_tarfile(void **state)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	unsigned compared = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char *suffix = strstr(entry->d_name, ".list");

		if (!suffix)
			continue;
		*suffix = '\0';
		compare(entry->d_name);
		compared++;
	}
	closedir(dir);
	assert_true(compared >= 18);
}

/* The process's locale changes nothing, and is the same afterwards. */
static void test_locale(void **state)
{
	locale_t before = uselocale((locale_t)0);

	(void)state;
	if (!setlocale(LC_ALL, "C.UTF-8"))
		skip();
	compare("rich-posix");
	compare("python-pax");
	compare("rich-gnu");
	assert_true(uselocale((locale_t)0) == before);
	setlocale(LC_ALL, "C");
}

/* A window that begins at an odd byte and ends before the file does. */
static void test_window(void **state)
{
	size_t n;
	char *tar = run_read_file("sparse-1.0.tar", &n), *padded = malloc(n + 2000);
	char *want = run_read_file("sparse-1.0.list", NULL), *got;
	struct run run;

	(void)state;
	assert_non_null(padded);
	memset(padded, 'x', n + 2000);
	memcpy(padded + 777, tar, n);
	run_write_file("window", padded, n + 2000);
	run_prepare(&run, "window");
	run.scan.base = 777;
	run.scan.length = n;
	run.err = format_by_name("tar")->scan(&run.scan, &run.e);
	assert_int_equal(run.err, 0);
	got = run_listing(&run);
	run_assert_same("window", got, want);
	run.scan.base = n;
	assert_int_equal(format_by_name("tar")->scan(&run.scan, &run.e), -EIO);
	free(got);
	free(want);
	free(padded);
	free(tar);
	run_end(&run);
}

static void test_sizes_beyond_8_gib(void **state)
{
	static const char *const names[] = { "huge-gnu.tar", "huge-pax.tar" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct entry *big, *after;
		unsigned char *bytes;
		struct run run;

		run_scan(&run, names[i]);
		assert_int_equal(run.err, 0);
		assert_int_equal(entries_count(run.entries), 2);
		big = entries_get(run.entries, 0);
		after = entries_get(run.entries, 1);
		assert_int_equal(big->size, UINT64_C(9) << 30);
		assert_int_equal(big->extent_count, 1);
		assert_int_equal(big->extents[0].length, big->size);
		bytes = run_contents(&run, after);
		assert_string_equal((const char *)bytes, "after");
		free(bytes);
		run_end(&run);
	}
}

static const struct entry *find(const struct run *run, const char *path)
{
	for (size_t i = 0; i < entries_count(run->entries); i++)
		if (strcmp(entries_get(run->entries, i)->path, path) == 0)
			return entries_get(run->entries, i);
	return NULL;
}

static void test_special_members(void **state)
{
	struct run run;

	(void)state;
	run_scan(&run, "special.tar");
	assert_int_equal(run.err, 0);
	assert_int_equal(entries_count(run.entries), 2);
	assert_int_equal(find(&run, "dumpdir/")->kind, ENTRY_DIRECTORY);
	assert_int_equal(find(&run, "last")->size, 4);
	run_end(&run);
}

/* Extended attributes */

static const struct entry_xattr *xattr(const struct entry *entry, const char *name)
{
	for (size_t i = 0; i < entry->xattr_count; i++)
		if (strcmp(entry->xattrs[i].name, name) == 0)
			return &entry->xattrs[i];
	return NULL;
}

static void assert_xattr(const struct entry *entry, const char *name,
			 const char *value, size_t n)
{
	const struct entry_xattr *found = xattr(entry, name);

	if (!found) {
		fail_msg("there is no %s", name);
		return;
	}
	assert_int_equal(found->size, n);
	assert_memory_equal(found->value, value, n);
}

static void test_xattrs(void **state)
{
	const struct entry *few, *bomb, *big;
	struct run run;

	(void)state;
	run_scan(&run, "xattrs.tar");
	assert_int_equal(run.err, 0);
	assert_int_equal(entries_count(run.entries), 3);
	few = entries_get(run.entries, 0);
	bomb = entries_get(run.entries, 1);
	big = entries_get(run.entries, 2);
	assert_int_equal(strlen(few->path), 203);
	assert_int_equal(few->xattr_count, 3);
	assert_xattr(few, "user.binary", "a\0b\nc=d", 7);
	assert_xattr(few, "user.text", "t", 1);
	assert_xattr(few, "user.base64", "\0\1\2", 3);
	assert_int_equal(bomb->xattr_count, 256);
	assert_int_equal(big->xattr_count, 1);
	assert_int_equal(big->xattrs[0].size, 65536);
	run_end(&run);
}

/* Archives within archives */

struct offers {
	unsigned count;
	char names[8][32];
	struct run *run;
};

static struct entries *note_offer(struct scan *scan, const char *member,
				  uint64_t base, uint64_t length)
{
	struct offers *offers = scan->indexer;
	unsigned char byte;

	assert_true(offers->count < 8);
	snprintf(offers->names[offers->count++], 32, "%s", member);
	assert_int_equal(source_pread(scan->source, &byte, 1, base), 0);
	assert_int_equal(source_pread(scan->source, &byte, 1, base + length - 1), 0);
	if (strcmp(member, "a/train.tar") == 0) {
		assert_int_equal(byte, 't');
		assert_int_equal(length, 1000);
	}
	return strcmp(member, "refused.tar") == 0 ? NULL : entries_new();
}

static void test_nested(void **state)
{
	struct offers offers = { .count = 0 };
	const struct entry *train, *refused;
	unsigned char *bytes;
	struct run run;

	(void)state;
	run_prepare(&run, "nested.tar");
	run.scan.offer = note_offer;
	run.scan.indexer = &offers;
	run.err = format_by_name("tar")->scan(&run.scan, &run.e);
	assert_int_equal(run.err, 0);
	assert_int_equal(offers.count, 3);
	assert_string_equal(offers.names[0], "a/train.tar");
	assert_string_equal(offers.names[1], "b/UPPER.TAR");
	assert_string_equal(offers.names[2], "refused.tar");
	train = find(&run, "a/train.tar");
	refused = find(&run, "refused.tar");
	assert_int_equal(train->kind, ENTRY_NESTED);
	assert_non_null(train->nested);
	assert_int_equal(train->size, 1000);
	bytes = run_contents(&run, train);
	assert_int_equal(bytes[999], 't');
	free(bytes);
	assert_int_equal(refused->kind, ENTRY_FILE);
	assert_null(refused->nested);
	run_end(&run);
}

static void test_nested_not_offered(void **state)
{
	struct offers offers = { .count = 0 };
	struct run run;

	(void)state;
	run_scan(&run, "nested.tar"); /* nobody to offer it to */
	assert_int_equal(run.err, 0);
	assert_int_equal(find(&run, "a/train.tar")->kind, ENTRY_FILE);
	run_end(&run);
	run_prepare(&run, "nested-sparse.tar");
	run.scan.offer = note_offer;
	run.scan.indexer = &offers;
	assert_int_equal(format_by_name("tar")->scan(&run.scan, &run.e), 0);
	assert_int_equal(offers.count, 0);
	assert_int_equal(find(&run, "holes.tar")->kind, ENTRY_FILE);
	run_end(&run);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_as_tarfile),
	cmocka_unit_test(test_locale),
	cmocka_unit_test(test_window),
	cmocka_unit_test(test_sizes_beyond_8_gib),
	cmocka_unit_test(test_special_members),
	cmocka_unit_test(test_xattrs),
	cmocka_unit_test(test_nested),
	cmocka_unit_test(test_nested_not_offered),
};

UNIT_MAIN_IN(tests, run_enter, run_leave)
