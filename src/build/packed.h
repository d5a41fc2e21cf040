/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packed.h: ordinary entries in 32 bytes and their paths. Private to build/: entries.c
 * stores the others, and numbers all of them here.
 *
 * Blocks of memory come from mmap and return to the system, so a log freed from front to
 * back makes room for the tree.
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
	VEC(struct packed_block *) blocks; /* NULL: freed */
	VEC(struct packed_owner) owners;
	size_t count;   /* all entries, also those kept elsewhere */
	size_t recent;  /* the block used last */
};

/* Does the entry fit? A file in one piece, or a directory, without unusual attributes. */
bool packed_fits(const struct entry *entry);

/* 0 or -ENOMEM. */
int packed_add(struct packed *packed, const struct entry *entry);

/* Adds a number for an entry kept elsewhere, at `where`. */
int packed_add_external(struct packed *packed, size_t where);

/*
 * Unpacks entry i; false, and *where, if it is kept elsewhere. The path lives as long as
 * the log has it; an extent is put into *extent.
 */
bool packed_get(struct packed *packed, size_t i, struct entry *out,
		struct entry_extent *extent, size_t *where);

/* Frees entries before i. */
void packed_release(struct packed *packed, size_t i);
void packed_free(struct packed *packed);

#endif
