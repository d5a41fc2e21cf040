/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read_ring.h: the contents of files, read ahead by several threads, handed out in order.
 *
 * A file comes in pieces of at most READER_PIECE bytes, each read by whichever thread is
 * free, which opens the file for it. About 3 MiB a thread are in memory. An image
 * that is decoded, which is one piece whatever its size, waits until it and those before
 * it fit READER_MEMORY, unless it is the next.
 *
 * The file is looked at before and after each piece was read: where its size or time of
 * change is not that of the scan, it has changed.
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
	READER_PIECE = 1 << 20,
	READER_MEMORY = 256 << 20,
};

struct piece {
	const struct plan_item *item;
	uint64_t offset;      /* in the file */
	const void *bytes;
	size_t length;        /* that were read */
	size_t wanted;        /* by the scan; of a decoded image the same as length */
	bool last;            /* of the file */
	bool changed;         /* while or before it was read */
	bool decoded;         /* bytes are a PPM */
	int err;              /* 0, or why it could not be read */
	const char *where;    /* with err: "opened" or "read" */
	const char *damage;   /* an image that cannot be decoded: why; bytes are the file's */
	const struct pack_xattr *xattrs; /* with the first piece */
	uint32_t xattr_count;
};

struct reader;

/*
 * Reads those of the `count` items that are files with contents of their own. The items
 * and `root`, the open source folder, must outlive the reader, and so must `decoders`,
 * which may be NULL where no item is decoded. 0 or a negative errno.
 */
int reader_start(struct reader **out, int root, const struct plan_item *items, size_t count,
		 struct decoders *decoders, unsigned threads);

/*
 * Waits for the next piece; NULL when all have come. It lives until the next call.
 */
const struct piece *reader_next(struct reader *reader);

/* Ends the threads, wherever they are. NULL is allowed. */
void reader_stop(struct reader *reader);

/* Is this an item whose contents come from a reader? */
bool reader_reads(const struct plan_item *item);

#endif
