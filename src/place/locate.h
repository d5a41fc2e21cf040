/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate.h: the places of a dataset's index, in this order:
 *
 * 1. the path that the user named, which is then the only place;
 * 2. beside the packed file: `NAME.gidx`; for a set of shards `FIRST+N-HASH.gidx` beside
 * the first (N: number of the others; HASH: of their names). Options that shape the tree
 * are in the name: `NAME,nested=off.gidx`;
 * 3. `$XDG_CACHE_HOME/granaryfs/` (or `~/.cache/granaryfs/`), by a hash of the path; the
 * only place for a block device.
 */
#ifndef GRANARY_PLACE_LOCATE_H
#define GRANARY_PLACE_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

enum { LOCATE_MAX_PLACES = 2 };

struct index_places {
	char *paths[LOCATE_MAX_PLACES]; /* owned */
	unsigned count;
	bool named;  /* the user named the path */
	bool beside; /* the first is beside the packed file */
};

/* The parts of an index's name. */
struct dataset_name {
	const char *const *paths; /* of the sources */
	uint32_t count;
	const char *variant; /* options that are not the default, or "" */
};

/* `named` is the user's path or NULL. 0 or -ENOMEM. */
int locate_index(const struct dataset_name *dataset, const char *named,
		 struct index_places *out);
void locate_free(struct index_places *places);

#endif
