/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the bytes of files lie that are rows of an array. */
#include "config.h"
#if WITH_LZ4
#include "dataset/kit.h"

#include "codec/codec.h"

/* 6 samples of 3 planes of 4 x 5 bytes in tiles of 2 samples. */
enum { SAMPLE = 60, SAMPLES = 6 };

static const struct entry_tile tiles[] = { { 1000, 120, 0 }, { 0, 0, 0 }, { 500, 120, 1 } };

static void add_samples(struct made *made, const char *prefix, const uint32_t *codecs,
			bool pixels)
{
	struct entry_array array = {
		.source_size = made->sizes[0], .rank = 4, .item = 1,
		.dims = { SAMPLES, 3, 4, 5 }, .tile = { 2, 3, 4, 5 }, .order = { 0, 1, 2, 3 },
		.codecs = codecs, .tiles = tiles, .tile_count = COUNT(tiles),
	};
	struct entry_extent all;

	if (pixels)
		memcpy(array.order, (uint8_t[]){ 0, 2, 3, 1 }, 4);
	assert_int_equal(entries_array_extent(made->log, &array, &all), 0);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct entry_extent one = { .offset = i * SAMPLE, .length = SAMPLE,
					    .volume = all.volume };
		char path[16];

		snprintf(path, sizeof(path), "%s%u", prefix, i);
		made_pieces(made, path, SAMPLE, &one, 1);
	}
}

static struct dataset *open_samples(void)
{
	static const uint64_t sizes[MADE_SOURCES] = { 4096 };
	static const uint32_t plain[VOLUME_CODECS], lz4[VOLUME_CODECS] = { CODEC_LZ4 };
	struct made made;

	made_begin(&made, sizes);
	add_samples(&made, "row", plain, false);
	add_samples(&made, "pixels", plain, true);
	add_samples(&made, "coded", lz4, false);
	return made_open(&made);
}

/* The sentence about a byte of a file. */
static const struct {
	const char *path;
	uint64_t from;
	struct dataset_place is;
	const char *codecs;
} places[] = {
	{ "row0", 0, { .length = 60, .offset = 1000, .stored = 60 }, "" },
	{ "row1", 7, { .length = 3, .offset = 1067, .stored = 3 }, "" },
	{ "row1", 20, { .length = 40, .offset = 1080, .stored = 40 }, "" },
	{ "row5", 0, { .length = 60, .offset = 560, .stored = 60 }, "" },
	{ "pixels1", 0, { .length = 60, .offset = 1000, .stored = 120, .chunked = true,
			  .inside = 60 }, "" },
	{ "pixels1", 4, { .length = 2, .offset = 1000, .stored = 120, .chunked = true,
			  .inside = 81 }, "" },
	{ "coded0", 0, { .length = 60, .offset = 1000, .stored = 120, .chunked = true }, "lz4" },
	{ "coded4", 0, { .length = 60, .offset = 500, .stored = 60 }, "" },
};

static void test_each_byte_has_a_place(void **state)
{
	size_t i = unit_row(state);
	struct dataset *dataset = open_samples();
	struct dataset_place got;
	const struct dataset_place *want = &places[i].is;

	assert_int_equal(dataset_place(dataset, made_node(dataset, places[i].path),
				       places[i].from, &got), 0);
	assert_non_null(got.source);
	assert_string_equal(got.codecs, places[i].codecs);
	if (got.length != want->length || got.offset != want->offset ||
	    got.stored != want->stored || got.inside != want->inside ||
	    got.chunked != want->chunked || got.hole)
		fail_msg("%s at %llu: %llu bytes at %llu, %llu stored, inside %llu",
			 places[i].path, (unsigned long long)places[i].from,
			 (unsigned long long)got.length,
			 (unsigned long long)got.offset,
			 (unsigned long long)got.stored,
			 (unsigned long long)got.inside);
	dataset_close(dataset);
}

/* All of a file in places, one behind the other; what lies as it is, is as it is. */
static void test_places_follow_each_other(void **state)
{
	struct dataset *dataset = open_samples();

	(void)state;
	for (unsigned i = 0; i < 2 * SAMPLES; i++) {
		unsigned char bytes[SAMPLE];
		struct dataset_place place;
		uint64_t at = 0;
		uint32_t node;
		char path[16];

		snprintf(path, sizeof(path), i % 2 ? "pixels%u" : "row%u", i / 2);
		node = made_node(dataset, path);
		assert_int_equal(dataset_read(dataset, node, bytes, SAMPLE, 0, PLAIN_READ),
				 SAMPLE);
		for (; at < SAMPLE; at += place.length) {
			assert_int_equal(dataset_place(dataset, node, at, &place), 0);
			assert_in_range(place.length, 1, SAMPLE - at);
			for (uint64_t k = 0; k < place.length && !place.chunked; k++)
				assert_int_equal(bytes[at + k], place.source ?
						 made_byte(0, place.offset + k) : 0);
		}
		assert_int_equal(at, SAMPLE);
	}
	dataset_close(dataset);
}

static const struct CMUnitTest places_of_arrays[] = {
	unit_table(test_each_byte_has_a_place, places, path),
	cmocka_unit_test(test_places_follow_each_other),
};

UNIT_MAIN(places_of_arrays)

#else
#include "left_out.h"
#endif
