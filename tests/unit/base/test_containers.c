/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays, arenas, hash tables, checked arithmetic. */
#include "unit.h"

#include <errno.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/unique.h"
#include "base/vec.h"

static void test_arena_aligns_and_keeps(void **state)
{
	struct arena arena = { 0 };
	unsigned char *parts[2000];

	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++) {
		parts[i] = arena_alloc(&arena, i);
		assert_non_null(parts[i]);
		assert_int_equal((uintptr_t)parts[i] % 8, 0);
		memset(parts[i], (int)(i & 0xff), i);
	}
	for (size_t i = 0; i < COUNT(parts); i++)
		for (size_t k = 0; k < i; k++)
			assert_int_equal(parts[i][k], i & 0xff);
	arena_free(&arena);
	assert_null(arena.blocks);
	arena_free(&arena);
}

static void test_arena_takes_what_is_larger_than_a_block(void **state)
{
	struct arena arena = { 0 };
	const size_t large = 10 << 20;
	char *first = arena_copy(&arena, "first", 5);
	char *big = arena_alloc(&arena, large);

	(void)state;
	assert_non_null(big);
	memset(big, 'b', large);
	assert_string_equal(first, "first");
	assert_string_equal(arena_copy(&arena, "a\0b", 3) + 2, "b");
	assert_string_equal(arena_copy(&arena, NULL, 0), "");
	assert_null(arena_alloc(&arena, SIZE_MAX));
	arena_free(&arena);
}

static bool same_number(const void *context, uint32_t id, const void *key)
{
	const uint64_t *keys = context;

	return keys[id] == *(const uint64_t *)key;
}

static uint32_t find(const struct idmap *map, const uint64_t *keys, uint64_t key,
		     uint32_t hash)
{
	struct idmap_slot *slot = idmap_find(map, hash, same_number, keys, &key);

	return slot ? slot->id_plus_1 - 1 : UINT32_MAX;
}

/* `mask` 0 puts every key into one slot. */
static void fill_and_find(uint32_t count, uint32_t mask)
{
	uint64_t *keys = calloc(count, sizeof(*keys));
	struct idmap map = { 0 };

	assert_non_null(keys);
	for (uint32_t i = 0; i < count; i++) {
		keys[i] = UINT64_C(7919) * i;
		assert_int_equal(idmap_insert(&map, (uint32_t)keys[i] & mask, i), 0);
	}
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(find(&map, keys, keys[i], (uint32_t)keys[i] & mask), i);
	assert_int_equal(find(&map, keys, 1, 1 & mask), UINT32_MAX);
	assert_int_equal(find(&map, keys, UINT64_MAX, mask), UINT32_MAX);
	assert_in_range(map.used * 2, 0, map.size);
	idmap_free(&map);
	assert_null(map.slots);
	free(keys);
}

static void test_idmap_finds_what_was_put_in(void **state)
{
	(void)state;
	fill_and_find(1, UINT32_MAX);
	fill_and_find(100000, UINT32_MAX);
}

static void test_idmap_bears_equal_hashes(void **state)
{
	(void)state;
	fill_and_find(2000, 0);
	fill_and_find(2000, 3);
}

static void test_idmap_empty_holds_nothing(void **state)
{
	struct idmap map = { 0 };
	uint64_t key = 0;

	(void)state;
	assert_null(idmap_find(&map, 0, same_number, &key, &key));
	idmap_free(&map);
}

static void test_vec_grows_and_keeps(void **state)
{
	VEC(uint32_t) numbers = VEC_INIT;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(vec_push(&numbers, i), 0);
	assert_int_equal(vec_reserve(&numbers, 100000), 0);
	assert_true(numbers.room >= 110000);
	assert_int_equal(numbers.count, 10000);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(numbers.items[i], i);
	assert_int_equal(vec_reserve(&numbers, SIZE_MAX / 2), -ENOMEM);
	assert_int_equal(numbers.items[9999], 9999);
	vec_free(&numbers);
	assert_null(numbers.items);
}

static void test_checked_arithmetic(void **state)
{
	uint64_t out = 5;

	(void)state;
	assert_false(checked_add(UINT64_MAX, 1, &out));
	assert_false(checked_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
	assert_int_equal(out, 5);
	assert_true(checked_add(UINT64_MAX - 1, 1, &out));
	assert_true(out == UINT64_MAX);
	assert_true(checked_mul(UINT64_C(1) << 31, UINT64_C(1) << 32, &out));
	assert_true(out == UINT64_C(1) << 63);
}

static const struct {
	uint64_t offset, length, total;
	bool within;
} ranges[] = {
	{ 0, 0, 0, true }, { 0, 1, 0, false }, { 1, 0, 0, false }, { 5, 5, 10, true },
	{ 5, 6, 10, false }, { 10, 0, 10, true }, { 11, 0, 10, false },
	{ UINT64_MAX, 2, 10, false }, { 2, UINT64_MAX, 10, false },
	{ UINT64_MAX, UINT64_MAX, UINT64_MAX, false }, { 0, UINT64_MAX, UINT64_MAX, true },
};

static void test_ranges(void **state)
{
	size_t i = unit_row(state);

	assert_int_equal(range_within(ranges[i].offset, ranges[i].length,
				      ranges[i].total), ranges[i].within);
}

static int by_number(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	return (a > b) - (a < b);
}

static void test_once_keeps_each_once(void **state)
{
	int few[] = { 3, -1, 3, 3, 2, -1 };
	VEC(int) many = VEC_INIT;
	size_t compact_at = UNIQUE_COMPACT_AT, most = 0;

	(void)state;
	assert_int_equal(unique_sort(few, 0, sizeof(*few), by_number), 0);
	assert_int_equal(unique_sort(few, COUNT(few), sizeof(*few), by_number), 3);
	assert_int_equal(few[0] * 100 + few[1] * 10 + few[2], -100 + 20 + 3);
	for (int i = 0; i < 10 * UNIQUE_COMPACT_AT; i++) {
		many.count = unique_compact(many.items, many.count, sizeof(int),
					    by_number, &compact_at);
		assert_int_equal(vec_push(&many, i % 7), 0);
		most = many.count > most ? many.count : most;
	}
	assert_in_range(most, UNIQUE_COMPACT_AT, 2 * UNIQUE_COMPACT_AT);
	assert_int_equal(unique_sort(many.items, many.count, sizeof(int), by_number), 7);
	assert_int_equal(many.items[6], 6);
	vec_free(&many);
}

static int hash_of_x(void *argument)
{
	(void)argument;
	return (int)(hash_bytes("x", 1, 0) & 0x7f);
}

/* Of tables, which have a secret, and digests, which have none. */
static void test_hashes(void **state)
{
	(void)state;
	assert_true(hash_bytes("x", 1, 0) == hash_bytes("x", 1, 0));
	assert_true(hash_bytes("x", 1, 0) != hash_bytes("x", 1, 1));
	assert_true(hash_bytes("x", 1, 0) != hash_bytes("y", 1, 0));
	assert_true(hash_number(1, 0) != hash_number(2, 0));
	assert_true(hash_digest(0, "xy", 2) != hash_digest(hash_digest(0, "y", 1), "x", 1));
	/* of the empty text, as XXH3's specification has it */
	assert_true(hash_digest(0, "", 0) == UINT64_C(0x2d06800538d394c2));
	assert_true(hash_random() != hash_random());
	/* a child of fork(2) has its parent's secret */
	assert_int_equal(unit_child(hash_of_x, NULL), hash_of_x(NULL));
}

static const struct CMUnitTest containers[] = {
	cmocka_unit_test(test_once_keeps_each_once),
	cmocka_unit_test(test_arena_aligns_and_keeps),
	cmocka_unit_test(test_arena_takes_what_is_larger_than_a_block),
	cmocka_unit_test(test_idmap_finds_what_was_put_in),
	cmocka_unit_test(test_idmap_bears_equal_hashes),
	cmocka_unit_test(test_idmap_empty_holds_nothing),
	cmocka_unit_test(test_vec_grows_and_keeps),
	cmocka_unit_test(test_checked_arithmetic),
	unit_rows(test_ranges, ranges),
	cmocka_unit_test(test_hashes),
};

UNIT_MAIN(containers)
