/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/leap_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum {
	READ_MIN = 4 * 1024,     /* behind a leap */
	READ_LEAST = 1024,       /* if that much is left of a page, it is enough */
	READ_MAX = 256 * 1024,
	LEAP_MIN = 32 * 1024,    /* less than this is read, not leapt over */
	LEAP_SMALL = 1024 * 1024, /* on average: then all is fetched, */
	LEAPS_LEAST = 16,        /* once there have been so many, */
	CALL_AHEAD = 8 * 1024 * 1024, /* so far ahead */
};

int leap_reader_open(struct leap_reader *reader, const struct source *source,
		      uint64_t base, uint64_t length)
{
	*reader = (struct leap_reader){ .source = source, .base = base,
					 .length = length, .chunk = READ_MIN,
					 .buffer = malloc(READ_MAX) };
	return reader->buffer ? 0 : -ENOMEM;
}

void leap_reader_close(struct leap_reader *reader)
{
	free(reader->buffer);
	reader->buffer = NULL;
}

/* The source ended where more was wanted: a stream, whose length is known from now on. */
static int learn_length(struct leap_reader *reader)
{
	uint64_t size = source_size(reader->source) - reader->base;

	if (size < reader->length)
		reader->length = size;
	return -EBADMSG;
}

static int leap_reader_fetch(struct leap_reader *reader, void *out, size_t n, uint64_t at)
{
	int err = source_pread(reader->source, out, n, reader->base + at);

	if (err == -ENODATA)
		return learn_length(reader);
	if (err && !reader->err)
		reader->err = err;
	return err;
}

static void leap_reader_call_ahead(struct leap_reader *reader, uint64_t at)
{
	uint64_t from = reader->called > at ? reader->called : at;
	uint64_t left = reader->length - at;
	uint64_t to = at + (left < CALL_AHEAD ? left : CALL_AHEAD);

	if (reader->leaps < LEAPS_LEAST || reader->leapt / reader->leaps > LEAP_SMALL ||
	    to <= from || (to - from < CALL_AHEAD / 2 && left > CALL_AHEAD))
		return;
	source_hint(reader->source, HINT_SOON, reader->base + from, to - from);
	reader->called = to;
}

static void choose_chunk(struct leap_reader *reader, uint64_t at)
{
	if (at >= reader->held_end && at - reader->held_end < LEAP_MIN) {
		if (reader->chunk < READ_MAX)
			reader->chunk *= 2;
		return;
	}
	reader->chunk = READ_MIN;
	if (at > reader->held_end) {
		reader->leaps++;
		reader->leapt += at - reader->held_end;
		leap_reader_call_ahead(reader, at);
	}
}

/* `n` bytes at least, and up to a page's end. */
static int leap_reader_fill(struct leap_reader *reader, size_t n, uint64_t at)
{
	uint64_t left = reader->length - at;
	size_t size;
	int err;

	choose_chunk(reader, at);
	size = reader->chunk - (size_t)((reader->base + at) % READ_MIN);
	if (size < n || size < READ_LEAST)
		size += READ_MIN;
	if (size < n)
		size = n;
	if (size > left)
		size = (size_t)left;
	reader->held = reader->held_end = 0;
	err = leap_reader_fetch(reader, reader->buffer, size, at);
	if (err == -EBADMSG && range_within(at, n, reader->length)) {
		size = (size_t)(reader->length - at);
		err = leap_reader_fetch(reader, reader->buffer, size, at);
	}
	if (err)
		return err;
	reader->held = at;
	reader->held_end = at + size;
	return 0;
}

int leap_reader_read(struct leap_reader *reader, void *out, size_t n, uint64_t at)
{
	int err = 0;

	if (!range_within(at, n, reader->length))
		return -EBADMSG;
	if (n > READ_MAX / 2)
		return leap_reader_fetch(reader, out, n, at);
	if (at < reader->held || !range_within(at, n, reader->held_end))
		err = leap_reader_fill(reader, n, at);
	if (!err)
		memcpy(out, reader->buffer + (at - reader->held), n);
	return err;
}
