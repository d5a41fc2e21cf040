/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A large tar walked from several places at once against the same walked from the
 * front: whatever lies in the middle, the same members have to come out.
 */
#include "unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tar_run.h"

enum { BLOCK = 512, WHOLE = 80 * 1024 * 1024 };

static unsigned seed;

static unsigned choose(unsigned n)
{
	seed = seed * 1103515245U + 12345U;
	return (seed >> 16) % n;
}

static void put_header(int fd, off_t at, const char *name, char type, unsigned size)
{
	unsigned char block[BLOCK] = { 0 };
	unsigned sum = 0;
	char text[8];

	snprintf((char *)block, 100, "%s", name);
	memcpy(block + 100, "0000644\0" "0001750\0" "0000144\0", 24);
	snprintf((char *)block + 124, 12, "%011o", size);
	memcpy(block + 136, "13727410000", 11);
	memset(block + 148, ' ', 8);
	block[156] = (unsigned char)type;
	memcpy(block + 257, "ustar\0" "00", 8);
	if (type == '2')
		memcpy(block + 157, "target", 6);
	for (size_t i = 0; i < BLOCK; i++)
		sum += block[i];
	snprintf(text, sizeof(text), "%06o", sum);
	memcpy(block + 148, text, 7);
	assert_int_equal(pwrite(fd, block, BLOCK, at), BLOCK);
}

/* Data that are a tar themselves: a guess that begins in there is wrong. */
static void put_decoys(int fd, off_t at, unsigned size)
{
	for (unsigned i = 0; i + 2 * BLOCK <= size; i += 64 * BLOCK)
		put_header(fd, at + i, "decoy", '0',
			   choose(3) ? 63 * BLOCK : choose(size - i));
}

enum flavour { PLAIN, MIXED, DECOYS, NESTED, CUT, FLAVOURS };

/* A member, and what is before it; returns where the next one begins. */
static off_t put_member(int fd, off_t at, unsigned i, enum flavour flavour)
{
	unsigned size = choose(4) ? choose(100000) : choose(900000);
	char name[64];

	snprintf(name, sizeof(name), "class-%u/%u%s", i / 50, i,
		 flavour == NESTED && choose(9) == 0 ? ".tar" : ".JPEG");
	if (flavour == MIXED && choose(5) == 0) {
		put_header(fd, at, name, '2', 0);
		return at + BLOCK;
	}
	if (flavour == MIXED && choose(5) == 0) {
		put_header(fd, at, "pax", 'x', 16);
		assert_int_equal(pwrite(fd, "16 comment=text\n", 16, at + BLOCK), 16);
		at += 2 * BLOCK;
	}
	put_header(fd, at, name, '0', size);
	at += BLOCK;
	if ((flavour == DECOYS && choose(2)) || flavour == NESTED)
		put_decoys(fd, at, size);
	return at + (size + BLOCK - 1) / BLOCK * BLOCK;
}

/* Sparse, and in memory. */
static char large[32];

static int make_archive(enum flavour flavour)
{
	int fd = memfd_create("large", MFD_CLOEXEC);
	off_t at = 0;

	assert_true(fd >= 0);
	snprintf(large, sizeof(large), "/proc/self/fd/%d", fd);
	for (unsigned i = 0; at < WHOLE; i++)
		at = put_member(fd, at, i, flavour);
	if (flavour == CUT)
		at -= 4 * BLOCK + choose(WHOLE / 8);
	assert_int_equal(ftruncate(fd, at + 2 * BLOCK), 0);
	return fd;
}

/* All entries, with where they are in the file, however many logs they are in. */
static char *list(const struct run *run, unsigned *logs)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	*logs = 0;
	for (struct entries *log = run->entries; log; log = entries_next(log), (*logs)++) {
		for (size_t i = 0; i < entries_count(log); i++) {
			const struct entry *entry = entries_get(log, i);
			uint64_t at = 0;

			if (entry->extent_count)
				at = entries_volume(log, entry->extents->volume)->base +
				     entry->extents->offset;
			fprintf(out, "%u %s %llu at %llu\n", entry->kind, entry->path,
				(unsigned long long)entry->size, (unsigned long long)at);
		}
	}
	fclose(out);
	return text;
}

static struct entries *refuse_offer(struct scan *scan, const char *member, uint64_t base,
				    uint64_t length)
{
	(void)scan, (void)member, (void)base, (void)length;
	return NULL;
}

static void scan_whole(struct run *run, bool alone)
{
	run_prepare(run, large);
	run->scan.alone = alone;
	run->scan.offer = refuse_offer;
	run->err = format_by_name("tar")->scan(&run->scan, &run->e);
}

/* Returns in how many logs the members were. */
static unsigned compare(void)
{
	struct run front, several;
	unsigned one, logs;
	char *want, *got;

	scan_whole(&front, false);
	scan_whole(&several, true);
	assert_int_equal(front.err, several.err);
	assert_string_equal(front.e.text, several.e.text);
	want = list(&front, &one);
	got = list(&several, &logs);
	assert_int_equal(one, 1);
	if (!front.err) {
		run_assert_same(large, got, want);
		assert_int_equal(front.position, several.position);
	}
	free(want);
	free(got);
	run_end(&front);
	run_end(&several);
	return logs;
}

static unsigned compare_several(enum flavour flavour)
{
	unsigned most = 0;

	for (unsigned i = 0; i < 4; i++) {
		unsigned logs;
		int fd;

		seed = 100 * (unsigned)flavour + i;
		fd = make_archive(flavour);
		logs = compare();
		close(fd);
		most = logs > most ? logs : most;
	}
	return most;
}

static void test_plain_members(void **state)
{
	(void)state;
	assert_int_equal(compare_several(PLAIN), 4);
}

static void test_others_between(void **state)
{
	(void)state;
	assert_true(compare_several(MIXED) > 1);
}

static void test_data_that_look_like_headers(void **state)
{
	(void)state;
	compare_several(DECOYS);
}

static void test_packed_files_inside(void **state)
{
	(void)state;
	compare_several(NESTED);
}

static void test_truncated(void **state)
{
	(void)state;
	compare_several(CUT);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_plain_members),
	cmocka_unit_test(test_others_between),
	cmocka_unit_test(test_data_that_look_like_headers),
	cmocka_unit_test(test_packed_files_inside),
	cmocka_unit_test(test_truncated),
};

UNIT_MAIN_IN(tests, run_enter, run_leave)
