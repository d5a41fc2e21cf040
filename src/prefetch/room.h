/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * room.h: how much memory there is for what is read ahead, and whether others need it.
 * Private to prefetch/.
 *
 * The budget is for all together: the files in the page cache, the dataset's own cache,
 * and what the kernel keeps of their inodes. The cache may always have a part of it, and
 * has what the page cache leaves.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_PREFETCH_ROOM_H
#define GRANARY_PREFETCH_ROOM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dataset/read_ahead.h"
#include "os/memory.h"

struct room {
	struct dataset *dataset;
	uint64_t budget;
	struct memory *memory;   /* whoever has set `looking`; NULL: it cannot be seen */
	_Atomic bool looking;
	_Atomic bool is_short;   /* of memory, when somebody last looked */
	_Atomic int64_t looked_at;
};

void room_init(struct room *room, struct dataset *dataset, uint64_t budget);

/* Bytes that files may take of the page cache. */
uint64_t room_for_files(const struct room *room);

/* Will there be room for so many files once the kernel knows the names of them all? */
bool room_has_for(const struct room *room, uint64_t files, uint64_t pages);

/* Bytes that the dataset's cache may have: what the page cache leaves. */
uint64_t room_for_cache(const struct room *room);

/* Gives the dataset's cache what the page cache leaves. */
void room_share(const struct room *room);

/* Is there less than others may need soon? Looks a few times a second, at most. */
bool room_look(struct room *room);

/* What the last look saw. */
bool room_is_short(const struct room *room);

#endif
