/* SPDX-License-Identifier: GPL-3.0-or-later */
/* literal.c: bytes made when the dataset was indexed, kept in the index. */
#include "volume/volume.h"

static int literal_pread(const struct volume *volume, void *buffer, size_t length,
			 uint64_t offset, struct read_context *context)
{
	return index_read_literals(volume->index, buffer, length, volume->desc.base + offset);
}

const struct volume_ops volume_literal_ops = { .pread = literal_pread };
