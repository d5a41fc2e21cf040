/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs_compressor.h: what `--compress` means in a squashfs image.
 *
 * libsquashfs's compressors in a wrapper, which adds two things: "none", and that a
 * block which does not become smaller is stored as it is. (libsquashfs 1.2 keeps the
 * larger one with lz4; unsquashfs refuses the image if that is a table of owners, and
 * images would be unpacked for nothing at every read.)
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
	int least, most, usual; /* levels; most = 0: it has none */
};

/* By its name, or NULL. */
const struct squashfs_compressor *squashfs_compressor_find(const char *name);

/* May it have this level? 0, or -EINVAL with a sentence. */
int squashfs_compressor_check(const struct squashfs_compressor *compressor, int level,
			      struct error *e);

/* Does it leave all as it is? */
bool squashfs_compressor_is_none(const struct squashfs_compressor *compressor);

/* 0, or an error of libsquashfs. sqfs_destroy frees it. `unpack`: it decompresses. */
int squashfs_compressor_create(const struct squashfs_compressor *compressor, int level,
			       size_t block_size, bool unpack, sqfs_compressor_t **out);

#endif
