/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocks.h: a window of a source, read through a few blocks in memory.
 *
 * The metadata of an HDF5 file are many small pieces near each other. Small
 * reads are served from aligned blocks, so that a parallel filesystem is asked
 * for 64 KiB and not for 50 bytes; large ones go to the source as they are.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_HDF5_BLOCKS_H
#define GRANARY_FORMAT_HDF5_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

enum {
	HDF5_BLOCK_BYTES = 64 * 1024,
	HDF5_BLOCKS = 32,
};

struct hdf5_block {
	unsigned char *bytes;
	uint64_t number; /* its first byte is number * HDF5_BLOCK_BYTES */
	uint64_t used;   /* by the clock; 0: it holds nothing */
};

struct hdf5_blocks {
	const struct source *source;
	uint64_t base, length; /* the window: bytes from the source's start */
	int err;               /* what the source said first, if it could not read */
	uint64_t clock;
	struct hdf5_block block[HDF5_BLOCKS];
};

void hdf5_blocks_open(struct hdf5_blocks *blocks, const struct source *source,
		      uint64_t base, uint64_t length);
void hdf5_blocks_close(struct hdf5_blocks *blocks);

/*
 * `n` bytes at `at`, counted from the start of the window: 0, -EBADMSG where they
 * do not lie within it, or what the source said (which `err` remembers), -ENOMEM.
 */
int hdf5_blocks_read(struct hdf5_blocks *blocks, void *buffer, size_t n, uint64_t at);

#endif
