/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole file in sealed memory. */
/* granary-test: LDFLAGS = -Wl,--wrap=memory_read_state */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/memory.h"
#include "source/load.h"
#include "source/source.h"

void __wrap_memory_read_state(struct memory *memory, struct memory_state *out);

static uint64_t available[8]; /* at each look; the last one stays */
static unsigned looks;

void __wrap_memory_read_state(struct memory *memory, struct memory_state *out)
{
	(void)memory;
	*out = (struct memory_state){ .available = available[looks] };
	if (looks + 1 < COUNT(available) && available[looks + 1])
		looks++;
}

enum { BYTES = 3 * 1024 * 1024 + 77 };

static int load(const char *path, int *memory, struct error *e)
{
	struct source *source;
	int err;

	assert_int_equal(source_open(path, &source, NULL), 0);
	err = source_load(source, memory, e);
	source_close(source);
	return err;
}

static char *pattern(void)
{
	char *bytes = malloc(BYTES);

	assert_non_null(bytes);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (char)(i * 31 + i / 251);
	return bytes;
}

static void test_all_bytes_come_and_stay(void **state)
{
	char *bytes = pattern(), *read = malloc(BYTES);
	struct error e;
	int memory;

	(void)state;
	assert_non_null(read);
	unit_write("file", bytes, BYTES);
	assert_int_equal(load("file", &memory, &e), 0);
	unit_write("file", "other", 5); /* the copy does not follow */
	assert_int_equal(lseek(memory, 0, SEEK_END), BYTES);
	assert_int_equal(pread(memory, read, BYTES, 0), BYTES);
	assert_memory_equal(read, bytes, BYTES);
	assert_int_equal(pwrite(memory, "x", 1, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(memory, 1), -1);
	assert_ptr_equal(mmap(NULL, BYTES, PROT_WRITE, MAP_SHARED, memory, 0), MAP_FAILED);
	close(memory);
	free(read);
	free(bytes);
}

static void test_a_file_that_shrinks_is_an_error(void **state)
{
	char *bytes = pattern();
	struct source *source;
	struct error e;
	int memory;

	(void)state;
	unit_write("cut", bytes, BYTES);
	assert_int_equal(source_open("cut", &source, NULL), 0);
	assert_int_equal(truncate("cut", BYTES / 2), 0);
	assert_int_equal(source_load(source, &memory, &e), -EIO);
	assert_non_null(strstr(e.text, "cut"));
	source_close(source);
	free(bytes);
}

/* A hole costs its owner nothing, and its reader the memory. */
static void test_a_hole_is_refused(void **state)
{
	struct error e;
	int memory, fd = open("hole", O_CREAT | O_TRUNC | O_RDWR, 0600);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "begin", 5, 0), 5);
	assert_int_equal(pwrite(fd, "end", 3, 1 << 30), 3);
	assert_int_equal(load("hole", &memory, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "hole"));
	for (off_t at = 0; at < 1 << 30; at += 1 << 20) /* a block a MiB, and nothing else */
		assert_int_equal(pwrite(fd, "x", 1, at), 1);
	assert_int_equal(load("hole", &memory, &e), -EBADMSG);
	assert_int_equal(ftruncate(fd, 1 << 20), 0); /* a small one is just read */
	assert_int_equal(load("hole", &memory, &e), 0);
	close(memory);
	close(fd);
}

enum { MIB = 1 << 20, LARGE = 80 * MIB };

static const struct {
	uint64_t available[8];
	int err;
} memories[] = {
	{ { 200 * MIB }, 0 },
	{ { 159 * MIB }, -ENOMEM }, /* more than half of it */
	/* others take it meanwhile: to a quarter, and beyond */
	{ { 200 * MIB, 180 * MIB, 130 * MIB, 98 * MIB }, 0 },
	{ { 200 * MIB, 180 * MIB, 110 * MIB }, -ENOMEM },
	{ { 200 * MIB, 180 * MIB, 114 * MIB, 97 * MIB, 80 * MIB }, -ENOMEM },
};

static void test_memory_that_others_take(void **state)
{
	char *bytes = malloc(LARGE);
	struct error e;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'x', LARGE);
	unit_write("large", bytes, LARGE);
	free(bytes);
	for (size_t i = 0; i < COUNT(memories); i++) {
		int memory = -1;

		looks = 0;
		memcpy(available, memories[i].available, sizeof(available));
		assert_int_equal(load("large", &memory, &e), memories[i].err);
		if (memory >= 0)
			close(memory);
	}
}

static const struct CMUnitTest loading[] = {
	cmocka_unit_test(test_all_bytes_come_and_stay),
	cmocka_unit_test(test_a_file_that_shrinks_is_an_error),
	cmocka_unit_test(test_a_hole_is_refused),
	cmocka_unit_test(test_memory_that_others_take),
};

UNIT_MAIN(loading)
