/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of an index is read, to judge it and to take it. */
#include "dataset/kit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "place/find.h"
#include "stats/stats.h"
#include "build/index_copy.h"
#include "../build/publish.h"

enum {
	FILES = 5000,
	SOURCE = 32 << 10,
	CARD_MOST = 128 << 10, /* cards, and the ends of packed files, some times each */
};

static char source_name[] = "0.bin", place[] = "made.gidx";
static char *const sources[] = { source_name };
static const struct dataset_config config = { .index = place };

static void make_index(bool with_sums)
{
	const uint64_t sizes[MADE_SOURCES] = { SOURCE };
	const struct image_access access = { 0600, getuid(), getgid() };
	struct made made;
	struct index *index;
	struct image image;
	uint64_t *sums;
	char path[64];

	made_begin(&made, sizes);
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "a-file-with-a-name-of-some-length-%u", i);
		made_file(&made, path, 0, 512, 1 + i);
	}
	dataset_close(made_open(&made));
	if (!with_sums)
		return;
	assert_int_equal(index_open(place, &index, NULL), 0);
	assert_int_equal(index_copy(index, &image), 0);
	index_close(index);
	sums = calloc(image_nodes(&image), sizeof(*sums));
	assert_non_null(sums);
	assert_int_equal(image_set_sums(&image, sums, NULL), 0);
	assert_int_equal(publish_at(&image, place, &access, NULL), 0);
	image_free(&image);
	free(sums);
}

static uint64_t index_bytes(void)
{
	struct stat st;

	assert_int_equal(stat(place, &st), 0);
	assert_true(st.st_size > 2 * CARD_MOST);
	return (uint64_t)st.st_size;
}

/* Bytes that were read since. */
static uint64_t read_since(uint64_t before)
{
	return stats_get(COUNTER_source_read_bytes) - before;
}

/* Bytes that are read to judge an index, and to know the packed files. */
static uint64_t card_bytes(void)
{
	uint64_t before = stats_get(COUNTER_source_read_bytes);
	struct identity identity;
	struct index_file *file;
	struct source_set set;

	assert_int_equal(index_file_open(place, &file, NULL), 0);
	index_file_close(file);
	assert_int_equal(source_set_open(sources, 1, false, &set, NULL), 0);
	assert_int_equal(source_set_identify(&set, &identity, NULL), 0);
	source_set_close(&set);
	return read_since(before);
}

static void test_an_index_that_is_taken_is_read_once(void **state)
{
	(void)state;
	for (int with_sums = 0; with_sums < 2; with_sums++) {
		uint64_t before, size, card;
		struct dataset *ds;

		make_index(with_sums);
		size = index_bytes();
		card = card_bytes();
		before = stats_get(COUNTER_source_read_bytes);
		assert_int_equal(dataset_open(&config, sources, 1, &ds, NULL), 0);
		assert_int_equal(read_since(before), size + card);
		dataset_close(ds);
	}
}

static void test_one_that_does_not_fit_is_not_read(void **state)
{
	const struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	(void)state;
	for (int with_sums = 0; with_sums < 2; with_sums++) {
		char require[] = "require";
		const struct dataset_config required = { .index = require };
		uint64_t before;
		struct dataset *ds;
		struct error e;

		make_index(with_sums);
		index_bytes();
		assert_int_equal(rename(place, "0.bin.gidx"), 0);
		assert_int_equal(utimensat(AT_FDCWD, source_name, times, 0), 0);
		before = stats_get(COUNTER_source_read_bytes);
		assert_true(dataset_open(&required, sources, 1, &ds, &e) < 0);
		assert_in_range(read_since(before), 1, CARD_MOST);
	}
}

static const struct CMUnitTest once[] = {
	cmocka_unit_test(test_an_index_that_is_taken_is_read_once),
	cmocka_unit_test(test_one_that_does_not_fit_is_not_read),
};

UNIT_MAIN(once)
