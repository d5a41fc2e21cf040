/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mount_list.h: the mounts of a node: those in the mount table, and those that only their
 * daemons know of, as `granary run` makes them. Asks no mount and no daemon, so none can
 * make it hang.
 *
 * Threads: one.
 */
#ifndef GRANARY_TOOL_MOUNT_LIST_H
#define GRANARY_TOOL_MOUNT_LIST_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "stats/record.h"
#include "stats/sample.h"

/* Of daemons of one user other than root: nobody can fill the list, or a node's metrics. */
enum { MOUNT_LIST_USER_MOST = 64 };

struct listed_mount {
	char id[32];
	char user[RECORD_WORD_BYTES];
	char *source;     /* owned */
	char *mountpoint; /* owned; of a private mount as its namespace has it */
	bool is_private;  /* not in this mount namespace */
	struct record *record; /* owned; NULL: this user may not read it, or it is dead */
	struct stats_sample sample; /* with a record */
	pid_t daemon;          /* likewise */
};

struct mount_list {
	struct listed_mount *items;
	size_t count, room;
};

/* 0, or a negative errno and *e. */
int mount_list_read(struct mount_list *out, struct error *e);
void mount_list_free(struct mount_list *list);

/*
 * The record of the mount at the mount point `path`: now the caller's, or NULL: there is
 * none that this user may read.
 */
struct record *mount_list_find(const char *path);

/* Bytes: the daemon's cache, its pages in the page cache, and inodes. */
uint64_t sample_memory(const struct stats_sample *sample);

/* The share of chunks that the daemon's cache had, 0 to 1; < 0: none was asked for. */
double sample_hit_share(const struct stats_sample *sample);

#endif
