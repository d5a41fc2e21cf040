/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/room.h"

#include <stddef.h>

#include "os/bounded.h"
#include "stats/stats.h"

enum {
	PROBE_MS = 100,
	RESERVE_SHARE = 16,      /* reserve for others: this part of memory, */
	RESERVE_MOST = 1 << 30,  /* at most */
	LAST_FILES = 1024,       /* this part of all files */
};

void room_init(struct room *room, struct dataset *dataset, uint64_t budget)
{
	*room = (struct room){ .dataset = dataset, .budget = budget, .total = UINT64_MAX };
	if (memory_open("", &room->memory) < 0)
		room->memory = NULL;
}

static uint64_t room_after_inodes(const struct room *room, uint64_t inodes)
{
	uint64_t floor = memory_cache_part(room->budget);

	return room->budget > inodes + floor ? room->budget - inodes - floor : 0;
}

uint64_t room_for_files(const struct room *room)
{
	return room_after_inodes(room, stats_get(COUNTER_inode_bytes));
}

bool room_has_for(const struct room *room, uint64_t files, uint64_t pages)
{
	uint64_t known = stats_get(COUNTER_inode_bytes);
	uint64_t names = files * stats_get(COUNTER_name_bytes);

	return pages <= room_after_inodes(room, known > names ? known : names);
}

uint64_t room_for_cache(const struct room *room)
{
	uint64_t most = room_for_files(room), resident = stats_get(COUNTER_resident_bytes);
	uint64_t part = memory_cache_part(room->budget), total = atomic_load(&room->total);

	/* the last files are in any chunk: all others are kept until those are resident, too */
	if (resident >= total - total / LAST_FILES)
		return part;
	/* pages can be dropped by the kernel, and decoded chunks cannot */
	return room_is_short(room) || resident >= most ? part : part + most - resident;
}

void room_limit_cache(const struct room *room)
{
	dataset_limit_cache(room->dataset, room_for_cache(room));
}

/* Resident files count as used, since available memory includes them. */
static bool is_memory_short(const struct room *room)
{
	uint64_t resident = stats_get(COUNTER_resident_bytes), reserve;
	struct memory_state state;

	memory_read_state(room->memory, &state);
	reserve = state.limit / RESERVE_SHARE < RESERVE_MOST ? state.limit / RESERVE_SHARE :
							       RESERVE_MOST;
	return state.available < resident + reserve;
}

bool room_check_memory(struct room *room)
{
	int64_t now = bounded_now();

	if (room->memory && periodic_begin(&room->check, now, PROBE_MS)) {
		bool is_short = is_memory_short(room);

		if (atomic_exchange(&room->is_short, is_short) != is_short)
			room_limit_cache(room);
		periodic_end(&room->check, now);
	}
	return room_is_short(room);
}

bool room_is_short(const struct room *room)
{
	return atomic_load(&room->is_short);
}
