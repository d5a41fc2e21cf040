/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * brace.h: shard patterns in brace notation, as bash expands them.
 *
 * `train-{000000..000127}.tar`, `{a,b}{1,2}`, nested braces, steps (`{0..10..5}`),
 * letters (`{a..e}`), zero padding, backslash escapes. Text that is not a valid brace
 * expression is literal (`{a}`, `{}`), as in bash.
 *
 * A short pattern may stand for more words than memory can hold. So parsing only counts
 * the words, and each is made by its number. Memory: less than 200 bytes a byte of the
 * pattern.
 *
 * Threads: a parsed pattern is constant.
 */
#ifndef GRANARY_BASE_BRACE_H
#define GRANARY_BASE_BRACE_H

#include <stdint.h>

#include "base/error.h"

enum {
	BRACE_MAX_WORDS = 1000000, /* more shards are a typing error */
	BRACE_MAX_BYTES = 8192,    /* of a pattern */
	BRACE_MAX_WORD = 4095,     /* bytes of a word: PATH_MAX without its NUL */
	BRACE_MAX_DEPTH = 64,      /* nested braces */
};

struct brace;

/* Parses `pattern`, which may be freed. -E2BIG above one of these limits; -ENOMEM. */
int brace_parse(const char *pattern, struct brace **out, struct error *e);
void brace_free(struct brace *brace);

/* At least 1: a pattern without braces is one word. */
uint64_t brace_count(const struct brace *brace);

/* Word number `i`, below the count, in bash's order. The caller frees it; NULL: no memory. */
char *brace_word(const struct brace *brace, uint64_t i);

#endif
