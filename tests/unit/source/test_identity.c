/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Identities that are read in two steps, and files that change while they are open. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/source_set.h"

/* The ends, and then the samples, are the identity that is read at once. */
static void test_samples_later(void **state)
{
	char name[] = "large", *arguments[] = { name };
	struct identity at_once, later;
	struct source_set set;

	(void)state;
	unit_write("large", "head", 4);
	assert_int_equal(truncate("large", 1 << 20), 0);
	assert_int_equal(source_set_open(arguments, 1, false, &set, NULL), 0);
	assert_int_equal(source_set_identify(&set, &at_once, NULL), 0);
	assert_int_equal(source_set_identify_ends(&set, &later, NULL), 0);
	assert_true(at_once.samples != 0);
	assert_int_equal(later.samples, 0);
	source_set_sample(&set, &later);
	assert_memory_equal(&at_once, &later, sizeof(later));
	source_set_close(&set);
}

static void set_back(const char *path, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A clock of the kernel's may tick a hundred times a second: waits for the next tick. */
static void await_tick(const char *path, const struct stat *st)
{
	struct stat now;

	do {
		set_back(path, st);
		assert_int_equal(stat(path, &now), 0);
	} while (now.st_ctim.tv_sec == st->st_ctim.tv_sec &&
		 now.st_ctim.tv_nsec == st->st_ctim.tv_nsec);
}

static struct source *open_kept(void)
{
	struct source *source;

	assert_int_equal(source_open("kept", &source, NULL), 0);
	return source;
}

static void test_unchanged(void **state)
{
	struct source *source;
	struct stat st;

	(void)state;
	unit_write("kept", "0123456789", 10);
	assert_int_equal(stat("kept", &st), 0);
	source = open_kept();
	assert_true(source_is_unchanged(source));
	await_tick("kept", &st);
	assert_false(source_is_unchanged(source));
	source_close(source);
	source = open_kept();
	assert_true(source_is_unchanged(source));
	assert_int_equal(truncate("kept", 9), 0);
	assert_false(source_is_unchanged(source));
	source_close(source);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_samples_later),
	cmocka_unit_test(test_unchanged),
};

UNIT_MAIN(tests)
