/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image.h: an index in the making: its sections in memory, and how they are
 * written. Made by build/seal.c, consumed by the indexer.
 */
#ifndef GRANARY_BUILD_IMAGE_H
#define GRANARY_BUILD_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/identity.h"
#include "base/vec.h"
#include "index/layout.h"
#include "os/place.h"

struct image {
	VEC(uint8_t) sections[SECTION_COUNT];
};

/* Appends bytes to a section: where they lie in it, or -ENOMEM. */
int64_t image_append(struct image *image, enum layout_section_id section,
		     const void *bytes, size_t size);

/* How many nodes it has. */
uint32_t image_nodes(const struct image *image);

/*
 * Gives it the checksums of its files (layout.h, SUMS), one a node, and those of their
 * blocks, which were planned for the same nodes; NULL: none. 0 or -ENOMEM.
 */
struct blocks;
int image_set_sums(struct image *image, const uint64_t *sums, const struct blocks *blocks);

/* Gives its next source what 0.1 did not record (layout.h, IDENTITIES). 0 or -ENOMEM. */
int image_add_identity(struct image *image, const struct identity *identity);

/* Writes the whole index to `fd` from its current position. */
int image_write(const struct image *image, int fd, const char *label,
		struct error *e);

/* Who may read an index: it holds the names of what the packed files hold. */
struct image_access {
	mode_t mode; /* permission bits: those of the packed files */
	uid_t uid;   /* who owns them all, or -1: whom root gives it to */
	gid_t gid;   /* whom the group's bits are for */
};

/*
 * Writes to a temporary name beside it and renames, so that a reader sees the old
 * file, the new one, or none. Termination signals wait until it is done: nothing is
 * left behind.
 */
int image_publish(const struct image *image, const struct place *place,
		  const struct image_access *access, struct error *e);

/*
 * 0 where there is nothing at that place, or an index or an empty file; -EEXIST and
 * a sentence for anything else, a symbolic link as well: for a place that somebody
 * named, who may have named the packed file itself by mistake.
 */
int image_may_replace(const struct place *place, struct error *e);

void image_free(struct image *image);

#endif
