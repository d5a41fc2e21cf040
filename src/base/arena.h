/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arena.h: memory for many small objects that are freed together.
 *
 * arena_alloc returns memory that is aligned to 8 bytes, not zeroed, and lives until
 * arena_free; NULL: out of memory. Not for concurrent use.
 */
#ifndef GRANARY_BASE_ARENA_H
#define GRANARY_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* the newest first */
};

void *arena_alloc(struct arena *arena, size_t size);

/* A copy of `size` bytes with a NUL behind them. */
char *arena_copy(struct arena *arena, const void *bytes, size_t size);

/* A text as printf would write it. */
char *arena_print(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena);

#endif
