/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tar format against archives that nobody should have made. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "tar_run.h"

/* Behind the end */

static void with_tail(const void *tail, size_t n, struct run *run)
{
	size_t size;
	char *tar = run_read_file("small-pax.tar", &size), *whole = malloc(size + n);

	assert_non_null(whole);
	memcpy(whole, tar, size);
	memcpy(whole + size, tail, n);
	run_write_file("tail.tar", whole, size + n);
	run_scan(run, "tail.tar");
	free(whole);
	free(tar);
}

static void test_trailing_garbage(void **state)
{
	static const size_t sizes[] = { 1, 100, 511, 512, 513, 5000, 300000 };
	static char garbage[300000];
	struct run run;

	(void)state;
	memset(garbage, 'g', sizeof(garbage));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		with_tail(garbage, sizes[i], &run);
		assert_int_equal(run.err, 0);
		assert_int_equal(entries_count(run.entries), 4);
		run_end(&run);
	}
	memset(garbage, 0, sizeof(garbage));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		with_tail(garbage, sizes[i], &run);
		assert_int_equal(run.err, 0);
		assert_int_equal(entries_count(run.entries), 4);
		run_end(&run);
	}
}

/* Behind one zero block only, or behind none, it is damage. */
static void test_damage_is_no_tail(void **state)
{
	size_t n;
	char *tar = run_read_file("no-end-marker.tar", &n), *whole = calloc(1, n + 1536);
	struct run run;

	(void)state;
	assert_non_null(whole);
	memcpy(whole, tar, n);
	for (size_t zeros = 0; zeros <= 1024; zeros += 512) {
		memset(whole + n, 0, 1536);
		memset(whole + n + zeros, 'g', 512);
		run_write_file("damage.tar", whole, n + zeros + 512);
		run_scan(&run, "damage.tar");
		if (zeros < 1024)
			run_assert_damaged(&run, "no valid tar header at byte");
		else
			assert_int_equal(run.err, 0);
		run_end(&run);
	}
	free(whole);
	free(tar);
}

/* A second archive that is cut is damage too, and no tail. */
static void test_cut_in_second_archive(void **state)
{
	struct run run;
	size_t n;
	char *tar = run_read_file("small-gnu.tar", &n);

	(void)state;
	with_tail(tar, 5000, &run);
	run_assert_damaged(&run, "truncated: it ends at byte");
	assert_int_equal(entries_count(run.entries), 7);
	run_end(&run);
	free(tar);
}

/* Damage */

static const char *const small[] = {
	"small-ustar.tar", "small-gnu.tar", "small-pax.tar", "small-sparse.tar",
	"small-sparse-gnu.tar",
};

/* Where the next file with data behind the first `n` entries has its header at the latest. */
static uint64_t next_header(const struct run *whole, size_t n)
{
	for (; n < entries_count(whole->entries); n++) {
		const struct entry *entry = entries_get(whole->entries, n);

		if (entry->extent_count)
			return entries_volume(whole->entries, entry->extents->volume)->base +
			       entry->extents->offset - 512;
	}
	return UINT64_MAX;
}

/*
 * Entries before the damage are those that the whole archive begins with. Where it is
 * read without complaint no member has been begun that is not there.
 */
static void check_cut(size_t cut, const struct run *whole, const char *listing)
{
	struct run run;
	char *got;

	assert_int_equal(truncate("cut.tar", (off_t)cut), 0);
	run_scan(&run, "cut.tar");
	if (run.err)
		run_assert_damaged(&run, "truncated: it ends at byte");
	else
		assert_true(cut <= next_header(whole, entries_count(run.entries)));
	got = run_listing(&run);
	assert_memory_equal(got, listing, strlen(got));
	free(got);
	run_end(&run);
}

static void test_truncated(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++) {
		struct run whole;
		size_t n, step;
		char *tar = run_read_file(small[i], &n), *listing;

		run_scan(&whole, small[i]);
		assert_int_equal(whole.err, 0);
		listing = run_listing(&whole);
		run_write_file("cut.tar", tar, n);
		step = n > 100000 ? 8192 : 256;
		for (size_t cut = n - n % step; cut > 0; cut -= step) {
			check_cut(cut, &whole, listing);
			check_cut(cut - 1, &whole, listing);
		}
		run_end(&whole);
		free(listing);
		free(tar);
	}
}

static void test_truncated_says_how_much(void **state)
{
	struct run run;
	size_t n;
	char *tar = run_read_file("small-ustar.tar", &n);

	(void)state;
	run_write_file("cut.tar", tar, 512 + 100);
	run_scan(&run, "cut.tar");
	run_assert_damaged(&run, "'cut.tar' is truncated: it ends at byte 612 inside "
			     "member 'one', which needs 924 more bytes; copy it "
			     "again");
	run_end(&run);
	free(tar);
}

static void check_flipped(FILE *f, size_t at, int byte)
{
	struct run run;

	fseek(f, (long)at, SEEK_SET);
	fputc(byte, f);
	fflush(f);
	run_scan(&run, "flipped.tar");
	if (run.err)
		run_assert_damaged(&run, "'flipped.tar'");
	free(run_listing(&run));
	run_end(&run);
}

static void test_flipped(void **state)
{
	static const unsigned char masks[] = { 0x01, 0x80, 0xff };

	(void)state;
	for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++) {
		size_t n;
		char *tar = run_read_file(small[i], &n);
		FILE *f;

		run_write_file("flipped.tar", tar, n < 60000 ? n : 60000);
		f = fopen("flipped.tar", "r+");
		assert_non_null(f);
		for (size_t at = 0; at < 5120; at++) {
			check_flipped(f, at, (unsigned char)tar[at] ^ masks[at % 3]);
			fseek(f, (long)at, SEEK_SET);
			fputc((unsigned char)tar[at], f);
		}
		fclose(f);
		free(tar);
	}
}

static void test_hostile(void **state)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	unsigned seen = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		struct run run;

		if (strncmp(entry->d_name, "hostile-", 8) != 0)
			continue;
		run_scan(&run, entry->d_name);
		if (run.err)
			run_assert_damaged(&run, "'hostile-");
		else
			free(run_listing(&run));
		run_end(&run);
		seen++;
	}
	closedir(dir);
	assert_true(seen > 15);
}

static void test_never_shows_the_next_member(void **state)
{
	static const char *const names[] = {
		"hostile-sparse-beyond.tar", "hostile-sparse-too-much.tar",
		"hostile-sparse-backwards.tar",
		"hostile-size-max-256.tar", "hostile-size-max-octal.tar",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct run run;

		run_scan(&run, names[i]);
		assert_int_equal(run.err, -EBADMSG);
		assert_int_equal(entries_count(run.entries), 0);
		run_end(&run);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_trailing_garbage),
	cmocka_unit_test(test_damage_is_no_tail),
	cmocka_unit_test(test_cut_in_second_archive),
	cmocka_unit_test(test_truncated),
	cmocka_unit_test(test_truncated_says_how_much),
	cmocka_unit_test(test_flipped),
	cmocka_unit_test(test_hostile),
	cmocka_unit_test(test_never_shows_the_next_member),
};

UNIT_MAIN_IN(tests, run_enter, run_leave)
