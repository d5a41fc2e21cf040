/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.h: how much memory this process may use, and how much of it the budget.
 *
 * What bounds it is the machine, and each control group that it is in. What cannot be
 * read, or makes no sense, is no limit.
 *
 * Threads: a struct memory belongs to one thread at a time.
 */
#ifndef GRANARY_OS_MEMORY_H
#define GRANARY_OS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct memory;

/* In bytes. */
struct memory_state {
	uint64_t limit;     /* the lowest limit, or all that the machine has */
	uint64_t available; /* what could still be had for no more than clean page cache */
};

/*
 * Finds the limits. `root` stands before /proc and every other path: "" but in tests.
 * 0 or -ENOMEM.
 */
int memory_open(const char *root, struct memory **out);
void memory_close(struct memory *memory);

/*
 * Reads a few small files, and no more, so long as the process stays in its groups: may
 * be called ten times a second, by a process without rights as well.
 */
void memory_look(struct memory *memory, struct memory_state *out);

/* Was this process started in a batch job, or a container that stands for one? */
bool memory_in_job(void);

/*
 * The budget in bytes that `cache=TEXT` gives: "8G", "50%" of `limit`. NULL: half of
 * what is available, but 1 GiB at most outside of a job. More than 95 % of the limit is
 * never given; a warning says so. -EINVAL and a sentence where the text makes no sense.
 */
int memory_budget(const char *text, const struct memory_state *state, bool in_job,
		  uint64_t *out, struct error *e);

/* The same, for this process and this moment. */
int memory_budget_here(const char *text, uint64_t *out, struct error *e);

/*
 * What of a budget the daemon's own cache may always have: room for the blocks that are
 * being read, and little more, for what it takes the files in the page cache lose.
 */
uint64_t memory_cache_part(uint64_t budget);

/*
 * May the kernel keep inodes of so many bytes, within the budget? Half of it: what they
 * take is missing for the contents of the files.
 */
bool memory_allows_inodes(uint64_t bytes, uint64_t budget);

#endif
