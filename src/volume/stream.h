/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream.h: compressed streams, decoded from their entry points on. Private to volume/.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_VOLUME_STREAM_H
#define GRANARY_VOLUME_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "volume/volume.h"

/* Reads exactly `length` bytes of a stream, for a volume on it: 0 or a negative errno. */
int stream_pread(const struct volume *stream, void *buffer, size_t length, uint64_t offset,
		 struct read_context *context);

/*
 * Decodes chunk `number` of the table of chunks. Returns its size, which is `room`, or
 * -EBADMSG if the bytes are not those that were there when the index was made, -EIO if
 * the index has no such point, or -ENOMEM.
 */
ssize_t stream_decode(const struct volume *stream, uint64_t number,
		      const struct volume_chunk *chunk, const void *stored, void *plain,
		      size_t room);

#endif
