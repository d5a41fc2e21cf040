/*
 * brace.h: shard patterns in brace notation, as bash expands them.
 *
 * `train-{000000..000127}.tar`, `{a,b}{1,2}`, nested braces, steps
 * (`{0..10..5}`), letters (`{a..e}`), zero padding, backslash escapes. What is
 * not a valid brace expression stays as it is written (`{a}`, `{}`), as in bash.
 */
#ifndef GRANARY_UTIL_BRACE_H
#define GRANARY_UTIL_BRACE_H

#include <stddef.h>
#include "util/error.h"
#include "util/vec.h"

/* No dataset has more shards; a typing error has. */
enum { BRACE_MAX_WORDS = 1000000 };

struct brace_words {
	VEC(char *) words; /* each owned, NUL-terminated */
};

/*
 * Appends the expansion of `pattern` to `out`, in bash's order. More than
 * BRACE_MAX_WORDS words is an error (-E2BIG).
 */
int brace_expand(const char *pattern, struct brace_words *out, struct error *e);
void brace_free(struct brace_words *words);

#endif
