/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage.h: blocks of sources in the cache, read before they are asked for. Private to
 * volume/.
 *
 * All reads of stored bytes go through stage_pread. Bytes in a cached block are copied
 * from it. Other bytes are read as the context's hint says: alone, so that a reader does
 * not wait for bytes that no reader needs, or with their block.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_VOLUME_STAGE_H
#define GRANARY_VOLUME_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "volume/volume.h"

/* Reads exactly `length` bytes of the volume's source, or of the stream that it lies on: 0
   or a negative errno. */
int stage_pread(const struct volume *volume, void *buffer, size_t length,
		uint64_t offset, struct read_context *context);

#endif
