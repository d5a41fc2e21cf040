/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pyjson_text.h: the encoding of a text, and the values in it.
 *
 * The encoding is found as in CPython's json.detect_encoding(): by a byte order mark, or
 * by the positions of zeros in the first four bytes.
 *
 * Threads: any.
 */
#ifndef GRANARY_BASE_PYJSON_TEXT_H
#define GRANARY_BASE_PYJSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pyjson.h"

/*
 * Skips a byte order mark, and converts UTF-16 and UTF-32 to UTF-8 in *copy, which the
 * caller frees. UTF-8 itself is not checked. 0, -ENOMEM, or -EBADMSG.
 */
int pyjson_text(const char **text, size_t *n, char **copy);

/* The value at `at` in a checked text; blanks may precede it. */
struct pyjson_value pyjson_value_at(const char *at, const char *end);

static inline bool pyjson_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

#endif
