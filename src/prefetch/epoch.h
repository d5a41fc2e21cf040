/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * epoch.h: recognises an epoch by its first reads: shuffled over all of the dataset, so
 * that all of it will be read. Pure: no clock, threads or I/O.
 *
 * Three properties of the last EPOCH_FILES different files tell an epoch from a walk:
 *
 *	fast      their first reads lie within EPOCH_MS
 *	shuffled  most neither follow in storage nor are near a file read lately by number.
 *		  Numbers follow the order of names, directory by directory, as grep -r, rsync, tar
 *		  and thumbnails of a directory do, and also some of them at once
 *	spread    they lie in many parts of the tree: a directory's files are neighbours, and
 *		  reading one directory in any order needs no other
 *
 * Private to prefetch/. Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_EPOCH_H
#define GRANARY_PREFETCH_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

enum {
	EPOCH_FILES = 64,
	EPOCH_MS = 60000,
	EPOCH_SHUFFLED = EPOCH_FILES * 5 / 8, /* of these files, at least */
	EPOCH_PARTS = 64,                     /* of the tree, equal in names */
	EPOCH_SPREAD = 24,                    /* parts; 40 are expected of an epoch */
	EPOCH_NEAR = 16,                      /* files read lately are compared */
};

struct epoch_file {
	uint32_t node;
	bool shuffled;
	int64_t ms;
};

struct epoch {
	uint32_t nodes;                       /* of the tree */
	struct epoch_file files[EPOCH_FILES]; /* the last ones, a ring */
	unsigned next, count;
	bool seen;
};

void epoch_init(struct epoch *epoch, uint32_t nodes);

/* `follows`: the file is stored behind one that was read. */
void epoch_note(struct epoch *epoch, uint32_t node, bool follows, int64_t now_ms);

/* Has an epoch been seen? */
bool epoch_is_seen(const struct epoch *epoch);

#endif
