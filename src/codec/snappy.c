/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A block of Snappy without a frame, as in Parquet's pages: the plain length, and literals
 * and copies. Facts: format_description.txt of google/snappy. Its library has no C that
 * takes a block of unknown origin faster than this does: images are literals.
 */
#include "codec/codec.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

enum { LITERAL = 0, COPY_1 = 1, COPY_2 = 2 }; /* and else a copy with 4 bytes of offset */

enum { LENGTH_BYTES = 5, LITERAL_SHORT = 60 };

struct snappy {
	const unsigned char *in, *in_end;
	unsigned char *out;
	size_t room, done; /* of out */
};

static int read_length(struct snappy *s, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < LENGTH_BYTES && s->in < s->in_end; i++) {
		unsigned char byte = *s->in++;

		*out |= (uint64_t)(byte & 127) << (7 * i);
		if (byte < 128)
			return 0;
	}
	return -EBADMSG;
}

static int copy_literal(struct snappy *s, unsigned tag)
{
	uint64_t length = (tag >> 2) + 1;

	if (length > LITERAL_SHORT) {
		unsigned bytes = (unsigned)length - LITERAL_SHORT;

		if ((size_t)(s->in_end - s->in) < bytes)
			return -EBADMSG;
		length = little_endian(s->in, bytes) + 1;
		s->in += bytes;
	}
	if (length > (size_t)(s->in_end - s->in) || length > s->room - s->done)
		return -EBADMSG;
	memcpy(s->out + s->done, s->in, (size_t)length);
	s->in += length;
	s->done += (size_t)length;
	return 0;
}

/* A copy may reach into what it makes: then bytes repeat. */
static int copy_before(struct snappy *s, unsigned tag)
{
	unsigned kind = tag & 3, bytes = kind == COPY_1 ? 1 : kind == COPY_2 ? 2 : 4;
	size_t length = kind == COPY_1 ? (tag >> 2 & 7) + 4 : (tag >> 2) + 1;
	uint64_t offset;

	if ((size_t)(s->in_end - s->in) < bytes)
		return -EBADMSG;
	offset = little_endian(s->in, bytes) + (kind == COPY_1 ? (tag >> 5) << 8 : 0);
	s->in += bytes;
	if (offset == 0 || offset > s->done || length > s->room - s->done)
		return -EBADMSG;
	if (offset >= length)
		memcpy(s->out + s->done, s->out + s->done - offset, length);
	else
		for (size_t i = 0; i < length; i++)
			s->out[s->done + i] = s->out[s->done + i - offset];
	s->done += length;
	return 0;
}

static ssize_t snappy_decode(const void *in, size_t n, void *out, size_t room,
			     uint32_t parameter)
{
	struct snappy s = { .in = in, .in_end = (const unsigned char *)in + n, .out = out };
	uint64_t length;

	if (read_length(&s, &length) < 0 || length > room)
		return -EBADMSG;
	s.room = (size_t)length;
	while (s.in < s.in_end) {
		unsigned tag = *s.in++;

		if ((tag & 3) == LITERAL ? copy_literal(&s, tag) : copy_before(&s, tag))
			return -EBADMSG;
	}
	return s.done == s.room ? (ssize_t)s.done : -EBADMSG;
}

const struct codec codec_snappy = { .name = "snappy", .decode = snappy_decode };
