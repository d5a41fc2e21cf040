/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * utf8.h: characters of UTF-8, surrogates included.
 *
 * Python keeps half of a UTF-16 pair as a character of its own, which its "surrogatepass"
 * writes like any other. Of a file's name it makes a str with os.fsdecode: bytes that are
 * not UTF-8 become the surrogates U+DC80 to U+DCFF.
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

/* How many of the `left` bytes (at least one) are a character; 0: it is not UTF-8. */
unsigned utf8_decode(const void *text, size_t left, uint32_t *character);

/* Writes a character of at most U+10FFFF: how many bytes it takes. */
unsigned utf8_encode(char out[UTF8_MOST], uint32_t character);

/* The number that `digits` (8 at most) hexadecimal digits make: is it one? */
bool utf8_hex(const char *text, size_t left, unsigned digits, uint32_t *out);

/*
 * The bytes of the file's name that os.fsencode makes of a str. `text` holds it as UTF-8
 * with surrogates, and then the name, which is never longer: its length, or -EBADMSG
 * where it is not UTF-8, or has surrogates that stand for no byte.
 */
ptrdiff_t utf8_name(char *text, size_t size);

#endif
