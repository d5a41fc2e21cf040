/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_ring.h: threads read the contents of files ahead; the caller gets them in order.
 *
 * A file comes in pieces of at most READ_RING_PIECE bytes. Any free thread opens the file
 * and reads a piece. About 3 MiB a thread are in memory. A decoded image is one piece of
 * any size: its thread waits until the decoded images fit READ_RING_MEMORY, unless it is
 * the next.
 *
 * The file's size and time of change are compared with the scan before and after each
 * read.
 *
 * Threads: one calls these functions.
 */
#ifndef GRANARY_PACKER_READ_RING_H
#define GRANARY_PACKER_READ_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/decoders.h"
#include "packer/plan.h"

enum {
	READ_RING_PIECE = 1 << 20,
	READ_RING_MEMORY = 256 << 20,
};

struct read_ring_piece {
	const struct plan_item *item;
	uint64_t offset;      /* in the file */
	const void *bytes;
	size_t length;        /* read */
	size_t wanted;        /* by the scan; of a decoded image: length */
	bool last;            /* of the file */
	bool changed;         /* before or during the read */
	bool decoded;         /* bytes are PPM */
	int err;              /* 0, or a negative errno */
	const char *where;    /* with err: "opened" or "read" */
	const char *damage;   /* why an image was not decoded; bytes are the file's */
	const struct pack_xattr *xattrs; /* with the first piece */
	uint32_t xattr_count;
};

struct read_ring;

/*
 * Starts to read those of the `count` items that are files with contents. The items,
 * their scan and `decoders` must outlive the reader. `decoders` may be NULL if no item is
 * decoded. 0 or a negative errno.
 */
int read_ring_start(struct read_ring **out, const struct pack_scan *scan,
		    const struct plan_item *items, size_t count,
		    struct decoders *decoders, unsigned threads);

/* Waits for the next piece; NULL at the end. It lives until the next call. */
const struct read_ring_piece *read_ring_next(struct read_ring *reader);

/* Ends the threads at once. NULL is allowed. */
void read_ring_stop(struct read_ring *reader);

/* Does a reader read this item's contents? */
bool read_ring_has_contents(const struct plan_item *item);

#endif
