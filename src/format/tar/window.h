/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * window.h: the bytes of one tar, as its headers are read: in blocks, from front to
 * back, with data stepped over. Private to format/tar/.
 */
#ifndef GRANARY_FORMAT_TAR_WINDOW_H
#define GRANARY_FORMAT_TAR_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "source/source.h"

struct tar_window {
	const struct source *source;
	uint64_t base, length; /* positions below count from base; the length of a stream is
				  more than there is until its end has been met */
	uint64_t at;           /* what is read next */
	size_t chunk;          /* the next read's size */
	uint64_t skips, skipped; /* how often, and how much in all */
	uint64_t held, held_end; /* what the buffer holds, for tar_window_header */
	uint64_t called;       /* the kernel has been told to fetch up to here */
	bool extended;         /* headers are more than one block, mostly */
	int err;               /* the source's, negative, of the last call */
	unsigned char *buffer;
};

/* Checks the range: 0, -EIO or -ENOMEM. */
int tar_window_open(struct tar_window *window, const struct source *source,
		    uint64_t base, uint64_t length);
void tar_window_close(struct tar_window *window);

/* Headers are asked for from another place on. */
void tar_window_seek(struct tar_window *window, uint64_t position);

/*
 * The block at `position`, which is behind those asked for since tar_window_seek: valid until the
 * next call; NULL past the end, and where it cannot be read, which `err` then says. Large
 * data between blocks are stepped over, not read.
 */
const unsigned char *tar_window_header(struct tar_window *window, uint64_t position);

/* `n` bytes at `position`, wherever the parser is. */
int tar_window_peek(const struct tar_window *window, void *out, size_t n,
		    uint64_t position);

/* The same, through the buffer if they are few; the headers' rules hold for `position`. */
int tar_window_bytes(struct tar_window *window, void *out, size_t n, uint64_t position);

/*
 * Leaves in *position the first block from `from` on that is not all zeros, or the
 * window's length; or, where at least TAR_GAP_MOST zeros follow, a place behind these:
 * 0 or a negative errno. Takes the buffer.
 */
enum { TAR_GAP_MOST = 1024 * 1024 * 1024 };
int tar_window_find_nonzero(struct tar_window *window, uint64_t from,
			    uint64_t *position);

#endif
