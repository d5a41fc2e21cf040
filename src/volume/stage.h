/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage.h: blocks of sources in the cache, read before they are asked for. Private to
 * volume/.
 *
 * All reading of stored bytes goes through stage_pread. What lies in a block that is
 * there comes from it. What does not is read as the context's hint says: by itself, so
 * that a reader need not wait for bytes that nobody has asked for, or with its block.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_VOLUME_STAGE_H
#define GRANARY_VOLUME_STAGE_H

#include <stddef.h>
#include <stdint.h>

#include "volume/volume.h"

/* Reads exactly `length` bytes of the volume's source: 0 or a negative errno. */
int stage_pread(const struct volume *volume, void *buffer, size_t length,
		uint64_t offset, struct read_context *context);

#endif
