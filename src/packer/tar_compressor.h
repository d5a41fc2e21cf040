/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tar_compressor.h: a compressed tar that can be read at random: each MiB of the tar is a
 * gzip member, a zstd frame or an xz stream of its own. Any program that unpacks these
 * formats reads them one behind the other.
 *
 * Threads: one compressor belongs to one thread at a time.
 */
#ifndef GRANARY_PACKER_TAR_COMPRESSOR_H
#define GRANARY_PACKER_TAR_COMPRESSOR_H

#include <stddef.h>

#include "base/error.h"

struct tar_compressor;

/* `name`: "gzip", "zstd" or "xz"; `level`: -1: its default. 0, or an error and *e. */
int tar_compressor_new(const char *name, int level, struct tar_compressor **out,
		       struct error *e);
void tar_compressor_free(struct tar_compressor *compressor);

/* Writes what is complete to `fd`: 0 or a negative errno. */
int tar_compressor_write(struct tar_compressor *compressor, int fd, const void *bytes,
			 size_t length);

/* Writes the rest: 0 or a negative errno. */
int tar_compressor_end(struct tar_compressor *compressor, int fd);

#endif
