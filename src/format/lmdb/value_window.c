/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/lmdb/value_window.h"

#include <errno.h>
#include <stdbool.h>

#include "base/checked.h"

enum { LEAP = 1 << 20 };

/* Asks for LEAP more where a piece follows the last one, and nobody has asked for it. */
static void value_window_ask(struct value_window *window, uint64_t begin, uint64_t end)
{
	uint64_t last = window->at + window->held, from;
	bool follows = begin >= last && begin - last <= LEAP;

	if (!follows)
		window->ahead = end;
	if (end <= window->ahead)
		return;
	from = begin > window->ahead ? begin : window->ahead;
	window->ahead = window->length - begin < LEAP ? window->length : begin + LEAP;
	source_hint(window->source, HINT_SOON, window->base + from, window->ahead - from);
}

static int value_window_fetch(struct value_window *window, uint64_t at, size_t n)
{
	uint64_t begin = at - at % VALUE_PAGE, end = at + n;
	int err;

	end += (VALUE_PAGE - end % VALUE_PAGE) % VALUE_PAGE;
	if (end > window->length)
		end = window->length;
	value_window_ask(window, begin, end);
	window->held = 0;
	err = source_pread(window->source, window->bytes, (size_t)(end - begin),
			   window->base + begin);
	if (err)
		return err;
	window->at = begin;
	window->held = (size_t)(end - begin);
	return 0;
}

int value_window_get(struct value_window *window, uint64_t at, size_t n,
		     const unsigned char **out)
{
	int err = 0;

	if (n > VALUE_WINDOW - VALUE_PAGE || !range_within(at, n, window->length))
		return -EIO;
	if (at < window->at || !range_within(at - window->at, n, window->held))
		err = value_window_fetch(window, at, n);
	*out = window->bytes + (at - window->at);
	return err;
}
