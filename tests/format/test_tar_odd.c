/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tars as other programs leave them. What is right is listed beside each, and has been
 * compared with other programs' reading where they agree: see tar_oddities.py.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>

#include "tar_run.h"

static int by_name(const void *a, const void *b)
{
	const struct entry_xattr *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void print_xattrs(FILE *out, const struct entry *entry)
{
	struct entry_xattr sorted[256];

	assert_true(entry->xattr_count <= 256);
	if (entry->xattr_count)
		memcpy(sorted, entry->xattrs, entry->xattr_count * sizeof(*sorted));
	qsort(sorted, entry->xattr_count, sizeof(*sorted), by_name);
	for (size_t i = 0; i < entry->xattr_count; i++) {
		run_print_hex(out, sorted[i].name, strlen(sorted[i].name));
		fputc('=', out);
		for (size_t j = 0; j < sorted[i].size; j++)
			fprintf(out, "%02x", ((const unsigned char *)sorted[i].value)[j]);
	}
}

static void print_entry(FILE *out, const struct run *run, const struct entry *entry)
{
	static const char kinds[] = "dflhf";
	unsigned char *bytes = run_contents(run, entry);

	fprintf(out, "%c %03o %u %u %" PRId64 " %" PRIu64, kinds[entry->kind], entry->mode,
		entry->uid, entry->gid,
		entry->mtime * INT64_C(1000000000) + (int64_t)entry->mtime_ns, entry->size);
	if (kinds[entry->kind] == 'f')
		fprintf(out, " %08x", run_adler32(bytes, entry->size));
	else
		fprintf(out, " 0");
	free(bytes);
	print_xattrs(out, entry);
	run_print_hex(out, entry->path, strlen(entry->path));
	run_print_hex(out, entry->target, entry->target ? strlen(entry->target) : 0);
	fputc('\n', out);
}

static void compare(const char *name)
{
	char tar[300], want_path[300], *want, *got = NULL;
	struct run run;
	size_t n;
	FILE *out = open_memstream(&got, &n);

	assert_non_null(out);
	snprintf(tar, sizeof(tar), "%s.tar", name);
	snprintf(want_path, sizeof(want_path), "%s.want", name);
	run_scan(&run, tar);
	if (run.err)
		print_message("# %s\n", run.e.text);
	assert_int_equal(run.err, 0);
	for (size_t i = 0; i < entries_count(run.entries); i++)
		print_entry(out, &run, entries_get(run.entries, i));
	fclose(out);
	want = run_read_file(want_path, NULL);
	run_assert_same(name, got, want);
	assert_true(run.position <= run.scan.length);
	free(want);
	free(got);
	run_end(&run);
}

/* All whose names begin with one of the words, of which NULL is the last. */
static void compare_all(const char *const *words, unsigned least)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	unsigned compared = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char *suffix = strstr(entry->d_name, ".want");
		bool named = false;

		for (size_t i = 0; words[i]; i++)
			named |= strncmp(entry->d_name, words[i], strlen(words[i])) == 0;
		if (!suffix || !named)
			continue;
		*suffix = '\0';
		compare(entry->d_name);
		compared++;
	}
	closedir(dir);
	if (compared < least)
		fail_msg("only %u archives", compared);
}

#define TEST_ALL(name, least, ...)                                          \
	static void name(void **state)                                      \
	{                                                                   \
		static const char *const words[] = { __VA_ARGS__, NULL };   \
                                                                            \
		(void)state;                                                \
		compare_all(words, least);                                  \
	}

TEST_ALL(test_global_headers, 9, "global-")
TEST_ALL(test_xattr_names, 2, "xattr-")
TEST_ALL(test_strays, 24, "stray-")
TEST_ALL(test_sparse, 16, "sparse-")
TEST_ALL(test_cut_padding, 12, "cut-", "no-mark", "half-")
TEST_ALL(test_numbers, 8, "blanks-", "numbers-", "empty-", "a-nul-", "base-", "owners-",
	 "negative-", "letters-")
TEST_ALL(test_names, 10, "prefix-", "star-", "times-", "signed-", "checksum-", "v7-",
	 "solaris-", "a-label", "names-", "a-record-", "bytes-")

/* Volumes of a tar in several */

static void assert_refused(const char *tar, const char *first, const char *second)
{
	struct run run;

	run_scan(&run, tar);
	run_assert_damaged(&run, first);
	run_assert_damaged(&run, second);
	run_end(&run);
}

static void test_volumes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		static const char *const forms[] = { "gnu", "posix", "gnu-label",
						     "posix-label" };
		char tar[64];

		snprintf(tar, sizeof(tar), "volume-%s-1.tar", forms[i]);
		assert_refused(tar, "inside member 'big'", "volume");
		snprintf(tar, sizeof(tar), "volume-%s-2.tar", forms[i]);
		assert_refused(tar, "one volume of a tar in several (tar -M): at byte 0",
			       "tar -xM -f FIRST -f SECOND");
	}
	assert_refused("late-volume.tar", "one volume of a tar in several", "'rest'");
}

static void test_labels(void **state)
{
	static const char *const tars[] = { "label-gnu.tar", "label-posix.tar" };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct run run;

		run_scan(&run, tars[i]);
		assert_int_equal(run.err, 0);
		assert_int_equal(entries_count(run.entries), 1);
		assert_string_equal(entries_get(run.entries, 0)->path, "small");
		run_end(&run);
	}
}

static int enter(void **state)
{
	(void)state;
	return run_enter_with("tar_oddities.py");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_global_headers),
	cmocka_unit_test(test_xattr_names),
	cmocka_unit_test(test_strays),
	cmocka_unit_test(test_sparse),
	cmocka_unit_test(test_cut_padding),
	cmocka_unit_test(test_numbers),
	cmocka_unit_test(test_names),
	cmocka_unit_test(test_volumes),
	cmocka_unit_test(test_labels),
};

UNIT_MAIN_IN(tests, enter, run_leave)
