/*
 * tar_window.h: the bytes of one tar, as a parser of streams asks for them:
 * in blocks, from front to back, with data stepped over. Private to the tar
 * format.
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
	uint64_t base, length; /* positions below count from base */
	uint64_t at;           /* what is read next */
	size_t chunk;          /* the next read's size */
	uint64_t skips, skipped; /* how often, and how much in all */
	uint64_t held, held_end; /* what the buffer holds, for tar_window_header */
	uint64_t called;       /* the kernel has been told to fetch up to here */
	bool at_end;           /* more was asked for than there is */
	int err;               /* the source's, negative */
	unsigned char *buffer;
};

/* Checks the range: 0, -EIO or -ENOMEM. */
int tar_window_open(struct tar_window *window, const struct source *source,
		    uint64_t base, uint64_t length);
void tar_window_close(struct tar_window *window);

/* The next bytes, valid until the next call: how many, 0 at the end, or -1. */
ssize_t tar_window_read(struct tar_window *window, const void **out);

/* Returns how many bytes were stepped over: all of them, or fewer, or none. */
uint64_t tar_window_skip(struct tar_window *window, uint64_t wanted);

/* Where tar_window_read, or tar_window_header, goes on. */
void tar_window_seek(struct tar_window *window, uint64_t position);

/*
 * The block at `position`, which is behind those asked for since tar_window_seek: valid until the
 * next call, NULL past the end and where it cannot be read. Data between blocks are
 * stepped over as by tar_window_skip.
 */
const unsigned char *tar_window_header(struct tar_window *window, uint64_t position);

/* `n` bytes at `position`, wherever the parser is. */
int tar_window_peek(const struct tar_window *window, void *out, size_t n,
		    uint64_t position);

/* Is there a valid header block? */
bool tar_window_has_header(const struct tar_window *window, uint64_t position);

/*
 * Leaves in *position the first block from `from` on that is not all zeros, or
 * the window's length: 0 or a negative errno. Takes the parser's buffer.
 */
int tar_window_find_nonzero(struct tar_window *window, uint64_t from,
			    uint64_t *position);

/*
 * Looks for a negative mtime in the pax header among the header blocks from
 * `from` to `to`, and leaves it in *seconds and *ns if there is one.
 */
void tar_window_negative_mtime(const struct tar_window *window, uint64_t from,
			       uint64_t to, int64_t *seconds, uint32_t *ns);

#endif
