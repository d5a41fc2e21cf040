/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * value_window.h: small pieces of values, read in whole pages of 4 KiB, of which the last
 * ones are kept.
 *
 * Where pieces follow each other by less than 1 MiB, the kernel is asked to fetch all
 * that lies there: that costs storage less than many small reads.
 *
 * Threads: a window belongs to one thread.
 */
#ifndef GRANARY_FORMAT_VALUE_WINDOW_H
#define GRANARY_FORMAT_VALUE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "source/source.h"

enum { VALUE_PAGE = 4096, VALUE_WINDOW = 4 * VALUE_PAGE };

struct value_window {
	const struct source *source;
	uint64_t base, length; /* of the scan's window */
	uint64_t at;	       /* in it: the first byte that is held */
	size_t held;
	uint64_t ahead; /* what lies before was asked for */
	unsigned char bytes[VALUE_WINDOW];
};

/*
 * Leaves in *out the n bytes (VALUE_WINDOW - VALUE_PAGE at most) at `at`, until the next
 * call: 0; -EIO where they are not all there; or the source's error.
 */
int value_window_get(struct value_window *window, uint64_t at, size_t n,
		     const unsigned char **out);

#endif
