/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flatbuffer.h: FlatBuffers that strangers wrote, read where they lie.
 *
 * Every function checks all that it steps on, and returns false where something lies
 * outside the buffer. References point forward only, so there are no cycles; but many
 * of them may lead to one table, and whoever goes through a tree of tables counts what
 * it visits. The format: "FlatBuffer Internals" of the FlatBuffers documentation.
 *
 * Threads: nothing is changed; any number at once.
 */
#ifndef GRANARY_FORMAT_ARROW_FLATBUFFER_H
#define GRANARY_FORMAT_ARROW_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flat_buffer {
	const unsigned char *bytes;
	size_t size;
};

/* `at` is 0 where a table is absent, and then all its fields are. */
struct flat_table {
	struct flat_buffer in;
	size_t at, vtable;
	unsigned vtable_size, size;
};

/* Items that follow each other; absent ones are none. */
struct flat_vector {
	struct flat_buffer in;
	size_t at;
	uint32_t count;
	unsigned item; /* bytes */
};

/* Text is not ended by a NUL; `bytes` is NULL where it is absent. */
struct flat_text {
	const char *bytes;
	size_t size;
};

bool flat_root(const void *bytes, size_t n, struct flat_table *out);

/* Field number `field` of a table. *out: absent where the field is. */
bool flat_table(const struct flat_table *table, unsigned field, struct flat_table *out);
bool flat_text(const struct flat_table *table, unsigned field, struct flat_text *out);
bool flat_vector(const struct flat_table *table, unsigned field, unsigned item,
		 struct flat_vector *out);

/* A number of `n` bytes, without its sign. *out stays what it was where it is absent. */
bool flat_number(const struct flat_table *table, unsigned field, unsigned n,
		 uint64_t *out);

/* Item i of a vector; of tables: the table. */
const unsigned char *flat_item(const struct flat_vector *vector, uint32_t i);
bool flat_item_table(const struct flat_vector *vector, uint32_t i,
		     struct flat_table *out);

#endif
