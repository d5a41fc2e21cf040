/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tar/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "format/tar/header.h"

enum {
	READ_MIN = 4 * 1024,   /* the first read, mostly */
	READ_MAX = 256 * 1024, /* reads double up to this */
	SKIP_MIN = 32 * 1024,  /* less than this is read, not skipped */
	SMALL_MAX = 1024 * 1024, /* members of this size are fetched along, */
	SMALL_LEAST = 16,      /* once there have been so many, */
	CALL_AHEAD = 8 * 1024 * 1024, /* so far ahead */
};

int tar_window_open(struct tar_window *window, const struct source *source,
		    uint64_t base, uint64_t length)
{
	if (!range_within(base, length, source_size(source)))
		return -EIO;
	*window = (struct tar_window){
		.source = source, .base = base, .length = length,
		.chunk = READ_MIN, .buffer = malloc(READ_MAX),
	};
	return window->buffer ? 0 : -ENOMEM;
}

void tar_window_close(struct tar_window *window)
{
	free(window->buffer);
	window->buffer = NULL;
}

int tar_window_peek(const struct tar_window *window, void *out, size_t n,
		    uint64_t position)
{
	if (!range_within(position, n, window->length))
		return -EIO;
	return source_pread(window->source, out, n, window->base + position);
}

/* The first block from `at` on that is stored, or the window's end. */
static uint64_t skip_hole(const struct tar_window *window, uint64_t at)
{
	uint64_t data = source_next_data(window->source, window->base + at) - window->base;

	if (data <= at)
		return at;
	if (data >= window->length)
		return window->length;
	return data - (data - at) % TAR_BLOCK;
}

/*
 * Between small members it costs storage less to read on than to step: one large read
 * instead of many small ones. And what a dataset is indexed for is that it will be read.
 */
static void window_call_ahead(struct tar_window *window)
{
	uint64_t from = window->called > window->at ? window->called : window->at;
	uint64_t left = window->length - window->at;
	uint64_t to = window->at + (left < CALL_AHEAD ? left : CALL_AHEAD);

	if (window->skips < SMALL_LEAST || window->skipped / window->skips > SMALL_MAX ||
	    to <= from || (to - from < CALL_AHEAD / 2 && left > CALL_AHEAD))
		return;
	source_hint(window->source, HINT_SOON, window->base + from, to - from);
	window->called = to;
}

static void window_pass_over(struct tar_window *window, uint64_t bytes)
{
	window->at += bytes;
	window->skips++;
	window->skipped += bytes;
	window_call_ahead(window);
}

void tar_window_seek(struct tar_window *window, uint64_t position)
{
	window->at = position;
	window->chunk = READ_MIN;
	window->err = 0;
	window->held_end = 0;
}

/* A block by itself behind much data, or what a pax header takes, and else much at once. */
static size_t next_chunk(struct tar_window *window, uint64_t position)
{
	uint64_t left = window->length - position;

	if (position > window->at && position - window->at >= SKIP_MIN) {
		window_pass_over(window, position - window->at);
		window->chunk = window->extended ? READ_MIN : TAR_BLOCK;
	} else if (window->chunk < READ_MAX) {
		window->chunk = window->chunk < READ_MIN ? READ_MIN : 2 * window->chunk;
	}
	return left < window->chunk ? (size_t)left : window->chunk;
}

/* The source ended where more was wanted: a stream, whose length is known from now on. */
static void learn_length(struct tar_window *window)
{
	uint64_t size = source_size(window->source);

	if (size - window->base < window->length)
		window->length = size - window->base;
}

/* Reads up to `n` bytes, fewer at the end of a stream: the number, 0 for less than a block. */
static size_t window_read(struct tar_window *window, size_t n, uint64_t position)
{
	window->err = tar_window_peek(window, window->buffer, n, position);
	if (window->err != -ENODATA)
		return window->err ? 0 : n;
	window->err = 0;
	learn_length(window);
	if (!range_within(position, TAR_BLOCK, window->length))
		return 0;
	if (n > window->length - position)
		n = (size_t)(window->length - position);
	window->err = tar_window_peek(window, window->buffer, n, position);
	return window->err ? 0 : n;
}

const unsigned char *tar_window_header(struct tar_window *window, uint64_t position)
{
	size_t n;

	window->err = 0;
	if (position >= window->held && range_within(position, TAR_BLOCK, window->held_end))
		return window->buffer + (position - window->held);
	if (!range_within(position, TAR_BLOCK, window->length))
		return NULL;
	n = next_chunk(window, position);
	window->held_end = 0;
	n = window_read(window, n, position);
	if (n == 0)
		return NULL;
	window->held = position;
	window->held_end = window->at = position + n;
	return window->buffer;
}

int tar_window_bytes(struct tar_window *window, void *out, size_t n, uint64_t position)
{
	const unsigned char *bytes = NULL;

	if (n <= READ_MIN)
		bytes = tar_window_header(window, position);
	if (bytes && range_within(position, n, window->held_end)) {
		memcpy(out, bytes, n);
		return 0;
	}
	window->err = tar_window_peek(window, out, n, position);
	if (window->err == -ENODATA)
		learn_length(window);
	return window->err;
}

int tar_window_find_nonzero(struct tar_window *window, uint64_t from,
			    uint64_t *position)
{
	uint64_t at = from;

	window->held_end = 0;
	while ((at = skip_hole(window, at)) < window->length && at - from < TAR_GAP_MOST) {
		uint64_t left = window->length - at;
		size_t n = left < READ_MAX ? (size_t)left : READ_MAX;

		window->err = tar_window_peek(window, window->buffer, n, at);
		if (window->err == -ENODATA) {
			window->err = 0;
			learn_length(window);
			continue;
		}
		if (window->err)
			return window->err;
		for (size_t i = 0; i < n; i++) {
			if (window->buffer[i]) {
				*position = at + i - (at + i - from) % TAR_BLOCK;
				return 0;
			}
		}
		at += n;
	}
	*position = at;
	return 0;
}
