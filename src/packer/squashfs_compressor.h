/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_compressor.h: the compressors of `--compress` for squashfs images.
 *
 * A wrapper of libsquashfs's compressors adds "none", and stores a block plain if it does
 * not become smaller. (libsquashfs 1.2 keeps the larger block with lz4; unsquashfs
 * refuses such a table of owners, and every read of such a block would decompress it in
 * vain.)
 */
#ifndef GRANARY_PACKER_SQUASHFS_COMPRESSOR_H
#define GRANARY_PACKER_SQUASHFS_COMPRESSOR_H

#include <sqfs/compressor.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct squashfs_compressor {
	const char *name;
	SQFS_COMPRESSOR id;
	int least, most, usual; /* levels; most = 0: no levels */
};

/* Finds a compressor by name, or NULL. */
const struct squashfs_compressor *squashfs_compressor_find(const char *name);

/* Checks the level: 0, or -EINVAL with a sentence. */
int squashfs_compressor_check(const struct squashfs_compressor *compressor, int level,
			      struct error *e);

/* Is this "none"? */
bool squashfs_compressor_is_none(const struct squashfs_compressor *compressor);

/* 0, or an error of libsquashfs. sqfs_destroy frees it. `unpack`: it decompresses. */
int squashfs_compressor_create(const struct squashfs_compressor *compressor, int level,
			       size_t block_size, bool unpack, sqfs_compressor_t **out);

#endif
