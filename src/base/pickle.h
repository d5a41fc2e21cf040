/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pickle.h: reads what Python pickled, if it is plain data.
 *
 * Protocols 0 to 5, and of their opcodes those that dicts, lists and tuples of str,
 * bytes, int, float, bool and None need. Nothing is ever called: of what a pickle would call,
 * a policy knows what some are (numpy's numbers, the state of an image), and refuses all
 * others. Nothing recurses, and memory is in proportion to the bytes that are read. What
 * opcodes mean: Lib/pickletools.py of CPython.
 *
 * Threads: none; what has been read is immutable.
 */
#ifndef GRANARY_BASE_PICKLE_H
#define GRANARY_BASE_PICKLE_H

#include <stdbool.h>
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
	PICKLE_CLASS,  /* "MODULE NAME", which is text */
	PICKLE_OBJECT, /* of a class, with what would be its arguments and its state */
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
		uint64_t place;    /* of a text that is not kept: where it lies */
		uint32_t cells[2]; /* the first and the last one, + 1 */
		/* of an object: ids of values; `size` is that of the arguments */
		struct {
			uint32_t class, state_plus_1;
		} object;
	};
};

/* Where a pickle lies. */
struct pickle_input {
	/* `n` bytes at `at`, which lie within: 0, or a negative errno. */
	int (*get)(void *context, uint64_t at, size_t n, const unsigned char **out);
	void *context;
	uint64_t begin, end;
	bool lasting; /* these bytes live as long as the pickle; else until the next call */
};

struct pickle_reader;

/* The limits of a pickle. 0: no limit. */
struct pickle_policy {
	size_t values_most, steps_most;
	size_t line_most;   /* bytes of a line */
	size_t text_most;   /* bytes of a str, beyond which it is not kept */
	bool leave_bytes;   /* of bytes only their place is noted */
	bool objects;       /* NEWOBJ makes some */
	void *context;

	/* Each 0; -ENOTSUP: it is none that is known here; or pickle_refuse. */
	int (*name)(void *context, const char *class_name);
	int (*call)(struct pickle_reader *r, uint32_t class, uint32_t arguments);
	int (*build)(struct pickle_reader *r, uint32_t object, uint32_t state);
};

struct pickle;

/*
 * `bytes` must live as long as the pickle. `path` is for messages. -EBADMSG with a
 * sentence, or -ENOMEM with one.
 */
int pickle_read(const void *bytes, size_t n, const char *path, struct pickle **out,
		struct error *e);
void pickle_free(struct pickle *pickle);

/* For a policy: its context, the pickle's protocol, a `call` that makes an object of the
   class and its arguments, and a `build` that keeps the state. */
void *pickle_context(const struct pickle_reader *r);
unsigned pickle_protocol(const struct pickle_reader *r);
int pickle_push_object(struct pickle_reader *r, uint32_t class, uint32_t arguments);
int pickle_note_state(struct pickle_reader *r, uint32_t object, uint32_t state);

/*
 * The same of any input, by another policy. -EBADMSG: it is damaged; -ENOTSUP: it holds what
 * the policy does not know; -ENOMEM, or what the input said.
 */
int pickle_run(const struct pickle_input *input, const struct pickle_policy *policy,
	       const char *path, struct pickle **out, struct error *e);

const struct pickle_value *pickle_root(const struct pickle *pickle);
const struct pickle_value *pickle_value(const struct pickle *pickle, uint32_t id);

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
int pickle_detect(const void *bytes, size_t n);

/* A pickled int, numpy's too, and nothing else: 0, -EBADMSG or -ENOMEM. */
int pickle_int(const void *bytes, size_t n, int64_t *out);

#endif
