/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ring.h: queues of a fixed size.
 *
 *	RING(uint32_t, 256) near;        initially zero
 *	if (!ring_push(&near, block)) ...   it is full
 *	while (ring_pop(&near, &block)) ... the oldest first
 *
 * Not for concurrent use.
 */
#ifndef GRANARY_BASE_RING_H
#define GRANARY_BASE_RING_H

#include <stdbool.h>

#define RING(type, room)             \
	struct {                     \
		type items[room];    \
		unsigned first, count; \
	}

#define RING_ROOM(r) (sizeof((r)->items) / sizeof(*(r)->items))

/* Item i, from the oldest on. */
#define ring_at(r, i) (&(r)->items[((r)->first + (i)) % RING_ROOM(r)])

#define ring_push(r, value)              \
	((r)->count < RING_ROOM(r) &&    \
	 (*ring_at(r, (r)->count++) = (value), true))

#define ring_pop(r, out)                                            \
	((r)->count > 0 &&                                          \
	 (*(out) = *ring_at(r, 0), (r)->count--,                    \
	  (r)->first = (unsigned)(((r)->first + 1) % RING_ROOM(r)), true))

#endif
