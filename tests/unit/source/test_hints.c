/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel is told what of a source to read ahead, and which pages to drop. */
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "source/source.h"

enum { PAGE = 4096, SAMPLES = 64, MIB = 1 << 20 };

/* In libc's place: bytes that are asked for ahead, and bytes whose pages are dropped. */
static off_t advised, advised_end, dropped;

int posix_fadvise(int fd, off_t at, off_t length, int advice)
{
	(void)fd;
	dropped += advice == POSIX_FADV_DONTNEED ? length : 0;
	if (advice != POSIX_FADV_WILLNEED)
		return 0;
	advised += length;
	advised_end = at + length > advised_end ? at + length : advised_end;
	return 0;
}

/* A source of that size without data. */
static struct source *open_holes(const char *name, off_t size)
{
	struct source *source = NULL;

	unit_write(name, "", 0);
	assert_int_equal(truncate(name, size), 0);
	assert_int_equal(source_open(name, &source, NULL), 0);
	return source;
}

/* Storage reads no more for an identity than the identity is made of. */
static void test_identity_reads_its_pages_only(void **state)
{
	struct source *source = open_holes("large", 100 * MIB);

	(void)state;
	advised = advised_end = 0;
	source_identity_ahead(source, SAMPLES);
	assert_int_equal(advised, (SAMPLES + 2) * PAGE);
	assert_int_equal(advised_end, 100 * MIB);
	source_hint(source, HINT_SOON, MIB, 3 * MIB + 1);
	assert_int_equal(advised, (SAMPLES + 2) * PAGE + 3 * MIB + 1);
	source_close(source);
}

/* Of a source that nobody else reads, all pages are dropped but those of READ_SHARED. */
static void test_pages_stay_for_a_sweep(void **state)
{
	static const struct { enum read_hint hint; off_t dropped; } reads[] = {
		{ READ_SHARED, 0 }, { READ_EXACT, 3 * PAGE }, { READ_SHARED, 3 * PAGE },
		{ READ_BLOCK, 6 * PAGE },
	};
	static unsigned char bytes[3 * PAGE];
	struct source *source = open_holes("pages", 5 * PAGE);

	(void)state;
	source_hint(source, HINT_STREAM_OWN, 0, 0);
	dropped = 0;
	for (size_t i = 0; i < COUNT(reads); i++) {
		struct read_context context = { .hint = reads[i].hint };

		assert_int_equal(source_read(source, bytes, sizeof(bytes), PAGE, &context), 0);
		assert_int_equal(dropped, reads[i].dropped);
	}
	source_close(source);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_identity_reads_its_pages_only),
	cmocka_unit_test(test_pages_stay_for_a_sweep),
};

UNIT_MAIN(tests)
