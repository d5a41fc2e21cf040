/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image.h: an index being built: its sections in memory, and writing them. Made by
 * build/seal.c, used by the indexer.
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

/* Appends bytes to a section: their offset in it, or -ENOMEM. */
int64_t image_append(struct image *image, enum layout_section_id section,
		     const void *bytes, size_t size);

/* The number of nodes. */
uint32_t image_nodes(const struct image *image);

/*
 * Adds the checksums of files (layout.h, SUMS), one a node, and those of their blocks,
 * planned for the same nodes; NULL: none. 0 or -ENOMEM.
 */
struct block_sums;
int image_set_sums(struct image *image, const uint64_t *sums,
		   const struct block_sums *blocks);

/* Adds the next source's fields that 0.1 lacks (layout.h, IDENTITIES). 0 or -ENOMEM. */
int image_add_identity(struct image *image, const struct identity *identity);

/* Writes the whole index to `fd` from its current position. */
int image_write(const struct image *image, int fd, const char *label,
		struct error *e);

/* The same where `fd` is memory, too: frees what has been written as it goes. */
int image_move(struct image *image, int fd, const char *label, struct error *e);

/* Access to an index, no wider than to the packed files, whose names it has. */
struct image_access {
	mode_t mode; /* permission bits of the packed files */
	uid_t uid;   /* the owner of all, or -1; only root changes the owner */
	gid_t gid;   /* the group of the group's bits */
};

/*
 * Writes a temporary file beside the place and renames it, so that a reader sees the old
 * file, the new one, or none. Termination signals are blocked meanwhile, so no file is
 * left behind.
 */
int image_publish(const struct image *image, const struct place *place,
		  const struct image_access *access, struct error *e);

/*
 * 0 if the place is free, an index or an empty file; else -EEXIST and a sentence, also
 * for a symbolic link. For a place given by a user, who may have given the packed file by
 * mistake.
 */
int image_may_replace(const struct place *place, struct error *e);

void image_free(struct image *image);

#endif
