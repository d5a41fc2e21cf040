/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays whose index was made to do harm: errors, and bytes that are there. */
#include "build/kit.h"

#include <errno.h>

#include "codec/codec.h"
#include "index/layout.h"
#include "source/memory_source.h"
#include "volume/volume.h"

enum { SOURCE_BYTES = 4096, ARRAYS = 2, READ_BYTES = 3000 };

static const unsigned char stored[SOURCE_BYTES];

/* Volume 0: rows as they are; volume 1: planes to pixels, coded, some not stored. */
static void add_arrays(struct entries *log)
{
	static const uint32_t plain[VOLUME_CODECS], lz4[VOLUME_CODECS] = { CODEC_LZ4 };
	static const struct entry_tile tiles[] = {
		{ 100, 240, 1 }, { 0, 0, 0 }, { 400, 50, 0 }, { 700, 240, 1 },
	};
	struct entry_array array = {
		.source_size = SOURCE_BYTES, .rank = 4, .item = 2, .dims = { 7, 3, 5, 4 },
		.tile = { 2, 3, 5, 4 }, .order = { 0, 2, 3, 1 }, .codecs = lz4,
		.tiles = tiles, .tile_count = COUNT(tiles), .fill = "ff",
	};
	struct entry_array rows = {
		.source_size = SOURCE_BYTES, .rank = 2, .item = 4, .dims = { 7, 30 },
		.tile = { 2, 30 }, .order = { 0, 1 }, .codecs = plain,
		.tiles = tiles, .tile_count = COUNT(tiles),
	};
	const struct entry_array *arrays[ARRAYS] = { &rows, &array };

	for (uint32_t i = 0; i < ARRAYS; i++) {
		char path[] = { (char)('a' + i), '\0' };
		struct entry_extent x;

		assert_int_equal(entries_array_extent(log, arrays[i], &x), 0);
		kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = path,
					      .size = x.length, .extents = &x,
					      .extent_count = 1 });
	}
}

static uint8_t *make_bytes(size_t *size)
{
	struct entries *log = entries_new();

	add_arrays(log);
	return kit_bytes_of(log, size);
}

static const uint64_t numbers[] = { 0, 1, 2, 3, 5, 8, 9, 255, 839, 841, 1 << 20,
				    (1 << 20) + 1, 1U << 30, UINT32_MAX, UINT64_C(1) << 40,
				    UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX };

/* Reads end, within their buffer: from anywhere where there may be something. */
static void read_all(const struct volume_table *table)
{
	static unsigned char buffer[READ_BYTES + 1];

	for (uint32_t volume = 0; volume < ARRAYS; volume++) {
		uint64_t length = table->volumes[volume].desc.length;

		for (size_t i = 0; i < 3; i++) {
			uint64_t offset = i == 0 ? 0 : i == 1 ? length / 2 : length - 7;
			uint64_t rest = offset < length ? length - offset : 100;
			size_t n = rest < READ_BYTES ? rest : READ_BYTES;
			struct volume_span span;
			uint64_t at;
			int err;

			buffer[n] = 0xdd;
			err = volume_pread(table, volume, buffer, n, offset, PLAIN_READ);
			assert_true(err == 0 || err == -EIO || err == -EBADMSG ||
				    err == -ENOMEM);
			assert_int_equal(buffer[n], 0xdd);
			if (volume_span(table, volume, offset, n, &span))
				assert_true(span.start < span.end &&
					    span.end <= SOURCE_BYTES);
			volume_locate(table, volume, offset, &at);
		}
	}
}

static void try_index(const uint8_t *bytes, size_t size, const struct source_set *sources)
{
	struct volume_table table;
	struct index *index;
	struct error e = { 0 };

	assert_int_equal(kit_open_bytes(bytes, size, &index, &e), 0);
	assert_int_equal(volume_table_open(index, sources, &table), 0);
	read_all(&table);
	if (index_check(index, &e) < 0)
		assert_true(e.text[0] != '\0');
	volume_table_close(&table);
	index_close(index);
}

/* Writes each number over each word of a section in turn. */
static void try_section(const uint8_t *bytes, size_t size, unsigned section,
			const struct source_set *sources)
{
	uint8_t *copy = malloc(size);
	size_t length, at = kit_section(bytes, section, &length);

	assert_non_null(copy);
	assert_true(length > 0);
	for (size_t word = 0; word + 4 <= length; word += 4) {
		for (size_t i = 0; i < 2 * COUNT(numbers); i++) {
			size_t n = i % 2 || word + 8 > length ? 4 : 8;

			memcpy(copy, bytes, size);
			memcpy(copy + at + word, &numbers[i / 2], n);
			kit_fix_sums(copy);
			try_index(copy, size, sources);
		}
	}
	free(copy);
}

static void test_any_number_anywhere_ends(void **state)
{
	struct source_set sources = memory_set("stored", stored, sizeof(stored));
	size_t size;
	uint8_t *bytes = make_bytes(&size);

	(void)state;
	try_index(bytes, size, &sources);
	try_section(bytes, size, SECTION_ARRAYS, &sources);
	try_section(bytes, size, SECTION_VOLUMES, &sources);
	try_section(bytes, size, SECTION_CHUNKS, &sources);
	source_set_close(&sources);
	free(bytes);
}

/* Two numbers at once: larger tiles of which there are fewer, and the like. */
static void test_random_numbers_end(void **state)
{
	struct source_set sources = memory_set("stored", stored, sizeof(stored));
	uint32_t random = 1;
	size_t size, length;
	uint8_t *bytes = make_bytes(&size), *copy = malloc(size);
	size_t at = kit_section(bytes, SECTION_ARRAYS, &length);

	(void)state;
	assert_non_null(copy);
	for (int round = 0; round < 5000; round++) {
		memcpy(copy, bytes, size);
		for (int i = 0; i < 3; i++) {
			random = random * 1664525 + 1013904223;
			copy[at + (random >> 8) % (length / 8) * 8] =
				(uint8_t)((random >> 24) % 12);
		}
		kit_fix_sums(copy);
		try_index(copy, size, &sources);
	}
	source_set_close(&sources);
	free(copy);
	free(bytes);
}

static const struct CMUnitTest array_hostile[] = {
	cmocka_unit_test(test_any_number_anywhere_ends),
	cmocka_unit_test(test_random_numbers_end),
};

UNIT_MAIN(array_hostile)
