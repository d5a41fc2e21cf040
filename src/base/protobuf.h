/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * protobuf.h: the fields of a protobuf message, one after the other, without a copy.
 *
 * A message may be larger than what is worth reading: the reader asks for the few bytes of
 * a field's head, and says where the field's own bytes are. A message inside is a reader of
 * its own, with protobuf_inside. So time is linear in the number of fields, and nesting is
 * the caller's. Facts: https://protobuf.dev/programming-guides/encoding/
 *
 *	struct protobuf message = { .fetch = fetch, .context = c, .at = 0, .end = n };
 *	while ((r = protobuf_next(&message, &field)) > 0)
 *		if (field.number == 4 && field.kind == PROTOBUF_BYTES) ... field.at, field.length
 *
 * Threads: a reader belongs to one thread at a time.
 */
#ifndef GRANARY_BASE_PROTOBUF_H
#define GRANARY_BASE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

enum { PROTOBUF_HEAD_BYTES = 20 }; /* two varints */

/* Leaves in *out the n bytes at `at`, PROTOBUF_HEAD_BYTES at most, until the next call: 0
   or a negative errno. */
typedef int protobuf_fetch(void *context, uint64_t at, size_t n, const unsigned char **out);

struct protobuf {
	protobuf_fetch *fetch;
	void *context;
	uint64_t at, end; /* what is left of the message, in fetch's offsets */
};

enum protobuf_kind {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2, /* also a text, a message, or packed numbers */
	PROTOBUF_FIXED32 = 5,
};

struct protobuf_field {
	uint32_t number;
	enum protobuf_kind kind;
	uint64_t value;  /* of a number */
	uint64_t at, length; /* where its bytes are, of numbers too */
};

/*
 * The next field: 1, 0 at the message's end, or an error of fetch's; -EBADMSG where no
 * message goes on like this: a varint of more than 10 bytes or 64 bits, a group, the field
 * 0, a length beyond the end.
 */
int protobuf_next(struct protobuf *message, struct protobuf_field *out);

/* The next of the varints that a field of packed integers is made of: as protobuf_next. */
int protobuf_next_varint(struct protobuf *packed, uint64_t *out);

/* The bytes of a field as a message, or as packed numbers. */
static inline struct protobuf protobuf_inside(const struct protobuf *message,
					      const struct protobuf_field *field)
{
	return (struct protobuf){ message->fetch, message->context, field->at,
				  field->at + field->length };
}

/* A message in memory: `bytes` is its first byte, and `at` counts from there. */
struct protobuf protobuf_of_memory(const void *bytes, size_t n);

#endif
