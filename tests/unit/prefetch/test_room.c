/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of decoded chunks beside the page cache, also where memory is short. */
#include "unit.h"

#include "os/memory.h"
#include "prefetch/room.h"
#include "stats/stats.h"

#define MIB (UINT64_C(1) << 20)

static const struct {
	const char *name;
	uint64_t resident;
	bool is_short;
	bool is_least; /* the part that chunks have in any case, and no more */
	uint64_t total; /* bytes of all files; 0: unknown */
} rooms[] = {
	{ "nothing is resident", 0, false, false, 0 },
	{ "half of the budget is resident", 256 * MIB, false, false, 0 },
	{ "all of the budget is resident", 512 * MIB, false, true, 0 },
	{ "memory is short", 0, true, true, 0 },
	{ "memory is short, and half is resident", 256 * MIB, true, true, 0 },
	{ "all files are resident", 100 * MIB, false, true, 100 * MIB },
};

static void test_rooms(void **state)
{
	const uint64_t budget = 512 * MIB, least = memory_cache_part(budget);
	size_t i = unit_row(state);
	struct room room;
	uint64_t cache;

	room_init(&room, NULL, budget);
	if (rooms[i].total)
		room.total = rooms[i].total;
	stats_set(COUNTER_resident_bytes, rooms[i].resident);
	atomic_store(&room.is_short, rooms[i].is_short);
	cache = room_for_cache(&room);
	if (rooms[i].is_least)
		assert_int_equal(cache, least);
	else
		assert_int_equal(cache + rooms[i].resident, budget);
	stats_set(COUNTER_resident_bytes, 0);
	memory_close(room.memory);
}

static const struct CMUnitTest tests[] = {
	unit_table(test_rooms, rooms, name),
};

UNIT_MAIN(tests)
