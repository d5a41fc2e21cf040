/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coded volumes: chunks that are decoded through the cache. */
#include "config.h"
#if WITH_LZ4
#include "build/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cache/cache_check.h"
#include "codec/codec.h"
#include "stats/stats.h"
#include "index/layout.h"
#include "os/pool.h"
#include "volume/volume.h"

enum {
	PLAIN = 1000, /* bytes of a chunk */
	GOOD = 50,    /* chunks of the first volume */
	SOURCE_BYTES = 1 << 20,
	LZ4 = CODEC_STEP(CODEC_LZ4, 0),
	SHUFFLE = CODEC_STEP(CODEC_SHUFFLE, 4),
};

/* The volumes of the index, by number. */
enum volumes {
	WELL, SKIPPED, TWO_STEPS, UNKNOWN, TWO_COMPRESSORS, SHORT, LONG, BEYOND,
	NOTHING_STORED, TOO_MUCH_STORED, DAMAGED, NO_SOURCE, NO_CHUNKS, VOLUMES
};

struct fixture {
	struct image image;
	struct index *index;
	struct source_set sources;
	struct volume_table table;
	unsigned char stored[SOURCE_BYTES];
	size_t used;
	struct volume_chunk chunks[GOOD + 40];
	uint32_t chunk_count;
	struct layout_volume volumes[VOLUMES];
};

/* The byte of any volume at `offset`. */
static unsigned char byte_at(uint64_t offset)
{
	return (unsigned char)(offset * 7 + offset / 256 + offset / 65536);
}

static void fill(unsigned char *out, size_t n, uint64_t offset)
{
	for (size_t i = 0; i < n; i++)
		out[i] = byte_at(offset + i);
}

/* A block of LZ4 that is one run of literals: how long it is. */
static size_t write_lz4(unsigned char *out, const unsigned char *in, size_t n)
{
	size_t at = 0;

	out[at++] = (unsigned char)((n < 15 ? n : 15) << 4);
	if (n >= 15) {
		for (size_t left = n - 15;; left -= 255) {
			out[at++] = (unsigned char)(left < 255 ? left : 255);
			if (left < 255)
				break;
		}
	}
	memcpy(out + at, in, n);
	return at + n;
}

static void write_shuffled(unsigned char *out, const unsigned char *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i % 4 * (n / 4) + i / 4] = in[i];
}

/* The next chunk of a volume, `plain` bytes of it, all steps but the skipped done. */
static struct volume_chunk *add_chunk(struct fixture *f, enum volumes number,
				      uint32_t skipped, size_t plain)
{
	struct layout_volume *v = &f->volumes[number];
	struct volume_chunk *chunk = &f->chunks[f->chunk_count++];
	unsigned char bytes[2 * PLAIN], other[2 * PLAIN];
	bool shuffle = v->codecs[0] == SHUFFLE && !(skipped & 1);
	bool lz4 = !(skipped & (v->codecs[0] == SHUFFLE ? 2 : 1));
	size_t n = plain;

	assert_in_range(f->chunk_count, 1, COUNT(f->chunks));
	f->used += 13; /* whatever lies between them */
	fill(bytes, plain, v->length);
	if (shuffle) {
		write_shuffled(other, bytes, plain);
		memcpy(bytes, other, plain);
	}
	if (lz4)
		n = write_lz4(f->stored + f->used, bytes, plain);
	else
		memcpy(f->stored + f->used, bytes, plain);
	*chunk = (struct volume_chunk){ .start = v->length, .stored_at = f->used,
					.stored_length = (uint32_t)n, .skipped = skipped };
	f->used += n;
	if (v->chunk_count++ == 0)
		v->first_chunk = f->chunk_count - 1;
	v->length += PLAIN;
	return chunk;
}

static void begin_volume(struct fixture *f, enum volumes number, uint32_t first,
			 uint32_t second)
{
	f->volumes[number] = (struct layout_volume){ .kind = VOLUME_CODED,
						     .codecs = { first, second } };
}

static void add_sound_volumes(struct fixture *f)
{
	begin_volume(f, WELL, LZ4, 0);
	for (int i = 0; i < GOOD; i++)
		add_chunk(f, WELL, 0, PLAIN);
	begin_volume(f, SKIPPED, LZ4, 0);
	for (uint32_t i = 0; i < 3; i++)
		add_chunk(f, SKIPPED, i % 2, PLAIN);
	begin_volume(f, TWO_STEPS, SHUFFLE, LZ4);
	for (uint32_t i = 0; i < 4; i++)
		add_chunk(f, TWO_STEPS, i, PLAIN);
}

static void add_unsound_volumes(struct fixture *f)
{
	begin_volume(f, UNKNOWN, 99, 0);
	add_chunk(f, UNKNOWN, 1, PLAIN);
	begin_volume(f, TWO_COMPRESSORS, LZ4, LZ4);
	add_chunk(f, TWO_COMPRESSORS, 0, PLAIN);
	begin_volume(f, SHORT, LZ4, 0);
	add_chunk(f, SHORT, 0, PLAIN);
	add_chunk(f, SHORT, 0, 400);
	begin_volume(f, LONG, LZ4, 0);
	add_chunk(f, LONG, 0, PLAIN + 1);
	add_chunk(f, LONG, 1, PLAIN + 1);
	begin_volume(f, BEYOND, LZ4, 0);
	add_chunk(f, BEYOND, 0, PLAIN);
	add_chunk(f, BEYOND, 0, PLAIN)->stored_at = SOURCE_BYTES - 100;
	add_chunk(f, BEYOND, 0, PLAIN)->stored_at = UINT64_MAX - 10;
	begin_volume(f, NOTHING_STORED, LZ4, 0);
	add_chunk(f, NOTHING_STORED, 0, PLAIN)->stored_length = 0;
	add_chunk(f, NOTHING_STORED, 0, PLAIN);
	begin_volume(f, TOO_MUCH_STORED, LZ4, 0);
	add_chunk(f, TOO_MUCH_STORED, 0, PLAIN)->stored_length = UINT32_MAX;
	add_chunk(f, TOO_MUCH_STORED, 0, PLAIN)->stored_length = SOURCE_BYTES;
	add_chunk(f, TOO_MUCH_STORED, 0, PLAIN);
	begin_volume(f, DAMAGED, LZ4, 0);
	for (int i = 0; i < 3; i++)
		add_chunk(f, DAMAGED, 0, PLAIN);
	memset(f->stored + f->chunks[f->chunk_count - 2].stored_at, 0xff, 200);
	begin_volume(f, NO_SOURCE, LZ4, 0);
	add_chunk(f, NO_SOURCE, 0, PLAIN);
	f->volumes[NO_SOURCE].source = 1;
	begin_volume(f, NO_CHUNKS, LZ4, 0);
	f->volumes[NO_CHUNKS].length = PLAIN;
}

static struct fixture *open_fixture(void)
{
	char name[] = "stored", *names[] = { name };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	add_sound_volumes(f);
	add_unsound_volumes(f);
	unit_write("stored", f->stored, sizeof(f->stored));
	kit_image("d:d", &f->image);
	assert_true(image_append(&f->image, SECTION_VOLUMES, f->volumes,
				 sizeof(f->volumes)) >= 0);
	assert_true(image_append(&f->image, SECTION_CHUNKS, f->chunks,
				 f->chunk_count * sizeof(*f->chunks)) >= 0);
	f->index = kit_open(&f->image);
	assert_int_equal(source_set_open(names, 1, false, &f->sources, NULL), 0);
	assert_int_equal(volume_table_open(f->index, &f->sources, &f->table), 0);
	return f;
}

static void close_fixture(struct fixture *f)
{
	volume_table_close(&f->table);
	source_set_close(&f->sources);
	index_close(f->index);
	free(f);
}

static bool reads_well(const struct fixture *f, uint32_t volume, size_t length,
		       uint64_t offset)
{
	unsigned char got[4 * PLAIN + 1], wanted[4 * PLAIN];

	got[length] = 0xee;
	if (volume_pread(&f->table, volume, got, length, offset, PLAIN_READ) != 0)
		return false;
	fill(wanted, length, offset);
	return memcmp(got, wanted, length) == 0 && got[length] == 0xee;
}

static const size_t lengths[] = { 0, 1, 2, 999, 1000, 1001, 1999, 2000, 2001, 3001, 4000 };

static void test_reads_across_the_borders_of_chunks(void **state)
{
	struct fixture *f = open_fixture();

	(void)state;
	for (uint64_t at = 0; at < (uint64_t)GOOD * PLAIN; at += 111)
		for (size_t i = 0; i < COUNT(lengths); i++)
			if (at + lengths[i] <= (uint64_t)GOOD * PLAIN &&
			    !reads_well(f, WELL, lengths[i], at))
				fail_msg("%zu bytes at %llu", lengths[i],
					 (unsigned long long)at);
	assert_true(reads_well(f, WELL, 1, 999));
	assert_true(reads_well(f, WELL, 2, 999));
	assert_true(reads_well(f, WELL, 1, (uint64_t)GOOD * PLAIN - 1));
	close_fixture(f);
}

static void test_skipped_steps(void **state)
{
	struct fixture *f = open_fixture();

	(void)state;
	assert_true(reads_well(f, SKIPPED, 3 * PLAIN, 0));
	assert_true(reads_well(f, TWO_STEPS, 4 * PLAIN, 0));
	for (uint64_t i = 0; i < 4; i++)
		assert_true(reads_well(f, TWO_STEPS, PLAIN, i * PLAIN));
	close_fixture(f);
}

/* Kept until all of it has been given out, and no longer. */
static void test_a_chunk_is_decoded_once(void **state)
{
	struct fixture *f = open_fixture();
	uint64_t chunks = stats_get(COUNTER_chunks_decoded);
	uint64_t bytes = stats_get(COUNTER_chunk_bytes);
	uint64_t empty = cache_bytes(f->table.cache);

	(void)state;
	for (unsigned round = 1; round <= 3; round++) {
		for (uint64_t at = 0; at < (uint64_t)GOOD * PLAIN; at += 100)
			assert_true(reads_well(f, WELL, 100, at));
		assert_int_equal(stats_get(COUNTER_chunks_decoded) - chunks, round * GOOD);
		assert_int_equal(stats_get(COUNTER_chunk_bytes) - bytes,
				 round * GOOD * PLAIN);
	}
	assert_int_equal(cache_bytes(f->table.cache), empty);
	close_fixture(f);
}

/* A reader of all of a chunk gets it without a copy in the cache. */
static void test_a_whole_chunk_is_not_kept(void **state)
{
	struct fixture *f = open_fixture();
	uint64_t chunks = stats_get(COUNTER_chunks_decoded);
	uint64_t empty = cache_bytes(f->table.cache);

	(void)state;
	assert_true(reads_well(f, WELL, PLAIN, 0));
	assert_int_equal(cache_bytes(f->table.cache), empty);
	assert_true(reads_well(f, WELL, 10, PLAIN));
	assert_true(cache_bytes(f->table.cache) > empty);
	assert_true(reads_well(f, WELL, PLAIN, PLAIN)); /* the cache has it */
	assert_int_equal(stats_get(COUNTER_chunks_decoded) - chunks, 2);
	close_fixture(f);
}

/* Reads that fail, and the nearest ones that do not. */
static const struct {
	const char *what;
	uint32_t volume;
	uint64_t offset;
	size_t length;
	int result;
} bounds[] = {
	{ "past the end", WELL, GOOD * PLAIN, 1, -EIO },
	{ "across the end", WELL, GOOD * PLAIN - 1, 2, -EIO },
	{ "nothing at the end", WELL, GOOD * PLAIN, 0, 0 },
	{ "far behind", WELL, UINT64_MAX, 2, -EIO },
	{ "an unknown codec", UNKNOWN, 0, 1, -EIO },
	{ "two compressors", TWO_COMPRESSORS, 0, 1, -EIO },
	{ "what a short chunk has", SHORT, 0, PLAIN + 400, 0 },
	{ "what it has not", SHORT, PLAIN + 400, 1, -EBADMSG },
	{ "some of both", SHORT, PLAIN + 399, 2, -EBADMSG },
	{ "a chunk with too much in it", LONG, 0, 1, -EBADMSG },
	{ "a stored one with too much", LONG, PLAIN, 1, -EBADMSG },
	{ "before one beyond the source", BEYOND, 0, PLAIN, 0 },
	{ "one across its end", BEYOND, PLAIN, 1, -EIO },
	{ "one far beyond it", BEYOND, 2 * PLAIN, 1, -EIO },
	{ "into it", BEYOND, PLAIN - 1, 2, -EIO },
	{ "nothing stored", NOTHING_STORED, 0, 1, -EIO },
	{ "behind it", NOTHING_STORED, PLAIN, PLAIN, 0 },
	{ "4 GiB stored", TOO_MUCH_STORED, 0, 1, -EIO },
	{ "more stored than there is", TOO_MUCH_STORED, PLAIN, 1, -EIO },
	{ "behind them", TOO_MUCH_STORED, 2 * PLAIN, PLAIN, 0 },
	{ "before damage", DAMAGED, 0, PLAIN, 0 },
	{ "damage", DAMAGED, PLAIN, PLAIN, -EBADMSG },
	{ "its last byte", DAMAGED, 2 * PLAIN - 1, 1, -EBADMSG },
	{ "across damage", DAMAGED, 0, 3 * PLAIN, -EBADMSG },
	{ "behind damage", DAMAGED, 2 * PLAIN, PLAIN, 0 },
	{ "no source", NO_SOURCE, 0, 1, -EIO },
	{ "no chunks", NO_CHUNKS, 0, 1, -EIO },
};

static void test_errors_are_those_of_one_chunk(void **state)
{
	struct fixture *f = open_fixture();
	unsigned char buffer[4 * PLAIN];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < COUNT(bounds); i++) {
			int got = volume_pread(&f->table, bounds[i].volume, buffer,
					       bounds[i].length, bounds[i].offset,
					       PLAIN_READ);

			if (got != bounds[i].result)
				fail_msg("%s: %d", bounds[i].what, got);
			if (got == 0)
				assert_true(reads_well(f, bounds[i].volume,
						       bounds[i].length, bounds[i].offset));
		}
	}
	close_fixture(f);
}

/* An error is not remembered: storage may be back. */
static void test_what_is_there_again_is_read_again(void **state)
{
	struct fixture *f = open_fixture();
	char byte;

	(void)state;
	assert_int_equal(truncate("stored", 2000), 0);
	assert_true(reads_well(f, WELL, PLAIN, 0));
	assert_int_equal(volume_pread(&f->table, WELL, &byte, 1, 10 * PLAIN, PLAIN_READ),
			 -EIO);
	unit_write("stored", f->stored, sizeof(f->stored));
	assert_true(reads_well(f, WELL, 10, 10 * PLAIN));
	assert_int_equal(truncate("stored", 0), 0);
	assert_true(reads_well(f, WELL, PLAIN, 10 * PLAIN)); /* it is kept */
	assert_int_equal(volume_pread(&f->table, WELL, &byte, 1, 10 * PLAIN, PLAIN_READ),
			 -EIO);
	close_fixture(f);
}

static void test_messages_name_the_chunks_beginning(void **state)
{
	struct fixture *f = open_fixture();
	uint64_t at;

	(void)state;
	assert_string_equal(volume_locate(&f->table, WELL, 0, &at), "stored");
	assert_int_equal(at, f->chunks[0].stored_at);
	assert_string_equal(volume_locate(&f->table, WELL, 7 * PLAIN - 1, &at), "stored");
	assert_int_equal(at, f->chunks[6].stored_at);
	volume_locate(&f->table, WELL, 7 * PLAIN, &at);
	assert_int_equal(at, f->chunks[7].stored_at);
	assert_string_equal(volume_locate(&f->table, WELL, UINT64_MAX, &at), "stored");
	assert_string_equal(volume_locate(&f->table, NO_CHUNKS, 5, &at), "stored");
	assert_string_equal(volume_locate(&f->table, UNKNOWN, 5, &at), "the index");
	assert_string_equal(volume_locate(&f->table, NO_SOURCE, 5, &at), "the index");
	close_fixture(f);
}

static void test_coded_ones_have_no_guard(void **state)
{
	struct fixture *f = open_fixture();

	(void)state;
	assert_int_equal(volume_check(&f->table, WELL, 0, PLAIN, PLAIN_READ), 0);
	assert_int_equal(volume_check(&f->table, UNKNOWN, 0, PLAIN, PLAIN_READ), -EIO);
	close_fixture(f);
}

/* ---- Threads ------------------------------------------------------------ */

enum { READERS = 16, READS = 2000 };

struct reader {
	struct fixture *f;
	uint64_t seed;
	_Atomic unsigned *wrong;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Everywhere in the good volume, and now and then into damage. */
static void read_much(void *argument)
{
	struct reader *reader = argument;
	unsigned wrong = 0;

	for (int i = 0; i < READS; i++) {
		size_t length = next_random(&reader->seed) % (4 * PLAIN);
		uint64_t room = (uint64_t)GOOD * PLAIN - length;
		char byte;

		wrong += !reads_well(reader->f, WELL, length,
				     next_random(&reader->seed) % (room + 1));
		if (i % 16 == 0)
			wrong += volume_pread(&reader->f->table, DAMAGED, &byte, 1,
					      PLAIN, PLAIN_READ) != -EBADMSG;
	}
	atomic_fetch_add(reader->wrong, wrong);
}

static void test_many_threads_read_the_same_bytes(void **state)
{
	struct fixture *f = open_fixture();
	uint64_t chunks = stats_get(COUNTER_chunks_decoded);
	struct reader readers[READERS];
	_Atomic unsigned wrong = 0;
	struct pool *pool;

	(void)state;
	assert_int_equal(pool_start(&pool, READERS), 0);
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] = (struct reader){ f, 77777 + i, &wrong };
		assert_int_equal(pool_add(pool, read_much, &readers[i]), 0);
	}
	pool_finish(pool);
	assert_int_equal(wrong, 0);
	assert_in_range(stats_get(COUNTER_chunks_decoded) - chunks, GOOD, UINT64_MAX);
	assert_null(cache_check(f->table.cache, true));
	close_fixture(f);
}

static const struct CMUnitTest coded[] = {
	cmocka_unit_test(test_reads_across_the_borders_of_chunks),
	cmocka_unit_test(test_skipped_steps),
	cmocka_unit_test(test_a_chunk_is_decoded_once),
	cmocka_unit_test(test_a_whole_chunk_is_not_kept),
	cmocka_unit_test(test_errors_are_those_of_one_chunk),
	cmocka_unit_test(test_what_is_there_again_is_read_again),
	cmocka_unit_test(test_messages_name_the_chunks_beginning),
	cmocka_unit_test(test_coded_ones_have_no_guard),
	cmocka_unit_test(test_many_threads_read_the_same_bytes),
};

UNIT_MAIN(coded)

#else
#include "left_out.h"
#endif
