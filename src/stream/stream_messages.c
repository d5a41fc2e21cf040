/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>

#include "stream/stream_kind.h"

static unsigned long long file_position(uint64_t at)
{
	return (unsigned long long)at;
}

ssize_t stream_read(struct stream_input *input, void *buffer, size_t n, uint64_t at,
		    struct error *e)
{
	int err = -ENODATA;

	while (err == -ENODATA && at < input->length) {
		uint64_t size;

		if (n > input->length - at)
			n = (size_t)(input->length - at);
		err = source_pread(input->source, buffer, n, input->base + at);
		size = source_size(input->source) - input->base;
		if (err == -ENODATA && size < input->length)
			input->length = size;
	}
	if (err && at < input->length)
		return stream_unreadable(input, err, e);
	return at < input->length ? (ssize_t)n : 0;
}

int stream_truncated(const struct stream_input *input, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' is truncated: its compressed data end in their middle, at "
			 "byte %llu; copy or download it again",
			 input->label, file_position(input->base + input->length));
}

int stream_damaged(const struct stream_input *input, const char *what, uint64_t at,
		   struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' is damaged: %s at byte %llu; copy or download it again",
			 input->label, what, file_position(at));
}

int stream_unreadable(const struct stream_input *input, int err, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, -err,
			 "cannot read '%s': %s; check the storage, or copy the file again",
			 input->label, strerror(-err));
}

int stream_no_memory(const struct stream_input *input, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, ENOMEM,
			 "there is not enough memory to index '%s'; free some and try again",
			 input->label);
}

int stream_cannot_enter(const struct stream_input *input, const struct stream_kind *kind,
			uint64_t at, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' cannot be read at random: from byte %llu on its %s data can be "
			 "entered nowhere for %d MiB, which every read there would decode; write "
			 "it again: %s -dc '%s' | %s",
			 input->label, file_position(at), kind->name,
			 STREAM_CHUNK_MOST >> 20, kind->unpack, input->label, kind->repack);
}
