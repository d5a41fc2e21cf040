/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.h: a text that grows.
 *
 *	struct text path = { 0 };
 *	if (text_print(&path, "%s/%s", directory, name) < 0) ...  -ENOMEM
 *	path.items, path.count
 *	vec_free(&path);
 *
 * Not for concurrent use.
 */
#ifndef GRANARY_BASE_TEXT_H
#define GRANARY_BASE_TEXT_H

#include "base/vec.h"

/* `items` has a NUL behind `count` bytes; NULL as long as nothing was added. */
struct text {
	char *items;
	size_t count, room;
};

/* Appends: 0 or -ENOMEM. */
int text_print(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int text_append(struct text *text, const char *bytes, size_t n);

/* Keeps the first `size` bytes. */
void text_cut(struct text *text, size_t size);

/* Appends to the text in a buffer of `room` bytes, as far as there is room. */
void buffer_print(char *buffer, size_t room, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
