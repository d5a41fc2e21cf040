/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate.h: where the index of a dataset is kept.
 *
 * In this order: the path that the user named, and then nothing else; beside
 * the packed file (`NAME.gidx`; for a set of shards `FIRST+N-HASH.gidx` beside
 * the first, where N is the number of the others and HASH of their names; options that shape the tree are in
 * the name too: `NAME,nested=off.gidx`); `$XDG_CACHE_HOME/granaryfs/`
 * (or `~/.cache/granaryfs/`), under a name that holds a hash of the path; the only place
 * for a block device.
 */
#ifndef GRANARY_PLACE_LOCATE_H
#define GRANARY_PLACE_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

enum { LOCATE_MAX_PLACES = 2 };

struct index_places {
	char *paths[LOCATE_MAX_PLACES]; /* owned */
	unsigned count;
	bool named;  /* the user's own choice */
	bool beside; /* the first is beside the packed file */
};

/* What an index's name is made from. */
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
