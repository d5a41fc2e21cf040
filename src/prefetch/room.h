/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * room.h: the memory for read-ahead, and whether other processes need it. Private to
 * prefetch/.
 *
 * The budget covers files in the page cache, the dataset's cache and the kernel's inodes.
 * The dataset's cache has a minimum, and the bytes that the page cache leaves.
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
#include "prefetch/periodic.h"

struct room {
	struct dataset *dataset;
	uint64_t budget;
	_Atomic uint64_t total;  /* bytes of all files, in whole pages; UINT64_MAX: unknown */
	struct memory *memory;   /* of the thread that makes the check; or NULL */
	struct periodic check;
	_Atomic bool is_short;   /* result of the last check */
};

void room_init(struct room *room, struct dataset *dataset, uint64_t budget);

/* The limit of files in the page cache, in bytes. */
uint64_t room_for_files(const struct room *room);

/* Do `pages` bytes of `files` files fit, once the kernel has an inode for each? */
bool room_has_for(const struct room *room, uint64_t files, uint64_t pages);

/* The limit of the dataset's cache, in bytes: its least part where memory is short, and once
   all files are resident. */
uint64_t room_for_cache(const struct room *room);

/* Sets that limit. */
void room_limit_cache(const struct room *room);

/* Is less memory left than others may need soon? Looks at most ten times a second. A change
   sets the limit of the dataset's cache. */
bool room_check_memory(struct room *room);

/* The result of the last room_check_memory. */
bool room_is_short(const struct room *room);

#endif
