/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small squashfs images that ask for much: squashfs_bombs.py writes them. */
#include "config.h"
#if WITH_SQUASHFS && WITH_DEFLATE && WITH_LZ4 && WITH_ZSTD && WITH_LZMA && WITH_LZO
#include "unit.h"

#include <errno.h>
#include <sys/resource.h>

#include "format/format.h"
#include "format/limits.h"
#include "base/log.h"

struct bomb {
	const char *name;
	const char *said; /* NULL: it is taken */
	int64_t grown;    /* MiB at most, more than before */
	size_t entries;   /* if it is taken */
};

/* A sanitizer's own memory is larger than any bound. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEASURED = 0 };
#elif defined(__has_feature)
enum { MEASURED = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) };
#else
enum { MEASURED = 1 };
#endif

static void make(const char *name)
{
	const char *srcdir = getenv("abs_top_srcdir"), *python = getenv("PYTHON");
	char command[4096];

	snprintf(command, sizeof(command), "'%s' '%s/tests/format/squashfs_bombs.py' %s %s",
		 python ? python : "/usr/bin/python3", srcdir ? srcdir : ".", name, name);
	unit_shell(command);
}

static int64_t peak(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss / 1024;
}

static int scan(const char *path, struct error *e, size_t *count)
{
	struct scan scan = { .label = path, .entries = entries_new() };
	struct source *source;
	int err;

	assert_non_null(scan.entries);
	assert_int_equal(source_open(path, &source, NULL), 0);
	scan.source = source;
	scan.length = source_size(source);
	err = format_by_name("squashfs")->scan(&scan, e);
	*count = entries_count(scan.entries);
	entries_free(scan.entries);
	source_close(source);
	return err;
}

/* In a process of its own, whose peak nobody else has made. */
static int explode(void *argument)
{
	const struct bomb *bomb = argument;
	struct error e = { 0 };
	int64_t before = peak(), grown;
	size_t count;
	int err = scan(bomb->name, &e, &count);

	grown = peak() - before;
	if (err != (bomb->said ? -EBADMSG : 0))
		fail_msg("%d: %s", err, e.text);
	if (bomb->said && (e.status != ERROR_DATASET || !strstr(e.text, bomb->said) ||
			   !strstr(e.text, "again")))
		fail_msg("not \"%s\": %s", bomb->said, e.text);
	if (!bomb->said)
		assert_int_equal(count, bomb->entries);
	if (MEASURED && grown > bomb->grown)
		fail_msg("%lld MiB", (long long)grown);
	return 0;
}

static void test_bombs(void **state)
{
	static struct bomb bombs[] = {
		{ "paths", "the paths and targets in it take too much memory", 400, 0 },
		{ "targets", "the paths and targets in it take too much memory", 400, 0 },
		{ "xattrs", "the xattrs in it take too much memory", 1300, 0 },
		{ "names", "the names in it take too much memory", 1800, 0 },
		{ "shared", "list of blocks, which is in another one too", 150, 0 },
		{ "copies", "the blocks in it take too much memory", 600, 0 },
		{ "small_xattrs", NULL, 150, 100001 },
		{ "long_names", NULL, 30, 2 },
		{ "long_target", NULL, 30, 1 },
		{ "holes", NULL, 30, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bombs); i++) {
		print_message("# %s\n", bombs[i].name);
		make(bombs[i].name);
		assert_int_equal(unit_child(explode, &bombs[i]), 0);
	}
}

/* Sums stay right at the ends of their range. */
static void test_sums(void **state)
{
	uint64_t total = 0;

	(void)state;
	assert_true(limit_paths(&total, LIMIT_PATHS_FREE, 0));
	assert_false(limit_paths(&total, 1, 0));
	assert_int_equal(total, LIMIT_PATHS_FREE);
	assert_true(limit_paths(&total, 16, 1));
	assert_false(limit_paths(&total, 1, 1));
	assert_true(limit_paths(&total, SIZE_MAX - LIMIT_PATHS_FREE - 16, UINT64_MAX));
	assert_false(limit_paths(&total, 1, UINT64_MAX));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_sums),
	cmocka_unit_test(test_bombs),
};

int main(void)
{
	log_level_now = LOG_LEVEL_ERROR;
	return unit_run(tests, COUNT(tests), unit_enter, unit_leave);
}

#else
#include "left_out.h"
#endif
