/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pickle_reader.h: the machine that a pickle is a program for, and its opcodes.
 *
 * The machine has a stack of values, marks on that stack, and a memo. Opcodes return 0,
 * or an errno with a sentence.
 */
#ifndef GRANARY_BASE_PICKLE_READER_H
#define GRANARY_BASE_PICKLE_READER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"
#include "base/pickle.h"

enum { PICKLE_LINE_MOST = 64 }; /* bytes of a number that is written out */

struct pickle_cell {
	uint32_t value, next; /* next: + 1; 0: the last */
};

struct pickle {
	VEC(struct pickle_value) values;
	VEC(struct pickle_cell) cells;
	struct arena arena; /* texts that are not in the input as they are */
	uint32_t root;
};

struct pickle_reader {
	struct pickle *out;
	const struct pickle_input *input;
	const struct pickle_policy *policy;
	uint64_t at;
	uint64_t op;              /* where the opcode is that is carried out, */
	unsigned char code;       /* and which it is */
	VEC(uint32_t) stack;      /* of values */
	VEC(uint32_t) marks;      /* heights of the stack */
	VEC(uint32_t) memo;       /* values, + 1; 0: none has this number */
	uint64_t remembered;      /* numbers that have a value */
	unsigned protocol;
	size_t steps;
	uint64_t made;            /* bytes of memory that calls have taken */
	bool stopped;
	const char *path;
	struct error *e;
};

/* Says where and what, and what to do about it: -EBADMSG; or of another policy -ENOTSUP. */
int pickle_refuse(struct pickle_reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int pickle_refuse_unsupported(struct pickle_reader *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int pickle_no_memory(struct pickle_reader *r);
int pickle_truncated(struct pickle_reader *r);

/* The opcode at hand is not followed. */
int pickle_refuse_opcode(struct pickle_reader *r);

/* A number of so many bytes; a line with one that is written out; any line. */
int pickle_read_number(struct pickle_reader *r, unsigned width, uint64_t *out);
int pickle_read_digits(struct pickle_reader *r, char out[PICKLE_LINE_MOST]);
int pickle_read_line(struct pickle_reader *r, const char **out, size_t *size);

/* Values; `id` is that of the last one, and of pickle_add_value of one on no stack. */
struct pickle_value *pickle_at(struct pickle_reader *r, uint32_t id);
int pickle_add_value(struct pickle_reader *r, const struct pickle_value *value, uint32_t *id);
int pickle_append(struct pickle_reader *r, uint32_t container, uint32_t id);

/* The number of values above the last mark: none beneath it may be used. */
size_t pickle_height(const struct pickle_reader *r);
struct pickle_value *pickle_below_top(struct pickle_reader *r, size_t below);
int pickle_stack_underflow(struct pickle_reader *r);

/* Plain data: numbers and arrays of numpy, dicts of collections. */
extern const struct pickle_policy pickle_plain;

int pickle_push_id(struct pickle_reader *r, uint32_t id);
int pickle_push(struct pickle_reader *r, const struct pickle_value *value);

/* Texts: `width` is how wide the number of their bytes is. */
int pickle_do_str(struct pickle_reader *r, unsigned width);
int pickle_do_bytes(struct pickle_reader *r, unsigned width);
int pickle_do_unicode(struct pickle_reader *r, unsigned unused);
int pickle_do_string(struct pickle_reader *r, unsigned unused);

/* Numbers: `width` is how wide they are, or, of a long one, the number of their bytes. */
int pickle_do_constant(struct pickle_reader *r, unsigned unused);
int pickle_do_int(struct pickle_reader *r, unsigned width);
int pickle_do_long(struct pickle_reader *r, unsigned width);
int pickle_do_decimal(struct pickle_reader *r, unsigned unused);
int pickle_do_float(struct pickle_reader *r, unsigned unused);
int pickle_do_binfloat(struct pickle_reader *r, unsigned width);

/* Classes, and what they would be called with. */
int pickle_do_global(struct pickle_reader *r, unsigned unused);
int pickle_do_stack_global(struct pickle_reader *r, unsigned unused);
int pickle_do_reduce(struct pickle_reader *r, unsigned unused);
int pickle_do_new_object(struct pickle_reader *r, unsigned unused);
int pickle_do_build(struct pickle_reader *r, unsigned unused);

#endif
