/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a sweep holds back: storage that answers at once, and no idle processor. */
#include "unit.h"

#include "prefetch/pace.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static const struct {
	const char *name;
	uint64_t storage_ns; /* of each read of 110 kB */
	unsigned reads;
	bool quick;
} storages[] = {
	{ "unknown", 0, 0, false },
	{ "page cache", 0, 64, true },
	{ "page cache, seen for a moment", 0, 8, false },
	{ "NVMe", 150 * US, 64, true },
	{ "200 MB/s", 550 * US, 64, false },
	{ "disk", 8 * MS, 64, false },
};

static void test_storages(void **state)
{
	size_t i = unit_row(state);
	struct pace pace;

	pace_init(&pace);
	for (unsigned n = 0; n < storages[i].reads; n++)
		pace_note(&pace, 110000, storages[i].storage_ns);
	assert_int_equal(pace_is_quick(&pace), storages[i].quick);
}

/* Control groups let 40 reads pass, and then none for the rest of 100 ms. */
static void test_bursts_are_not_quick_storage(void **state)
{
	struct pace pace;

	(void)state;
	pace_init(&pace);
	for (unsigned n = 0; n < 1000; n++) {
		pace_note(&pace, 110000, n % 40 == 39 ? 80 * MS : 0);
		assert_true(n < 40 || !pace_is_quick(&pace));
	}
}

static void test_storage_may_change(void **state)
{
	struct pace pace;

	(void)state;
	pace_init(&pace);
	for (unsigned n = 0; n < 100; n++)
		pace_note(&pace, 110000, 0);
	assert_true(pace_is_quick(&pace));
	for (unsigned n = 0; n < 16; n++)
		pace_note(&pace, 110000, 8 * MS);
	assert_false(pace_is_quick(&pace));
}

static const struct {
	const char *name;
	uint64_t idle_ns, own_ns;
	unsigned threads;
} loads[] = {
	{ "all busy", 0, 0, 0 },
	{ "nearly all", 170 * MS, 0, 0 },
	{ "one idle", 190 * MS, 0, 1 },
	{ "one taken by the sweep", 0, 195 * MS, 1 },
	{ "half of one left for the sweep", 0, 100 * MS, 0 },
	{ "ten idle", 2000 * MS, 0, 10 },
	{ "seven idle, three swept", 1400 * MS, 600 * MS, 10 },
};

static void test_loads(void **state)
{
	size_t i = unit_row(state);

	assert_int_equal(pace_threads(loads[i].idle_ns, loads[i].own_ns, 200 * MS),
			 loads[i].threads);
	assert_int_equal(pace_threads(loads[i].idle_ns, loads[i].own_ns, 0), 0);
}

static void test_a_sweep_is_held_back_for_readers_of_quick_storage(void **state)
{
	struct pace pace;

	(void)state;
	pace_init(&pace);
	assert_true(pace_allows(&pace, 3, true));
	for (unsigned n = 0; n < 100; n++)
		pace_note(&pace, 110000, 0);
	assert_false(pace_allows(&pace, 0, true));
	assert_true(pace_allows(&pace, 3, false));
	atomic_store(&pace.threads, 2);
	assert_true(pace_allows(&pace, 1, true));
	assert_false(pace_allows(&pace, 2, true));
}

static const struct CMUnitTest tests[] = {
	unit_table(test_storages, storages, name),
	cmocka_unit_test(test_bursts_are_not_quick_storage),
	cmocka_unit_test(test_storage_may_change),
	unit_table(test_loads, loads, name),
	cmocka_unit_test(test_a_sweep_is_held_back_for_readers_of_quick_storage),
};

UNIT_MAIN(tests)
