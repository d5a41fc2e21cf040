/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coded.c: chunks, decoded one behind the other; those of a stream begin at its points. */
#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "volume/chunk.h"

/* Copies the bytes of a decoded chunk from `skip` on. */
static int copy_out(struct chunk *chunk, uint64_t number, uint64_t plain, void *buffer,
		    size_t length, uint64_t skip)
{
	int err = chunk_get(chunk, number, plain, length == plain ? buffer : NULL);

	if (!err && !range_within(skip, length, chunk->size))
		err = -EBADMSG; /* it holds less than the index says */
	else if (!err && chunk->bytes != buffer)
		memcpy(buffer, (const char *)chunk->bytes + skip, length);
	chunk_put(chunk, length);
	return err;
}

/* Reads from the chunk that holds `offset`, up to its end: the number of bytes. */
static ssize_t coded_read_chunk(const struct volume *volume, void *buffer, size_t length,
				uint64_t offset, struct read_context *context)
{
	struct chunk chunk = { .volume = volume, .context = context };
	uint64_t number, plain, skip;
	int err = index_chunk(volume->index, &volume->desc, offset, &number, &chunk.is,
			      &plain);

	if (err)
		return err;
	skip = offset - chunk.is.start;
	if (length > plain - skip)
		length = (size_t)(plain - skip);
	err = copy_out(&chunk, number, plain, buffer, length, skip);
	return err ? err : (ssize_t)length;
}

static int coded_pread(const struct volume *volume, void *buffer, size_t length,
		       uint64_t offset, struct read_context *context)
{
	for (size_t done = 0; done < length;) {
		ssize_t n = coded_read_chunk(volume, (char *)buffer + done, length - done,
					     offset + done, context);

		if (n < 0)
			return (int)n;
		done += (size_t)n;
	}
	return 0;
}

const struct volume_ops volume_coded_ops = { .pread = coded_pread };
const struct volume_ops volume_stream_ops = { .pread = coded_pread };
