/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * publish.h: tells root and the user of a mount what is mounted, and its counters, although
 * FUSE itself refuses root. Private to fuse/.
 *
 * Threads: one, of the launcher and then of the supervisor.
 */
#ifndef GRANARY_FUSE_PUBLISH_H
#define GRANARY_FUSE_PUBLISH_H

#include <sys/types.h>

#include "fuse/mount.h"
#include "stats/metrics.h"
#include "stats/record.h"

struct publication {
	struct record_facts *facts; /* in memory that the processes of a mount share */
	int record;                 /* the memfd of them; -1: none */
	int name;                   /* the socket of os/registry.h; -1: none */
	char labels[METRICS_LABELS_BYTES]; /* of the mount's metrics; "" before it is mounted */
};

#define PUBLICATION_INIT { .record = -1, .name = -1 }

/*
 * Moves the counters to shared memory, beside the facts that are known before the mount: 0
 * or -ENOMEM. `source`: the packed file; `uid`: whose mount it will be.
 */
int publish_prepare(struct publication *publication, const char *source, uid_t uid);

/*
 * In the supervisor, once it is mounted. A mount that cannot be announced is served all
 * the same.
 */
void publish_mount(struct publication *publication, const struct mount *mount);

void publish_end(struct publication *publication);

#endif
