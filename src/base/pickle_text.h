/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pickle_text.h: the texts of pickles, as bytes.
 *
 * Python makes a str of a file's name with os.fsdecode: bytes that are not UTF-8 become
 * the surrogates U+DC80 to U+DCFF, and a pickle holds these like any other character.
 */
#ifndef GRANARY_BASE_PICKLE_TEXT_H
#define GRANARY_BASE_PICKLE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * The bytes that such a str stands for: `text` itself if it has no surrogates, or a copy
 * in the arena. -EBADMSG: it is not UTF-8, or has surrogates that stand for nothing.
 */
int pickle_text_names(struct arena *arena, const char *text, size_t size,
		      const char **out, uint32_t *out_size);

/*
 * Protocol 0 writes a str as raw-unicode-escape: Latin-1, \uXXXX and \UXXXXXXXX. In
 * UTF-8, surrogates included. -EBADMSG: an escape that is cut off, or is no character.
 */
int pickle_text_unescape(struct arena *arena, const char *text, size_t size,
			 const char **out, size_t *out_size);

/*
 * Protocol 0 writes Python 2's str as its repr: 'it\'s', "\xff". The bytes; -EBADMSG: it
 * is none.
 */
int pickle_text_literal(struct arena *arena, const char *text, size_t size,
			const char **out, size_t *out_size);

#endif
