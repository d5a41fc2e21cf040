/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "source/parts.h"
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

/* "zstd -dc 'x.tar.zst'", or all of its parts into that. */
static void print_unpack(const struct stream_input *input, const char *program, char *text,
			 size_t room)
{
	uint32_t parts = source_part_count(input->source);

	snprintf(text, room, "%s -dc '%s'", program, input->label);
	if (parts == 1)
		return;
	snprintf(text, room, "cat");
	for (uint32_t i = 0; i < parts; i++)
		buffer_print(text, room, " '%s'", source_path(source_part(input->source, i)));
	buffer_print(text, room, " | %s -dc", program);
}

int stream_refuse_entry(struct stream_input *input, const struct stream_kind *kind,
			const char *why, struct error *e)
{
	char unpack[1024];

	input->closed = true;
	if (input->base > 0)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "'%s' cannot be read at random: %s; copy it out of the mount, and mount "
				 "the copy with -o spool=DIR (on a disk)", input->label, why);
	print_unpack(input, kind->unpack, unpack, sizeof(unpack));
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' cannot be read at random: %s; have it unpacked once, with -o "
			 "spool=DIR (on a disk), or write it again: %s | %s",
			 input->label, why, unpack, kind->repack);
}

int stream_cannot_enter(struct stream_input *input, const struct stream_kind *kind,
			uint64_t at, struct error *e)
{
	char why[256], stored[SIZE_TEXT_BYTES];

	snprintf(why, sizeof(why),
		 "from byte %llu on its %s data, %s, can be entered nowhere for %d MiB, which "
		 "every read there would decode",
		 file_position(at), kind->name,
		 size_text(input->length - (at - input->base), stored), STREAM_CHUNK_MOST >> 20);
	return stream_refuse_entry(input, kind, why, e);
}
