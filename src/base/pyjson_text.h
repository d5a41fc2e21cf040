/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pyjson_text.h: the text and the values in it. Private to base/.
 *
 * The encoding is found as CPython's json.detect_encoding() does: by a byte order mark, or
 * by where the zeros are among the first four bytes.
 *
 * Threads: any.
 */
#ifndef GRANARY_BASE_PYJSON_TEXT_H
#define GRANARY_BASE_PYJSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pyjson.h"

/*
 * Goes behind a byte order mark; of UTF-16 and UTF-32 it makes UTF-8 in *copy, which is to
 * be freed. UTF-8 itself is not looked at. 0, -ENOMEM, or -EBADMSG.
 */
int pyjson_text(const char **text, size_t *n, char **copy);

/* The value that a checked text has at `at`, blanks before it or not. */
struct pyjson_value pyjson_value_at(const char *at, const char *end);

static inline bool pyjson_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

#endif
