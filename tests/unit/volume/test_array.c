/* SPDX-License-Identifier: GPL-3.0-or-later */
/* granary-test: CFLAGS += $(CODECS_CFLAGS) */
/* Arrays in tiles, against going through all of their elements one by one. */
#include "config.h"
#if WITH_LZ4
#include "build/kit.h"

#include <errno.h>
#include <lz4.h>
#include <stdatomic.h>

#include "codec/codec.h"
#include "stats/stats.h"
#include "index/array_tiles.h"
#include "os/pool.h"
#include "source/memory_source.h"
#include "volume/volume.h"

enum {
	STORED_BYTES = 1 << 20,
	TILES = 1 << 15,
	BYTES = 1 << 18, /* of an array */
	CASES = 600,
	READS = 60,
};

static const unsigned char fill_element[] = "fill in this one";

/* An array, where its tiles are stored, and what its volume should hold. */
struct fixture {
	struct entry_array is;
	uint32_t codecs[VOLUME_CODECS];
	struct entry_tile tiles[TILES];
	unsigned char *stored, *wanted;
	size_t used, bytes;
	struct index *index;
	struct source_set sources;
	struct volume_table table;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static uint64_t below(uint64_t *seed, uint64_t limit)
{
	return next_random(seed) % limit;
}

static unsigned char stored_byte(uint64_t element, uint32_t byte)
{
	return (unsigned char)(element * 31 + element / 250 + byte * 5);
}

/* ---- Storing it --------------------------------------------------------- */

static size_t shuffled(unsigned char *bytes, size_t n, uint32_t item)
{
	unsigned char *copy = malloc(n);

	memcpy(copy, bytes, n);
	for (size_t i = 0; i < n; i++)
		bytes[i % item * (n / item) + i / item] = copy[i];
	free(copy);
	return n;
}

/* Does to the bytes of a tile what its chain says. */
static void store_tile(struct fixture *f, struct entry_tile *tile, unsigned char *bytes,
		       size_t n)
{
	f->used += 5; /* whatever lies between them */
	tile->stored_at = f->used;
	tile->stored_length = n;
	for (unsigned i = 0; i < VOLUME_CODECS && f->codecs[i]; i++) {
		if (tile->skipped >> i & 1)
			continue;
		if (f->codecs[i] != CODEC_STEP(CODEC_LZ4, 0)) {
			shuffled(bytes, n, f->is.item);
			continue;
		}
		tile->stored_length = (uint64_t)LZ4_compress_default(
			(char *)bytes, (char *)f->stored + f->used, (int)n,
			STORED_BYTES - (int)f->used);
		f->used += tile->stored_length;
		return;
	}
	assert_in_range(f->used + n, 1, STORED_BYTES);
	memcpy(f->stored + f->used, bytes, n);
	f->used += n;
}

/* Row after row of `shape`, from the number to the places along the axes. */
static void places(const uint64_t *shape, uint32_t rank, uint64_t number, uint64_t *out)
{
	for (uint32_t k = rank; k-- > 0; number /= shape[k])
		out[k] = number % shape[k];
}

/* The number of an element in the stored order, or -1 beyond the edge. */
static int64_t element_of_tile(const struct entry_array *a, const uint64_t *grid,
			       uint64_t inside)
{
	uint64_t at[VOLUME_RANK];
	int64_t number = 0;

	places(a->tile, a->rank, inside, at);
	for (uint32_t k = 0; k < a->rank; k++) {
		at[k] += grid[k] * a->tile[k];
		if (at[k] >= a->dims[k])
			return -1;
		number = number * (int64_t)a->dims[k] + (int64_t)at[k];
	}
	return number;
}

static void store(struct fixture *f, uint64_t *seed)
{
	struct entry_array *a = &f->is;
	uint64_t shape[VOLUME_RANK], grid[VOLUME_RANK], elements = 1;
	unsigned char *bytes;

	a->tile_count = 1;
	for (uint32_t k = 0; k < a->rank; k++) {
		shape[k] = (a->dims[k] + a->tile[k] - 1) / a->tile[k];
		a->tile_count *= shape[k];
		elements *= a->tile[k];
	}
	assert_in_range(a->tile_count, 1, TILES);
	bytes = malloc(elements * a->item);
	for (uint64_t t = 0; t < a->tile_count; t++) {
		struct entry_tile *tile = &f->tiles[t];

		*tile = (struct entry_tile){ .skipped = (uint32_t)below(seed, 4) };
		if (below(seed, 8) == 0)
			continue;
		places(shape, a->rank, t, grid);
		for (uint64_t i = 0; i < elements; i++) {
			int64_t number = element_of_tile(a, grid, i);

			for (uint32_t b = 0; b < a->item; b++)
				bytes[i * a->item + b] = number < 0 ? 0xee :
						 stored_byte((uint64_t)number, b);
		}
		store_tile(f, tile, bytes, elements * a->item);
	}
	free(bytes);
	a->tiles = f->tiles;
	a->codecs = f->codecs;
	a->source_size = STORED_BYTES;
}

/* ---- What is wanted of it ----------------------------------------------- */

static bool is_stored(const struct fixture *f, const uint64_t *at)
{
	uint64_t tile = 0;

	for (uint32_t k = 0; k < f->is.rank; k++)
		tile = tile * ((f->is.dims[k] + f->is.tile[k] - 1) / f->is.tile[k]) +
		       at[k] / f->is.tile[k];
	return f->tiles[tile].stored_length > 0;
}

static void want(struct fixture *f)
{
	const struct entry_array *a = &f->is;
	uint64_t shape[VOLUME_RANK], place[VOLUME_RANK], at[VOLUME_RANK], elements = 1;

	for (uint32_t k = 0; k < a->rank; k++) {
		shape[k] = a->dims[a->order[k]];
		elements *= shape[k];
	}
	f->bytes = elements * a->item;
	assert_in_range(f->bytes, 1, BYTES);
	for (uint64_t i = 0; i < elements; i++) {
		uint64_t number = 0;
		bool there;

		places(shape, a->rank, i, place);
		for (uint32_t k = 0; k < a->rank; k++)
			at[a->order[k]] = place[k];
		for (uint32_t k = 0; k < a->rank; k++)
			number = number * a->dims[k] + at[k];
		there = is_stored(f, at);
		for (uint32_t b = 0; b < a->item; b++)
			f->wanted[i * a->item + b] =
				there ? stored_byte(number, b) :
				a->fill ? fill_element[b] : 0;
	}
}

/* ---- Making and reading ------------------------------------------------- */

static struct fixture *new_fixture(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->stored = calloc(1, STORED_BYTES);
	f->wanted = calloc(1, BYTES);
	assert_true(f->stored && f->wanted);
	return f;
}

static void shape_at_random(struct fixture *f, uint64_t *seed)
{
	static const uint32_t items[] = { 1, 1, 2, 3, 4, 8, 12, 16 };
	struct entry_array *a = &f->is;

	a->rank = 1 + (uint32_t)below(seed, 5);
	a->item = items[below(seed, COUNT(items))];
	a->fill = below(seed, 2) ? fill_element : NULL;
	for (uint32_t k = 0; k < a->rank; k++) {
		a->dims[k] = 1 + below(seed, a->rank > 3 ? 6 : 13);
		a->tile[k] = 1 + below(seed, below(seed, 2) ? 4 : a->dims[k] + 2);
		if (below(seed, 4) == 0)
			a->tile[k] = a->dims[k];
		a->order[k] = (uint8_t)k;
	}
	for (uint32_t k = a->rank - 1; k > 0 && below(seed, 4); k--) {
		uint32_t other = (uint32_t)below(seed, k + 1);
		uint8_t axis = a->order[k];

		a->order[k] = a->order[other];
		a->order[other] = axis;
	}
	if (below(seed, 3))
		f->codecs[0] = CODEC_STEP(CODEC_LZ4, 0);
	if (f->codecs[0] && below(seed, 2)) {
		f->codecs[1] = f->codecs[0];
		f->codecs[0] = CODEC_STEP(CODEC_SHUFFLE, a->item);
	}
}

static void open_fixture(struct fixture *f)
{
	struct entries *log = entries_new();
	struct entry_extent extent;
	struct entry entry = { .kind = ENTRY_FILE, .path = "all", .extents = &extent,
			       .extent_count = 1 };

	assert_int_equal(entries_array_extent(log, &f->is, &extent), 0);
	assert_int_equal(extent.length, f->bytes);
	entry.size = extent.length;
	kit_add(log, &entry);
	f->index = kit_index_of(log);
	assert_int_equal(index_check(f->index, NULL), 0);
	f->sources = memory_set("stored", f->stored, STORED_BYTES);
	assert_int_equal(volume_table_open(f->index, &f->sources, &f->table), 0);
}

static void close_fixture(struct fixture *f)
{
	volume_table_close(&f->table);
	source_set_close(&f->sources);
	index_close(f->index);
	free(f->stored);
	free(f->wanted);
	free(f);
}

static bool reads_well(const struct fixture *f, size_t length, uint64_t offset)
{
	unsigned char *got = malloc(length + 1);
	bool well;

	got[length] = 0xdd;
	well = volume_pread(&f->table, 0, got, length, offset, PLAIN_READ) == 0 &&
	       memcmp(got, f->wanted + offset, length) == 0 && got[length] == 0xdd;
	free(got);
	return well;
}

static void describe(const struct fixture *f, uint64_t number, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "case %llu, item %u, codecs %x %x:",
				    (unsigned long long)number, f->is.item, f->codecs[0],
				    f->codecs[1]);

	for (uint32_t k = 0; k < f->is.rank && n < size; k++)
		n += (size_t)snprintf(out + n, size - n, " %llu/%llu>%u",
				      (unsigned long long)f->is.dims[k],
				      (unsigned long long)f->is.tile[k], f->is.order[k]);
}

static void read_at_random(const struct fixture *f, uint64_t number, uint64_t *seed)
{
	char what[300];

	describe(f, number, what, sizeof(what));
	for (int i = 0; i < READS; i++) {
		uint64_t offset = below(seed, f->bytes);
		size_t length = below(seed, f->bytes - offset + 1);

		if (i % 3 == 0)
			length %= 20;
		if (i == 0)
			offset = 0, length = f->bytes;
		if (!reads_well(f, length, offset))
			fail_msg("%s: %zu bytes at %llu", what, length,
				 (unsigned long long)offset);
	}
}

static void test_any_array_reads_as_element_by_element(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= CASES; number++) {
		uint64_t seed = number * UINT64_C(0x9e3779b97f4a7c15);
		struct fixture *f = new_fixture();

		shape_at_random(f, &seed);
		store(f, &seed);
		want(f);
		open_fixture(f);
		read_at_random(f, number, &seed);
		close_fixture(f);
	}
}

/* ---- Images ------------------------------------------------------------- */

/* Planes of 16 samples in tiles of four, to be pixels. */
static struct fixture *planar(uint32_t codec)
{
	struct fixture *f = new_fixture();
	uint64_t seed = 3;

	f->is = (struct entry_array){ .rank = 4, .item = 1, .dims = { 16, 3, 40, 30 },
				      .tile = { 4, 3, 40, 30 }, .order = { 0, 2, 3, 1 } };
	f->codecs[0] = codec;
	store(f, &seed);
	want(f);
	open_fixture(f);
	return f;
}

static const size_t sample_bytes = (size_t)3 * 40 * 30;

static void test_a_tile_is_decoded_once(void **state)
{
	struct fixture *f = planar(CODEC_STEP(CODEC_LZ4, 0));
	uint64_t before = stats_get(COUNTER_chunks_decoded), stored = 0;

	(void)state;
	for (size_t i = 0; i < f->is.tile_count; i++)
		stored += f->tiles[i].stored_length > 0 && !(f->tiles[i].skipped & 1);
	assert_in_range(stored, 1, 4);
	for (unsigned round = 1; round <= 3; round++) {
		for (uint64_t i = 0; i < 16; i++)
			assert_true(reads_well(f, sample_bytes, i * sample_bytes));
		/* all of them has been read: the next round decodes anew */
		assert_int_equal(stats_get(COUNTER_chunks_decoded) - before, round * stored);
	}
	close_fixture(f);
}

/* Without a codec nothing is kept: the bytes are read where they lie. */
static void test_plain_tiles_are_read_in_place(void **state)
{
	struct fixture *f = planar(0);
	uint64_t before = stats_get(COUNTER_chunks_decoded);
	struct volume_span span;
	unsigned tile = f->tiles[1].stored_length ? 1 : 2;

	(void)state;
	for (uint64_t i = 0; i < 16; i++)
		assert_true(reads_well(f, sample_bytes, i * sample_bytes));
	assert_int_equal(stats_get(COUNTER_chunks_decoded), before);
	assert_true(volume_span(&f->table, 0, (4 * tile + 2) * sample_bytes, sample_bytes,
				&span));
	assert_int_equal(span.start, f->tiles[tile].stored_at + 2 * sample_bytes);
	assert_int_equal(span.end - span.start, sample_bytes);
	close_fixture(f);
}

static void test_spans_are_of_whole_coded_tiles(void **state)
{
	struct fixture *f = planar(CODEC_STEP(CODEC_LZ4, 0));
	struct volume_span span;
	uint64_t at;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t offset = (4 * i + 3) * sample_bytes;
		const struct entry_tile *tile = &f->tiles[i];
		bool coded = !(tile->skipped & 1), there = tile->stored_length > 0;

		assert_int_equal(volume_span(&f->table, 0, offset, 100, &span), there);
		if (there && coded) {
			assert_int_equal(span.start, tile->stored_at);
			assert_int_equal(span.end, tile->stored_at + tile->stored_length);
		}
		assert_string_equal(volume_locate(&f->table, 0, offset, &at), "stored");
		assert_int_equal(at, there ? tile->stored_at : offset);
	}
	assert_false(volume_is_plain(&f->table, 0));
	assert_false(volume_span(&f->table, 0, f->bytes, 1, &span));
	assert_int_equal(volume_pread(&f->table, 0, &at, 1, f->bytes, PLAIN_READ), -EIO);
	assert_int_equal(volume_pread(&f->table, 0, &at, 8, UINT64_MAX - 3, PLAIN_READ),
			 -EIO);
	assert_int_equal(volume_check(&f->table, 0, 0, 10, PLAIN_READ), 0);
	close_fixture(f);
}

/* The last tile of what is not tiled in its file ends where the array does. */
static void test_a_last_tile_may_be_cut_off(void **state)
{
	struct fixture *f = new_fixture();
	unsigned char byte;

	(void)state;
	f->is = (struct entry_array){ .rank = 2, .item = 4, .dims = { 10, 25 },
				      .tile = { 4, 25 }, .order = { 0, 1 },
				      .source_size = STORED_BYTES, .tile_count = 3,
				      .tiles = f->tiles, .codecs = f->codecs };
	for (size_t i = 0; i < 1000; i++)
		f->wanted[i] = f->stored[77 + i] = stored_byte(i / 4, i % 4);
	for (unsigned i = 0; i < 3; i++)
		f->tiles[i] = (struct entry_tile){ 77 + i * 400, i < 2 ? 400 : 200, 0 };
	f->bytes = 1000;
	open_fixture(f);
	for (uint64_t at = 0; at < 1000; at += 7)
		assert_true(reads_well(f, 1000 - at, at));
	close_fixture(f);

	f = new_fixture();
	f->is = (struct entry_array){ .rank = 1, .item = 1, .dims = { 50 }, .tile = { 50 },
				      .source_size = STORED_BYTES, .tile_count = 1,
				      .tiles = f->tiles, .codecs = f->codecs };
	f->tiles[0] = (struct entry_tile){ 9, 40, 0 };
	f->bytes = 50;
	open_fixture(f);
	assert_true(reads_well(f, 40, 0));
	assert_int_equal(volume_pread(&f->table, 0, &byte, 1, 40, PLAIN_READ), -EBADMSG);
	close_fixture(f);
}

/* ---- Threads ------------------------------------------------------------ */

struct reader {
	const struct fixture *f;
	uint64_t seed;
	_Atomic unsigned *wrong;
};

static void read_much(void *argument)
{
	struct reader *reader = argument;

	for (int i = 0; i < 1000; i++) {
		uint64_t offset = below(&reader->seed, reader->f->bytes);
		size_t length = below(&reader->seed, reader->f->bytes - offset + 1);

		if (!reads_well(reader->f, length, offset))
			atomic_fetch_add(reader->wrong, 1);
	}
}

static void test_many_threads_read_the_same_bytes(void **state)
{
	struct fixture *f = planar(CODEC_STEP(CODEC_LZ4, 0));
	struct reader readers[16];
	_Atomic unsigned wrong = 0;
	struct pool *pool;

	(void)state;
	assert_int_equal(pool_start(&pool, COUNT(readers)), 0);
	for (unsigned i = 0; i < COUNT(readers); i++) {
		readers[i] = (struct reader){ f, 77777 + i, &wrong };
		assert_int_equal(pool_add(pool, read_much, &readers[i]), 0);
	}
	pool_finish(pool);
	assert_int_equal(wrong, 0);
	close_fixture(f);
}

static const struct CMUnitTest array[] = {
	cmocka_unit_test(test_any_array_reads_as_element_by_element),
	cmocka_unit_test(test_a_tile_is_decoded_once),
	cmocka_unit_test(test_plain_tiles_are_read_in_place),
	cmocka_unit_test(test_spans_are_of_whole_coded_tiles),
	cmocka_unit_test(test_a_last_tile_may_be_cut_off),
	cmocka_unit_test(test_many_threads_read_the_same_bytes),
};

UNIT_MAIN(array)

#else
#include "left_out.h"
#endif
