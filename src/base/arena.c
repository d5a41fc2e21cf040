/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/arena.h"

#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks double in size: an arena of few bytes stays small. */
enum { BLOCK_LEAST = 1024, BLOCK_MOST = 256 * 1024, ALIGNMENT = 8 };

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t room;
	_Alignas(ALIGNMENT) unsigned char bytes[];
};

static struct arena_block *new_block(struct arena *arena, size_t size)
{
	size_t room = arena->blocks ? 2 * arena->blocks->room : BLOCK_LEAST;
	struct arena_block *block;

	if (room > BLOCK_MOST)
		room = BLOCK_MOST;
	if (room < size)
		room = size;
	block = malloc(sizeof(*block) + room);

	if (!block)
		return NULL;
	block->next = arena->blocks;
	block->used = 0;
	block->room = room;
	arena->blocks = block;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;
	size_t need;
	void *out;

	if (size > SIZE_MAX / 2)
		return NULL;
	need = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!block || block->room - block->used < need) {
		block = new_block(arena, need);
		if (!block)
			return NULL;
	}
	out = block->bytes + block->used;
	block->used += need;
	return out;
}

char *arena_copy(struct arena *arena, const void *bytes, size_t size)
{
	char *out = arena_alloc(arena, size + 1);

	if (!out)
		return NULL;
	if (size)
		memcpy(out, bytes, size);
	out[size] = '\0';
	return out;
}

char *arena_print(struct arena *arena, const char *format, ...)
{
	va_list arguments, again;
	char *out = NULL;
	int n;

	va_start(arguments, format);
	va_copy(again, arguments);
	n = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (n >= 0)
		out = arena_alloc(arena, (size_t)n + 1);
	if (out)
		vsnprintf(out, (size_t)n + 1, format, again);
	va_end(again);
	return out;
}

void arena_free(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	while (block) {
		struct arena_block *next = block->next;

		free(block);
		block = next;
	}
	arena->blocks = NULL;
}
