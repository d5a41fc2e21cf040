/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of sources that are read before they are asked for. */
#include "build/kit.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "stats/stats.h"
#include "index/layout.h"
#include "os/pool.h"
#include "source/memory_source.h"
#include "volume/volume.h"

enum {
	SOURCE_BYTES = 3 * VOLUME_BLOCK + 12345, /* of the first source, */
	OTHER_BYTES = 700,                       /* and of the second */
	BASE = 1000,                             /* where volume 0 begins */
	READ_MOST = 2 * VOLUME_BLOCK + 10,
};

#define HUGE (UINT64_C(1) << 60)

static struct fixture {
	struct index *index;
	struct source_set sources;
	struct volume_table table;
} f;

static unsigned char buffer[READ_MOST];
static enum read_hint hint;

#define READ (&(struct read_context){ .hint = hint })

static unsigned char byte_at(uint32_t source, uint64_t offset)
{
	return (unsigned char)(source * 91 + offset * 7 + offset / 251 + offset / 65521);
}

static void write_source(const char *name, uint32_t source, size_t size)
{
	unsigned char *bytes = malloc(size);

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = byte_at(source, i);
	unit_write(name, bytes, size);
	free(bytes);
}

static int enter_case(void **state)
{
	static const struct layout_volume volumes[] = {
		{ .kind = VOLUME_RAW, .source = 0, .base = BASE,
		  .length = SOURCE_BYTES - BASE },
		{ .kind = VOLUME_RAW, .source = 1, .base = 0, .length = OTHER_BYTES },
	};
	char first[] = "first", second[] = "second", *names[] = { first, second };
	struct image image;

	(void)state;
	write_source(first, 0, SOURCE_BYTES);
	write_source(second, 1, OTHER_BYTES);
	kit_image("d:d", &image);
	for (size_t i = 0; i < COUNT(volumes); i++)
		image_append(&image, SECTION_VOLUMES, &volumes[i], sizeof(volumes[i]));
	f.index = kit_open(&image);
	assert_int_equal(source_set_open(names, 2, false, &f.sources, NULL), 0);
	assert_int_equal(volume_table_open(f.index, &f.sources, &f.table), 0);
	f.table.staging = true;
	hint = READ_EXACT;
	return 0;
}

static int leave_case(void **state)
{
	(void)state;
	volume_table_close(&f.table);
	source_set_close(&f.sources);
	index_close(f.index);
	return 0;
}

/* Reads from a place of a source, and compares: how many bytes came from the source. */
static uint64_t cost(uint32_t source, uint64_t at, size_t length)
{
	uint64_t before = stats_get(COUNTER_source_read_bytes);
	uint64_t base = source == 0 ? BASE : 0;

	memset(buffer, 0xee, sizeof(buffer));
	assert_int_equal(volume_pread(&f.table, source, buffer, length, at - base, READ),
			 0);
	for (size_t i = 0; i < length; i++)
		if (buffer[i] != byte_at(source, at + i))
			fail_msg("byte %zu of %zu at %llu", i, length,
				 (unsigned long long)at);
	assert_true(length == sizeof(buffer) || buffer[length] == 0xee);
	return stats_get(COUNTER_source_read_bytes) - before;
}

/* Has an aligned block in the cache. */
static void stage_aligned(uint32_t source, uint64_t number)
{
	struct cache_pin *pin;

	assert_int_equal(volume_stage_aligned(&f.table, source, number, &pin), 0);
	cache_put(f.table.cache, pin);
}

static void stage(uint32_t number)
{
	struct cache_pin *pin;

	assert_int_equal(volume_stage(&f.table, number, &pin), 0);
	assert_int_equal(cache_size(pin), f.table.blocks[number].end -
						  f.table.blocks[number].start);
	cache_put(f.table.cache, pin);
}

/* Blocks at multiples of their size. */

static void test_nothing_is_staged(void **state)
{
	(void)state;
	assert_int_equal(cost(0, BASE, 100), 100);
	assert_int_equal(cost(0, SOURCE_BYTES - 7, 7), 7);
	assert_int_equal(cost(0, VOLUME_BLOCK - 5, VOLUME_BLOCK + 10), VOLUME_BLOCK + 10);
	assert_int_equal(cost(1, 0, OTHER_BYTES), OTHER_BYTES);
	f.table.staging = false;
	stage_aligned(0, 0);
	assert_int_equal(cost(0, BASE, 100), 100);
}

/* The second of four blocks is there: what each read costs. */
static const struct {
	uint64_t at;
	size_t length;
	uint64_t cost;
} partly[] = {
	{ VOLUME_BLOCK, VOLUME_BLOCK, 0 }, { VOLUME_BLOCK, 1, 0 },
	{ 2 * VOLUME_BLOCK - 1, 1, 0 }, { VOLUME_BLOCK - 1, 1, 1 },
	{ 2 * VOLUME_BLOCK, 1, 1 }, { VOLUME_BLOCK - 10, 20, 10 },
	{ 2 * VOLUME_BLOCK - 10, 20, 10 }, { VOLUME_BLOCK - 3, VOLUME_BLOCK + 7, 7 },
	{ SOURCE_BYTES - 1, 1, 1 }, { BASE, 0, 0 },
};

static void test_what_is_there_is_not_read(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (size_t i = 0; i < COUNT(partly); i++) {
			stage_aligned(0, 1); /* it is gone once all was read */
			if (cost(0, partly[i].at, partly[i].length) != partly[i].cost)
				fail_msg("read %zu", i);
		}
}

static void test_the_ends_of_sources(void **state)
{
	struct cache_pin *pin;

	(void)state;
	stage_aligned(0, 3);
	stage_aligned(1, 0);
	assert_int_equal(cost(0, SOURCE_BYTES - 12345, 12345), 0);
	assert_int_equal(cost(1, 0, OTHER_BYTES), 0);
	assert_int_equal(volume_pread(&f.table, 1, buffer, 1, OTHER_BYTES, READ), -EIO);
	assert_int_equal(volume_pread(&f.table, 1, buffer, 2, OTHER_BYTES - 1, READ),
			 -EIO);
	assert_int_equal(volume_stage_aligned(&f.table, 0, 4, &pin), -EINVAL);
	assert_int_equal(volume_stage_aligned(&f.table, 1, 1, &pin), -EINVAL);
	assert_int_equal(volume_stage_aligned(&f.table, 2, 0, &pin), -EINVAL);
	assert_int_equal(volume_stage_aligned(&f.table, UINT32_MAX, 0, &pin), -EINVAL);
	assert_int_equal(volume_stage_aligned(&f.table, 0, UINT64_MAX, &pin), -EINVAL);
	assert_int_equal(volume_stage_aligned(&f.table, 0, (UINT64_C(1) << 44) + 1, &pin),
			 -EINVAL);
}

/* A read of bytes that a block could hold does not read it whole, but for one hint. */
static void test_hints_without_a_table(void **state)
{
	static const enum read_hint hints[] = { READ_EXACT, READ_BLOCK, READ_AHEAD };

	(void)state;
	for (size_t i = 0; i < COUNT(hints); i++) {
		hint = hints[i];
		assert_int_equal(cost(0, 5000, 100), 100);
	}
}

/* The first block of the second source, and a block of the first behind an EiB. */
static void test_blocks_of_huge_sources(void **state)
{
	static const struct layout_volume volumes[] = {
		{ .kind = VOLUME_RAW, .source = 0, .base = HUGE, .length = 10 },
		{ .kind = VOLUME_RAW, .source = 1, .base = 0, .length = 10 },
	};
	struct source *sources[] = { memory_source("huge", "", 0, HUGE + VOLUME_BLOCK),
				     memory_source("small", "0123456789", 10, 10) };
	struct source_set set = { sources, 2 };
	struct volume_table table;
	struct cache_pin *pin;
	struct image image;
	struct index *index;

	(void)state;
	kit_image("d:d", &image);
	for (size_t i = 0; i < COUNT(volumes); i++)
		image_append(&image, SECTION_VOLUMES, &volumes[i], sizeof(volumes[i]));
	index = kit_open(&image);
	assert_int_equal(volume_table_open(index, &set, &table), 0);
	table.staging = true;
	assert_int_equal(volume_stage_aligned(&table, 1, 0, &pin), 0);
	assert_int_equal(volume_pread(&table, 0, buffer, 10, 0, READ), 0);
	assert_memory_equal(buffer, "\0\0\0\0\0\0\0\0\0\0", 10);
	assert_int_equal(volume_pread(&table, 1, buffer, 10, 0, READ), 0);
	assert_memory_equal(buffer, "0123456789", 10);
	cache_put(table.cache, pin);
	volume_table_close(&table);
	index_close(index);
	source_close(sources[0]);
	source_close(sources[1]);
}

/* A table of blocks. */

static const struct volume_span blocks[] = {
	{ 0, BASE, BASE + 1000 },
	{ 0, BASE + 1000, BASE + 1000 },                    /* empty */
	{ 0, BASE + 1000, BASE + 3000 },
	{ 0, BASE + 5000, BASE + 5001 },                    /* behind a gap */
	{ 0, VOLUME_BLOCK - 100, 2 * VOLUME_BLOCK + 100 },
	{ 0, SOURCE_BYTES - 10, SOURCE_BYTES },
	{ 1, 0, OTHER_BYTES },
};

static const struct {
	uint32_t source;
	uint64_t offset;
	bool found;
	uint32_t block; /* or the next one */
} places[] = {
	{ 0, 0, false, 0 }, { 0, BASE, true, 0 }, { 0, BASE + 999, true, 0 },
	{ 0, BASE + 1000, true, 2 }, { 0, BASE + 2999, true, 2 },
	{ 0, BASE + 3000, false, 3 }, { 0, BASE + 5000, true, 3 },
	{ 0, BASE + 5001, false, 4 }, { 0, 2 * VOLUME_BLOCK + 99, true, 4 },
	{ 0, SOURCE_BYTES - 1, true, 5 }, { 0, SOURCE_BYTES, false, 6 },
	{ 0, UINT64_MAX, false, 6 }, { 1, 0, true, 6 }, { 1, OTHER_BYTES - 1, true, 6 },
	{ 1, OTHER_BYTES, false, 7 }, { 2, 0, false, 7 }, { UINT32_MAX, 5, false, 7 },
};

static void test_the_block_of_a_byte(void **state)
{
	uint32_t block;

	(void)state;
	assert_false(volume_find_block(&f.table, 0, BASE, &block));
	volume_use_blocks(&f.table, blocks, COUNT(blocks));
	for (size_t i = 0; i < COUNT(places); i++) {
		bool found = volume_find_block(&f.table, places[i].source,
					       places[i].offset, &block);

		if (found != places[i].found || block != places[i].block)
			fail_msg("place %zu: %u", i, block);
	}
}

static void test_blocks_of_a_table(void **state)
{
	struct cache_pin *pin;

	(void)state;
	volume_use_blocks(&f.table, blocks, COUNT(blocks));
	stage(2);
	assert_int_equal(cost(0, BASE, 2000), 1000);
	assert_int_equal(cost(0, BASE + 2000, 3000), 2000);
	assert_int_equal(cost(0, BASE, 5000), 5000); /* all of it has been read */
	stage(4);
	assert_int_equal(cost(0, VOLUME_BLOCK - 200, VOLUME_BLOCK + 400), 200);
	stage(5);
	assert_int_equal(cost(0, SOURCE_BYTES - 20, 20), 10);
	assert_int_equal(volume_stage(&f.table, COUNT(blocks), &pin), -EINVAL);
	assert_int_equal(volume_stage(&f.table, UINT32_MAX, &pin), -EINVAL);
}

/* With READ_BLOCK the first read costs a block, and the others nothing. */
static void test_whole_blocks_once(void **state)
{
	(void)state;
	volume_use_blocks(&f.table, blocks, COUNT(blocks));
	hint = READ_BLOCK;
	assert_int_equal(cost(0, BASE + 1500, 1), 2000);
	assert_int_equal(cost(0, BASE + 1000, 1000), 0);
	assert_int_equal(cost(0, BASE + 990, 20), 1000);
	assert_int_equal(cost(0, BASE, 3000), 0);
	assert_int_equal(cost(0, BASE + 3000, 100), 100); /* a gap */
	assert_int_equal(cost(1, 7, 1), OTHER_BYTES);
	hint = READ_AHEAD;
	assert_int_equal(cost(0, SOURCE_BYTES - 5, 5), 5);
	assert_int_equal(cost(1, 8, 1), 0);
}

/* Blocks that are not what a table may have: the bytes are right nonetheless. */
static const struct volume_span hostile[] = {
	{ 0, BASE, BASE + 100 },
	{ 0, BASE + 100, UINT64_MAX },             /* past the end, */
	{ 1, OTHER_BYTES - 10, OTHER_BYTES + 10 }, /* half past it */
};

static void test_tables_that_make_no_sense(void **state)
{
	struct cache_pin *pin;

	(void)state;
	volume_use_blocks(&f.table, hostile, COUNT(hostile));
	for (unsigned round = 0; round < 2; round++) {
		hint = round ? READ_BLOCK : READ_EXACT;
		assert_true(cost(0, BASE, 5000) <= 5000);
		assert_int_equal(cost(0, SOURCE_BYTES - 5, 5), 5);
		assert_int_equal(cost(1, OTHER_BYTES - 20, 20), 20);
	}
	assert_true(volume_stage(&f.table, 1, &pin) < 0);
	assert_int_equal(volume_stage(&f.table, 2, &pin), -EIO);
}

/* Unsorted, and one within the other. */
static void test_tables_without_an_order(void **state)
{
	static struct volume_span spans[100];
	unsigned seed = 5;

	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		for (size_t i = 0; i < COUNT(spans); i++) {
			uint64_t start = (uint64_t)rand_r(&seed) % SOURCE_BYTES;
			uint64_t left = SOURCE_BYTES - start;

			spans[i] = (struct volume_span){
				(unsigned)rand_r(&seed) % 2, start,
				start + (uint64_t)rand_r(&seed) % 70000 % left };
		}
		volume_use_blocks(&f.table, spans, COUNT(spans));
		for (unsigned i = 0; i < 50; i++) {
			uint64_t at = BASE + (uint64_t)rand_r(&seed) % (SOURCE_BYTES - BASE);
			uint64_t n = 1 + (uint64_t)rand_r(&seed) % 3000 % (SOURCE_BYTES - at);

			assert_true(cost(0, at, n) <= n);
		}
	}
}

/* A source that is shorter than it was: blocks that are there are still good. */
static void test_a_source_that_shrank(void **state)
{
	struct cache_pin *pin;

	(void)state;
	stage_aligned(0, 1);
	assert_int_equal(truncate("first", VOLUME_BLOCK + 5), 0);
	assert_int_equal(cost(0, VOLUME_BLOCK, VOLUME_BLOCK), 0);
	assert_int_equal(volume_stage_aligned(&f.table, 0, 2, &pin), -EIO);
	assert_int_equal(volume_pread(&f.table, 0, buffer, 10, 2 * VOLUME_BLOCK, READ),
			 -EIO);
}

/* A streamed source gives the same bytes; the kernel decides how they come. */
static void test_streams(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		source_hint(f.sources.sources[i], i % 2 ? HINT_STREAM_OWN : HINT_STREAM,
			    0, 0);
	for (unsigned round = 0; round < 3; round++) {
		assert_int_equal(cost(1, 0, OTHER_BYTES), OTHER_BYTES);
		assert_int_equal(cost(0, BASE, READ_MOST), READ_MOST);
		assert_int_equal(cost(0, SOURCE_BYTES - 4097, 4097), 4097);
		assert_int_equal(cost(0, 4095, 2), 2);
	}
	assert_int_equal(volume_pread(&f.table, 1, buffer, 1, OTHER_BYTES, READ), -EIO);
	stage_aligned(0, 3);
	assert_int_equal(cost(0, SOURCE_BYTES - 12345, 12345), 0);
}

/* A table comes while others look for blocks. */
static _Atomic bool over;
static _Atomic unsigned wrong;

static void look(void *argument)
{
	uint64_t offset = (uint64_t)(uintptr_t)argument;
	uint32_t block;

	while (!atomic_load(&over))
		if (volume_find_block(&f.table, 0, offset, &block) &&
		    (offset < blocks[block].start || offset >= blocks[block].end))
			atomic_fetch_add(&wrong, 1);
}

static void test_a_table_that_comes_meanwhile(void **state)
{
	struct pool *pool;

	(void)state;
	atomic_store(&over, false);
	assert_int_equal(pool_start(&pool, 2), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(pool_add(pool, look, (void *)(uintptr_t)(BASE + 3500 + i)),
				 0);
	f.table.blocks = blocks;
	for (unsigned i = 0; i < 3000000; i++)
		atomic_store(&f.table.block_count, i % 2 ? COUNT(blocks) : 0);
	atomic_store(&over, true);
	pool_finish(pool);
	assert_int_equal(atomic_load(&wrong), 0);
}

/* Readers with all hints at once, and who stages: each byte is the right one. */
static void read_and_stage(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	struct read_context context = { .hint = (enum read_hint)(seed % 3) };
	unsigned char own[3000];

	for (unsigned i = 0; i < 2000; i++) {
		size_t n = 1 + (size_t)rand_r(&seed) % sizeof(own);
		uint64_t at = BASE + (uint64_t)rand_r(&seed) % (SOURCE_BYTES - BASE - n);
		struct cache_pin *pin;

		if (i % 7 == 0 && volume_stage(&f.table, i % COUNT(blocks), &pin) == 0)
			cache_put_used(f.table.cache, pin);
		if (volume_pread(&f.table, 0, own, n, at - BASE, &context) != 0)
			atomic_fetch_add(&wrong, 1);
		for (size_t k = 0; k < n; k++)
			if (own[k] != byte_at(0, at + k))
				atomic_fetch_add(&wrong, 1);
	}
}

static void test_many_at_once(void **state)
{
	struct pool *pool;

	(void)state;
	cache_set_budget(f.table.cache, VOLUME_BLOCK);
	assert_int_equal(pool_start(&pool, 6), 0);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(pool_add(pool, read_and_stage, (void *)(uintptr_t)(i + 1)),
				 0);
	volume_use_blocks(&f.table, blocks, COUNT(blocks));
	pool_finish(pool);
	assert_int_equal(atomic_load(&wrong), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, enter_case, leave_case)

static const struct CMUnitTest tests[] = {
	CASE(test_nothing_is_staged),
	CASE(test_what_is_there_is_not_read),
	CASE(test_the_ends_of_sources),
	CASE(test_hints_without_a_table),
	CASE(test_blocks_of_huge_sources),
	CASE(test_the_block_of_a_byte),
	CASE(test_blocks_of_a_table),
	CASE(test_whole_blocks_once),
	CASE(test_tables_that_make_no_sense),
	CASE(test_tables_without_an_order),
	CASE(test_a_source_that_shrank),
	CASE(test_streams),
	CASE(test_a_table_that_comes_meanwhile),
	CASE(test_many_at_once),
};

UNIT_MAIN(tests)
