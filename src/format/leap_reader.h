/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leap_reader.h: a window of a source, read from front to back with leaps.
 *
 * Metadata mostly lie in small pieces between large ones of data. Each leap costs one
 * small read, and reads grow while nothing is leapt over. Where leaps are short the kernel
 * is told to fetch everything well ahead: that costs storage less than many small reads,
 * and what is indexed will be read.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_LEAP_READER_H
#define GRANARY_FORMAT_LEAP_READER_H

#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

struct leap_reader {
	const struct source *source;
	uint64_t base, length; /* the window: bytes from the source's start; the length of a
				  stream is more than there is until its end has been met */
	int err;               /* what the source said first, if it could not read */
	unsigned char *buffer;
	uint64_t held, held_end; /* of the window, in the buffer */
	size_t chunk;          /* the next read's size */
	uint64_t leaps, leapt; /* how often, and how far in all */
	uint64_t called;       /* the kernel has been told to fetch up to here */
};

/* 0 or -ENOMEM. */
int leap_reader_open(struct leap_reader *reader, const struct source *source,
		      uint64_t base, uint64_t length);
void leap_reader_close(struct leap_reader *reader);

/*
 * `n` bytes at `at`, counted from the start of the window: 0, -EBADMSG where they do
 * not lie within it, or what the source said (which `err` remembers).
 */
int leap_reader_read(struct leap_reader *reader, void *out, size_t n, uint64_t at);

#endif
