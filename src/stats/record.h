/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * record.h: what a daemon publishes about its mount: facts that stay, and the counters,
 * which its processes change in place. It lies in a memfd of the supervisor's, so a reader
 * wakes nobody, and reads it while the daemon hangs. os/registry.h says how it is found.
 *
 * A record has the names of its counters, so granary of another version reads it too. Its
 * writer may be any user: a reader checks every number, and takes no text for more than
 * a claim.
 *
 * Threads: one.
 */
#ifndef GRANARY_STATS_RECORD_H
#define GRANARY_STATS_RECORD_H

#include <limits.h>
#include <stdint.h>

#include "stats/stats.h"

enum { RECORD_WORD_BYTES = 64 };

/* The id of a mount, from its connection and its supervisor: no other has it. */
#define RECORD_ID "%u.%d"

struct record_facts {
	uint64_t started;    /* seconds since 1970 */
	uint32_t connection; /* the number of the FUSE connection; 0: not known */
	uint32_t uid;        /* whose mount it is */
	char user[RECORD_WORD_BYTES];
	char jobid[RECORD_WORD_BYTES]; /* of the batch system, or "" */
	char source[PATH_MAX];         /* the packed file */
	char mountpoint[PATH_MAX];     /* where it was mounted */
};

/*
 * Makes a record, and moves the counters into it: its facts, for the caller to fill in,
 * and in *fd its descriptor, which is to stay open; -1 where no other process can read it.
 * NULL and errno.
 */
struct record_facts *record_new(int *fd);

struct record {
	struct record_facts facts;
	struct stats_cells cells;
	uint32_t owner; /* whose process it is, by the kernel */
};

/*
 * Reads one. `memory` is any memfd: another file may hang. -EBADMSG: it is no record, or
 * damaged; -EPROTO: of a version with another layout. A counter that it lacks is 0.
 */
int record_read(int memory, struct record *out);

#endif
