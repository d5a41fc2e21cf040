/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packed.h: the entries that nearly all are, in 32 bytes and their paths. Private to
 * build/: entries.c keeps all others as they are, and numbers all of them here.
 *
 * Blocks of memory come from the system and go back to it, so that a log that is let
 * go of from front to back makes room for what is built of it.
 *
 * Threads: as a log of entries.
 */
#ifndef GRANARY_BUILD_PACKED_H
#define GRANARY_BUILD_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "build/entries.h"

struct packed_block;

struct packed_owner {
	uint32_t mode, uid, gid;
};

struct packed {
	VEC(struct packed_block *) blocks; /* NULL: let go of */
	VEC(struct packed_owner) owners;
	size_t count;   /* entries, those that are kept elsewhere included */
	size_t recent;  /* the block that was looked at last */
};

/* One that fits: a file in one piece, or a directory, with nothing unusual. */
bool packed_fits(const struct entry *entry);

/* 0 or -ENOMEM. */
int packed_add(struct packed *packed, const struct entry *entry);

/* The next entry is kept elsewhere, as number `where`. */
int packed_add_elsewhere(struct packed *packed, size_t where);

/*
 * Entry i: false, and *where, if it is kept elsewhere. The path lives as long as the
 * log holds it; the extent, if there is one, is put into *extent.
 */
bool packed_get(struct packed *packed, size_t i, struct entry *out,
		struct entry_extent *extent, size_t *where);

/* Entries before i are not asked for any more. */
void packed_release(struct packed *packed, size_t i);
void packed_free(struct packed *packed);

#endif
