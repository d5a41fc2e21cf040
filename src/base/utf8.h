/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * utf8.h: characters of UTF-8, surrogates included.
 *
 * Python stores half of a UTF-16 pair as a character, and "surrogatepass" encodes it as
 * any other. os.fsdecode makes a str of a file's name: bytes that are not UTF-8 become
 * the surrogates U+DC80 to U+DCFF.
 *
 * Threads: any.
 */
#ifndef GRANARY_BASE_UTF8_H
#define GRANARY_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_MOST = 4 }; /* bytes of a character */

static inline bool utf8_is_surrogate(uint32_t character)
{
	return character >= 0xd800 && character <= 0xdfff;
}

/* Decodes a character of the `left` bytes (at least one): its length; 0: not UTF-8. */
unsigned utf8_decode(const void *text, size_t left, uint32_t *character);

/* Encodes a character of at most U+10FFFF; returns its length. */
unsigned utf8_encode(char out[UTF8_MOST], uint32_t character);

/* Parses `digits` hexadecimal digits (8 at most); false: invalid. */
bool utf8_hex(const char *text, size_t left, unsigned digits, uint32_t *out);

/*
 * os.fsencode of a str. `text` is UTF-8 with surrogates, and is replaced by the name,
 * which is never longer. Returns its length, or -EBADMSG if it is not UTF-8, or a
 * surrogate stands for no byte.
 */
ptrdiff_t utf8_name(char *text, size_t size);

#endif
