/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.h: how much memory this process may use, and its budget.
 *
 * The limits are those of the machine and of each control group around the process. A
 * limit that cannot be read or parsed is ignored.
 *
 * Threads: one at a time for a struct memory.
 */
#ifndef GRANARY_OS_MEMORY_H
#define GRANARY_OS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct memory;

/* In bytes. */
struct memory_state {
	uint64_t limit;     /* the lowest limit, or the machine's memory */
	uint64_t available; /* free, or clean page cache */
};

/*
 * Finds the limits. `root` stands before /proc and every other path; "" except in tests.
 * 0 or -ENOMEM.
 */
int memory_open(const char *root, struct memory **out);
void memory_close(struct memory *memory);

/*
 * Reads a few small files, unless the process has changed its groups: cheap enough for
 * ten calls a second, and needs no rights.
 */
void memory_read_state(struct memory *memory, struct memory_state *out);

/* Available bytes of this machine and its control groups; UINT64_MAX: unknown. */
static inline uint64_t memory_available(void)
{
	struct memory_state state = { .available = UINT64_MAX };
	struct memory *memory;

	if (memory_open("", &memory) == 0) {
		memory_read_state(memory, &state);
		memory_close(memory);
	}
	return state.available;
}

/* Bytes of this process that are no file's, nor shared; 0: unknown. */
uint64_t memory_own(void);

/*
 * From now on freed memory of 128 KiB and more goes back to the kernel at once. glibc
 * would raise that bound with each larger piece that is freed, and keep much more than
 * the cache counts. Before there are threads.
 */
void memory_return_freed(void);

/*
 * Parses the value of cache=: "8G", "50%" of `limit`. NULL: half of `available`. Lowers it
 * to 95 % of the limit, with a warning. -EINVAL and *e for a malformed text.
 */
int memory_budget(const char *text, const struct memory_state *state, uint64_t *out,
		  struct error *e);

/* The same, for this process at this moment. */
int memory_budget_of_process(const char *text, uint64_t *out, struct error *e);

/*
 * The part of a budget that is always the daemon's own cache: room for blocks that are
 * being read, and little more, as it reduces the page cache.
 */
uint64_t memory_cache_part(uint64_t budget);

/*
 * May the kernel keep inodes of so many bytes? At most half of the budget: they reduce
 * the room for contents.
 */
bool memory_allows_inodes(uint64_t bytes, uint64_t budget);

#endif
