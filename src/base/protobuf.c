/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/protobuf.h"

#include <errno.h>

#include "base/bytes.h"

enum { VARINT_BYTES = 10, NUMBER_MOST = (1 << 29) - 1 };

/* Bytes of the varint at `bytes`, of n that are there; 0: it is none. */
static size_t read_varint(const unsigned char *bytes, size_t n, uint64_t *out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n && i < VARINT_BYTES; i++) {
		uint64_t part = bytes[i] & 127;

		if (i == VARINT_BYTES - 1 && part > 1)
			return 0;
		value |= part << (7 * i);
		if (bytes[i] < 128) {
			*out = value;
			return i + 1;
		}
	}
	return 0;
}

/* The bytes that follow, as far as a field's head may need them: how many, or an error. */
static int fetch_head(const struct protobuf *message, const unsigned char **out)
{
	uint64_t left = message->end - message->at;
	size_t n = left < PROTOBUF_HEAD_BYTES ? (size_t)left : PROTOBUF_HEAD_BYTES;
	int err = message->fetch(message->context, message->at, n, out);

	return err ? err : (int)n;
}

/* The value behind a tag of `used` bytes, of the n at `head`; sets at and length. */
static int read_value(const unsigned char *head, size_t used, size_t n,
		      struct protobuf_field *out)
{
	size_t varint, width = out->kind == PROTOBUF_FIXED64 ? 8 : 4;

	out->at += used;
	if (out->kind == PROTOBUF_FIXED64 || out->kind == PROTOBUF_FIXED32) {
		if (n - used < width)
			return -EBADMSG;
		out->length = width;
		out->value = little_endian(head + used, (unsigned)width);
		return 0;
	}
	varint = read_varint(head + used, n - used, &out->value);
	if (varint == 0)
		return -EBADMSG;
	out->length = varint;
	if (out->kind == PROTOBUF_BYTES) {
		out->at += varint;
		out->length = out->value;
	}
	return 0;
}

int protobuf_next(struct protobuf *message, struct protobuf_field *out)
{
	const unsigned char *head;
	uint64_t tag = 0;
	size_t used;
	int n;

	if (message->at >= message->end)
		return 0;
	n = fetch_head(message, &head);
	if (n < 0)
		return n;
	used = read_varint(head, (size_t)n, &tag);
	*out = (struct protobuf_field){ .number = (uint32_t)(tag >> 3),
					.kind = (enum protobuf_kind)(tag & 7),
					.at = message->at };
	if (used == 0 || tag >> 3 == 0 || tag >> 3 > NUMBER_MOST ||
	    (out->kind > PROTOBUF_BYTES && out->kind != PROTOBUF_FIXED32) ||
	    read_value(head, used, (size_t)n, out) < 0 ||
	    out->length > message->end - out->at)
		return -EBADMSG;
	message->at = out->at + out->length;
	return 1;
}

int protobuf_next_varint(struct protobuf *packed, uint64_t *out)
{
	const unsigned char *head;
	size_t used;
	int n;

	if (packed->at >= packed->end)
		return 0;
	n = fetch_head(packed, &head);
	if (n < 0)
		return n;
	used = read_varint(head, (size_t)n, out);
	if (used == 0)
		return -EBADMSG;
	packed->at += used;
	return 1;
}

static int fetch_memory(void *context, uint64_t at, size_t n, const unsigned char **out)
{
	*out = (const unsigned char *)context + at;
	(void)n;
	return 0;
}

struct protobuf protobuf_of_memory(const void *bytes, size_t n)
{
	return (struct protobuf){ fetch_memory, (void *)(uintptr_t)bytes, 0, n };
}
