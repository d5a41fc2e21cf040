/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pickle.h: reads what Python pickled, if it is plain data.
 *
 * Protocols 0 to 5, and of their opcodes those that dicts, lists and tuples of str,
 * bytes, int, float, bool and None need. All others are refused by their names: those
 * that call something (GLOBAL, REDUCE, BUILD, ...) are never followed. Nothing recurses,
 * and memory is in proportion to the bytes that are read. What opcodes mean:
 * Lib/pickletools.py of CPython.
 *
 * Threads: none; what has been read is immutable.
 */
#ifndef GRANARY_MAPS_PICKLE_H
#define GRANARY_MAPS_PICKLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum pickle_kind {
	PICKLE_NONE,
	PICKLE_BOOL,
	PICKLE_INT,
	PICKLE_FLOAT,
	PICKLE_STR,
	PICKLE_BYTES,
	PICKLE_TUPLE,
	PICKLE_LIST,
	PICKLE_DICT,
};

/*
 * A value may be in several places, and lists and dicts even in themselves: who goes
 * down must say how far.
 */
struct pickle_value {
	enum pickle_kind kind;
	uint32_t size; /* bytes of a text; items; of a dict, keys and values both count */
	union {
		int64_t number; /* int, bool */
		double real;
		/* No NUL behind it. UTF-8, but os.fsdecode's surrogates are the
		   bytes again that they stand for */
		const char *text;
		uint32_t cells[2]; /* the first and the last one, + 1 */
	};
};

struct pickle;

/*
 * `bytes` must live as long as the pickle. `path` is for messages. -EBADMSG with a
 * sentence, or -ENOMEM with one.
 */
int pickle_read(const void *bytes, size_t n, const char *path, struct pickle **out,
		struct error *e);
void pickle_free(struct pickle *pickle);

const struct pickle_value *pickle_root(const struct pickle *pickle);

/*
 * The items of a tuple or a list; of a dict, key, value, key, value, as they were
 * written: a key may come twice. Others have none.
 */
struct pickle_walk {
	const struct pickle *pickle;
	uint32_t cell;
};

struct pickle_walk pickle_items(const struct pickle *pickle,
				const struct pickle_value *value);
const struct pickle_value *pickle_next(struct pickle_walk *walk); /* NULL: no more */

/* Whether bytes that begin so are a pickle, and not text. */
int pickle_looks_so(const void *bytes, size_t n);

/* A pickled int, and nothing else: 0, -EBADMSG or -ENOMEM. */
int pickle_int(const void *bytes, size_t n, int64_t *out);

#endif
