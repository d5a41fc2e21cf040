#include "format/tar_window.h"

#include <errno.h>
#include <stdlib.h>

#include "format/tar_header.h"
#include "util/checked.h"
#include "util/cleanup.h"

enum {
	READ_MIN = 4 * 1024,   /* the first read behind skipped data */
	READ_MAX = 256 * 1024, /* reads double up to this */
	HOLE_MAX = 1024 * 1024 * 1024, /* a longer one ends an archive */
	SKIP_MIN = 32 * 1024,  /* less than this is read, not skipped */
	HEADERS_MAX = 4 * 1024 * 1024, /* of one member */
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
static uint64_t past_hole(const struct tar_window *window, uint64_t at)
{
	uint64_t data = source_next_data(window->source, window->base + at) - window->base;

	if (data <= at)
		return at;
	if (data >= window->length)
		return window->length;
	return data - (data - at) % TAR_BLOCK;
}

/* One to the end of the window, or one that no archive has between two members. */
static bool in_long_hole(struct tar_window *window)
{
	uint64_t end = past_hole(window, window->at);

	if (end == window->length)
		window->at = end;
	return end == window->length || end - window->at >= HOLE_MAX;
}

ssize_t tar_window_read(struct tar_window *window, const void **out)
{
	uint64_t left = window->length - window->at;
	size_t n = left < window->chunk ? (size_t)left : window->chunk;
	size_t odd = (size_t)((window->base + window->at + n) % READ_MIN);

	*out = window->buffer;
	window->held_end = 0;
	/* the parser reads terabytes of zeros behind an archive, and no header lies
	   in a hole */
	if (n == 0 || (window->chunk >= READ_MAX && in_long_hole(window))) {
		window->at_end = true;
		return 0;
	}
	if (n < left && odd < n)
		n -= odd; /* up to a page's end */
	window->err = tar_window_peek(window, window->buffer, n, window->at);
	if (window->err)
		return -1;
	window->at += n;
	if (window->chunk < READ_MAX)
		window->chunk *= 2;
	return (ssize_t)n;
}

/*
 * Between small members it costs storage less to read on than to step: one large read
 * instead of many small ones. And what a dataset is indexed for is that it will be read.
 */
static void call_ahead(struct tar_window *window)
{
	uint64_t from = window->called > window->at ? window->called : window->at;
	uint64_t left = window->length - window->at;
	uint64_t to = window->at + (left < CALL_AHEAD ? left : CALL_AHEAD);

	if (window->skips < SMALL_LEAST || window->skipped / window->skips > SMALL_MAX ||
	    to <= from || (to - from < CALL_AHEAD / 2 && left > CALL_AHEAD))
		return;
	source_will_need(window->source, window->base + from, to - from);
	window->called = to;
}

static void pass_over(struct tar_window *window, uint64_t bytes)
{
	window->at += bytes;
	window->skips++;
	window->skipped += bytes;
	call_ahead(window);
}

/*
 * Never past the end: the parser then reads on, and notices. Small gaps are
 * read: many small reads cost more than the bytes, and the kernel reads ahead.
 */
uint64_t tar_window_skip(struct tar_window *window, uint64_t wanted)
{
	uint64_t left = window->length - window->at;

	if (wanted < SKIP_MIN)
		return 0;
	if (wanted > left)
		wanted = left;
	window->chunk = READ_MIN;
	pass_over(window, wanted);
	return wanted;
}

void tar_window_seek(struct tar_window *window, uint64_t position)
{
	window->at = position;
	window->chunk = READ_MIN;
	window->at_end = false;
	window->err = 0;
	window->held_end = 0;
}

/* A block by itself behind much data, and else much at once. */
static size_t next_chunk(struct tar_window *window, uint64_t position)
{
	uint64_t left = window->length - position;

	if (position > window->at && position - window->at >= SKIP_MIN) {
		pass_over(window, position - window->at);
		window->chunk = TAR_BLOCK;
	} else if (window->chunk < READ_MAX) {
		window->chunk = window->chunk < READ_MIN ? READ_MIN : 2 * window->chunk;
	}
	return left < window->chunk ? (size_t)left : window->chunk;
}

const unsigned char *tar_window_header(struct tar_window *window, uint64_t position)
{
	size_t n;

	if (position >= window->held && range_within(position, TAR_BLOCK, window->held_end))
		return window->buffer + (position - window->held);
	if (!range_within(position, TAR_BLOCK, window->length))
		return NULL;
	n = next_chunk(window, position);
	window->held_end = 0;
	if (tar_window_peek(window, window->buffer, n, position) < 0)
		return NULL;
	window->held = position;
	window->held_end = window->at = position + n;
	return window->buffer;
}

bool tar_window_has_header(const struct tar_window *window, uint64_t position)
{
	unsigned char block[TAR_BLOCK];

	return tar_window_peek(window, block, TAR_BLOCK, position) == 0 &&
	       tar_header_fits(block);
}

int tar_window_find_nonzero(struct tar_window *window, uint64_t from,
			    uint64_t *position)
{
	window->held_end = 0;
	for (uint64_t at = past_hole(window, from); at < window->length;
	     at = past_hole(window, at)) {
		uint64_t left = window->length - at;
		size_t n = left < READ_MAX ? (size_t)left : READ_MAX;
		int err = tar_window_peek(window, window->buffer, n, at);

		if (err)
			return err;
		for (size_t i = 0; i < n; i++) {
			if (window->buffer[i]) {
				*position = at + i - (at + i - from) % TAR_BLOCK;
				return 0;
			}
		}
		at += n;
	}
	*position = window->length;
	return 0;
}

void tar_window_negative_mtime(const struct tar_window *window, uint64_t from,
			       uint64_t to, int64_t *seconds, uint32_t *ns)
{
	CLEANUP(cleanup_free) unsigned char *bytes = NULL;
	size_t n;

	if (to < from || to - from > HEADERS_MAX)
		return;
	n = (size_t)(to - from);
	bytes = malloc(n + 1);
	if (!bytes || tar_window_peek(window, bytes, n, from) < 0)
		return;
	bytes[n] = '\0';
	tar_header_negative_mtime(bytes, n, seconds, ns);
}
