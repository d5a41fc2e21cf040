/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays from a log to the index, and what their numbers say. */
#include "build/kit.h"

#include <errno.h>

#include "index/array_tiles.h"

static const uint32_t zlib[VOLUME_CODECS] = { 0x406, 1 };

/* 6 x 5 x 4 elements of 2 bytes in tiles of 4 x 2 x 4: 2 x 3 x 1 of them. */
static const struct entry_tile tiles[] = {
	{ 100, 50, 0 }, { 0, 0, 0 }, { 200, 40, 1 }, { 300, 30, 2 }, { 400, 20, 3 },
	{ 500, 64, 0 },
};

static const struct entry_array sound = {
	.source_size = 1000, .rank = 3, .item = 2, .dims = { 6, 5, 4 }, .tile = { 4, 2, 4 },
	.order = { 2, 0, 1 }, .codecs = zlib, .tiles = tiles, .tile_count = COUNT(tiles),
	.fill = "ff",
};

static void test_an_array_is_kept_in_the_log(void **state)
{
	struct entries *log = entries_new();
	struct entry_extent x = { .file_offset = 99 };
	const struct volume_array *array;

	(void)state;
	assert_int_equal(entries_array_extent(log, &sound, &x), 0);
	assert_int_equal(x.file_offset, 0);
	assert_int_equal(x.volume, 0);
	assert_int_equal(x.offset, 0);
	assert_int_equal(x.length, 240);
	assert_int_equal(entries_array_extent(log, &sound, &x), 0);
	assert_int_equal(x.volume, 1);
	assert_int_equal(entries_volume(log, 1)->kind, VOLUME_ARRAY);
	assert_int_equal(entries_volume(log, 1)->length, 240);
	assert_int_equal(entries_volume(log, 1)->chunk_count, 6);
	assert_memory_equal(entries_volume(log, 1)->codecs, zlib, sizeof(zlib));
	array = entries_array(log, 1);
	assert_memory_equal(array->dims, sound.dims, sizeof(sound.dims));
	assert_int_equal(array->order[0], 2);
	assert_int_equal(array->filled, 1);
	assert_memory_equal(entries_literals(log, 1), "ff", 2);
	assert_int_equal(entries_chunks(log, 1)[3].stored_at, 300);
	assert_int_equal(entries_chunks(log, 1)[3].skipped, 2);
	entries_free(log);
}

/* Differences from the sound array: 0 and NULL stand for none. */
static const struct refused {
	const char *what;
	uint32_t rank, item;
	uint64_t dims[VOLUME_RANK], tile[VOLUME_RANK];
	uint8_t order[VOLUME_RANK];
	uint64_t tile_count, source_size;
} refused[] = {
	{ .what = "too many axes", .rank = 9 },
	{ .what = "very many axes", .rank = UINT32_MAX },
	{ .what = "one axis more, of no length", .rank = 4, .order = { 2, 0, 1, 3 } },
	{ .what = "one axis fewer than the order", .rank = 2 },
	{ .what = "large elements", .item = VOLUME_ITEM_LIMIT + 1 },
	{ .what = "no length", .dims = { 6, 0, 4 } },
	{ .what = "more than 2^40 bytes", .dims = { 6, UINT64_C(1) << 37, 4 } },
	{ .what = "more than 2^64 bytes", .dims = { 6, UINT64_C(1) << 63, 4 } },
	{ .what = "no tiles", .tile = { 4, 0, 4 } },
	{ .what = "larger tiles", .tile = { 6, 2, 4 } },
	{ .what = "a tile of more than 1 GiB", .tile = { 4, 1 << 27, 2 } },
	{ .what = "a tile of more than 2^64 bytes", .tile = { 4, 2, UINT64_MAX / 2 } },
	{ .what = "an axis twice", .order = { 2, 0, 2 } },
	{ .what = "an axis that is not there", .order = { 2, 0, 3 } },
	{ .what = "an axis far away", .order = { 2, 255, 1 } },
	{ .what = "a tile too few", .tile_count = 5 },
	{ .what = "very many tiles", .tile_count = UINT64_MAX },
	{ .what = "a source that is shorter", .source_size = 563 },
};

static void test_numbers_that_make_no_sense_are_refused(void **state)
{
	struct entries *log = entries_new();
	struct entry_extent x;

	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		const struct refused *r = &refused[i];
		struct entry_array array = sound;

		array.rank = r->rank ? r->rank : array.rank;
		array.item = r->item ? r->item : array.item;
		if (r->dims[0])
			memcpy(array.dims, r->dims, sizeof(r->dims));
		if (r->tile[0])
			memcpy(array.tile, r->tile, sizeof(r->tile));
		if (r->order[0])
			memcpy(array.order, r->order, sizeof(r->order));
		array.tile_count = r->tile_count ? r->tile_count : array.tile_count;
		array.source_size = r->source_size ? r->source_size : array.source_size;
		if (entries_array_extent(log, &array, &x) != -EBADMSG)
			fail_msg("%s", r->what);
	}
	assert_int_equal(entries_volume_count(log), 0);
	entries_free(log);
}

static void test_no_axes_and_no_bytes_are_refused(void **state)
{
	struct entries *log = entries_new();
	struct entry_array array = sound;
	struct entry_extent x;

	(void)state;
	array.rank = 0;
	assert_int_equal(entries_array_extent(log, &array, &x), -EBADMSG);
	array = sound;
	array.item = 0;
	assert_int_equal(entries_array_extent(log, &array, &x), -EBADMSG);
	entries_free(log);
}

static const struct entry_tile bad[] = {
	{ 1000, 1, 0 }, { 990, 11, 0 }, { UINT64_MAX, 2, 0 }, { UINT64_MAX - 1, 1, 0 },
	{ 0, UINT64_C(1) << 32, 0 }, { 0, VOLUME_CHUNK_LIMIT + 1, 0 },
};

static void test_tiles_must_lie_within_the_source(void **state)
{
	size_t i = unit_row(state);
	struct entries *log = entries_new();
	struct entry_extent x;
	struct entry_tile copy[COUNT(tiles)];
	struct entry_array array = sound;

	memcpy(copy, tiles, sizeof(tiles));
	copy[i] = bad[i];
	array.tiles = copy;
	array.source_size = i < 4 ? 1000 : UINT64_C(1) << 40;
	assert_int_equal(entries_array_extent(log, &array, &x), -EBADMSG);
	entries_free(log);
}

/* ---- In the index ------------------------------------------------------- */

/* Files that are rows of a volume: 60 bytes each. */
static void add_rows(struct entries *log, const char *prefix, struct entry_extent x)
{
	for (uint32_t i = 0; i < 4; i++) {
		char path[16];
		struct entry_extent row = { .offset = i * 60, .length = 60,
					    .volume = x.volume };

		snprintf(path, sizeof(path), "%s%u", prefix, i);
		kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = path, .size = 60,
					      .extents = &row, .extent_count = 1 });
	}
}

static struct index *two_arrays(void)
{
	struct entries *log = entries_new();
	struct entry_array plain = sound;
	struct entry_extent x;

	plain.fill = NULL;
	assert_int_equal(entries_literal_extent(log, "literal", 7, &x), 0);
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = "text", .size = 7,
				      .extents = &x, .extent_count = 1 });
	assert_int_equal(entries_array_extent(log, &plain, &x), 0);
	add_rows(log, "a", x);
	assert_int_equal(entries_array_extent(log, &sound, &x), 0);
	add_rows(log, "b", x);
	return kit_index_of(log);
}

static void expect_row(const struct index *index, const char *path, uint64_t offset,
		       bool filled)
{
	const struct tree *tree = index_tree(index);
	struct array_measure measure;
	struct volume_array array;
	struct volume_desc volume;
	struct volume_chunk tile;
	struct tree_piece piece;
	uint64_t number, first;
	char fill[2];

	assert_int_equal(tree_piece(tree, kit_node(tree, path), 0, &piece), 0);
	assert_int_equal(piece.offset, offset);
	assert_int_equal(index_volume(index, piece.volume, &volume), 0);
	assert_int_equal(index_array(index, &volume, &array, &measure), 0);
	assert_int_equal(measure.bytes, 240);
	assert_int_equal(measure.tile_bytes, 64);
	assert_int_equal(array.filled, filled);
	if (filled) {
		assert_int_equal(index_read_literals(index, fill, 2, array.fill), 0);
		assert_memory_equal(fill, "ff", 2);
	}
	assert_int_equal(index_tile(index, &volume, 0, &first, &tile), 0);
	for (uint64_t i = 0; i < COUNT(tiles); i++) {
		assert_int_equal(index_tile(index, &volume, i, &number, &tile), 0);
		assert_int_equal(number, first + i);
		assert_int_equal(tile.stored_at, tiles[i].stored_at);
		assert_int_equal(tile.stored_length, tiles[i].stored_length);
		assert_int_equal(tile.skipped, tiles[i].skipped);
	}
	assert_int_equal(index_tile(index, &volume, 6, &number, &tile), -EIO);
	assert_int_equal(index_tile(index, &volume, UINT64_MAX, &number, &tile), -EIO);
}

static void test_rows_are_files_of_one_volume(void **state)
{
	struct index *index = two_arrays();
	struct error e = { 0 };
	char literal[7];

	(void)state;
	assert_int_equal(index_check(index, &e), 0);
	assert_int_equal(index_volume_count(index), 3);
	expect_row(index, "a0", 0, false);
	expect_row(index, "a3", 180, false);
	expect_row(index, "b2", 120, true);
	assert_int_equal(index_read_literals(index, literal, 7, 0), 0);
	assert_memory_equal(literal, "literal", 7);
	index_close(index);
}

/* ---- Where elements are ------------------------------------------------- */

static const struct volume_array turned = {
	.rank = 3, .item = 2, .dims = { 6, 5, 4 }, .tile = { 4, 2, 4 }, .order = { 2, 0, 1 },
};

/* Element by element, in the order of the volume: 4 x 6 x 5. */
static void test_elements_are_found(void **state)
{
	struct array_measure measure;
	struct array_spot spot;
	uint64_t number = 0;

	(void)state;
	assert_int_equal(array_measure(&turned, &measure), 0);
	assert_int_equal(measure.tiles, 6);
	for (uint64_t c = 0; c < 4; c++)
		for (uint64_t a = 0; a < 6; a++)
			for (uint64_t b = 0; b < 5; b++) {
				array_find(&turned, &measure, number++, &spot);
				assert_int_equal(spot.tile, a / 4 * 3 + b / 2);
				assert_int_equal(spot.inside, (a % 4 * 2 + b % 2) * 4 + c);
				assert_int_equal(spot.run, b % 2 || b == 4 ? 1 : 2);
				assert_int_equal(spot.straight, b % 2 || b == 4);
			}
}

static void test_runs_go_on_over_whole_rows(void **state)
{
	static const struct volume_array rows = { .rank = 3, .item = 1,
						  .dims = { 10, 3, 4 }, .tile = { 4, 3, 4 },
						  .order = { 0, 1, 2 } };
	struct array_measure measure;
	struct array_spot spot;

	(void)state;
	assert_int_equal(array_measure(&rows, &measure), 0);
	array_find(&rows, &measure, 0, &spot);
	assert_int_equal(spot.run, 48);
	array_find(&rows, &measure, 12, &spot);
	assert_int_equal(spot.run, 36);
	assert_true(spot.straight);
	array_find(&rows, &measure, 13, &spot);
	assert_int_equal(spot.run, 3);
	array_find(&rows, &measure, 96, &spot);
	assert_int_equal(spot.tile, 2);
	assert_int_equal(spot.run, 24);
}

static const struct CMUnitTest arrays[] = {
	cmocka_unit_test(test_an_array_is_kept_in_the_log),
	cmocka_unit_test(test_numbers_that_make_no_sense_are_refused),
	cmocka_unit_test(test_no_axes_and_no_bytes_are_refused),
	unit_rows(test_tiles_must_lie_within_the_source, bad),
	cmocka_unit_test(test_rows_are_files_of_one_volume),
	cmocka_unit_test(test_elements_are_found),
	cmocka_unit_test(test_runs_go_on_over_whole_rows),
};

UNIT_MAIN(arrays)
