/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gzip files (RFC 1952), of one member or of many, and deflate without their headers, as in
 * a zip. A chunk begins at a deflate block, and
 * where one begins in the middle of a member, at any bit. zlib stops there (Z_BLOCK), and
 * checks the members' checksums and lengths.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "codec/gzip_header.h"
#include "stream/sparse_window.h"
#include "stream/stream_buffer.h"

enum {
	FIRST_ROOM = STREAM_SPAN + (256 << 10), /* a chunk, and the rest of its last block */
	BLOCK_ENDS = 128, /* in z_stream.data_type: a block or a header has ended, */
	LAST_BLOCK = 64,  /* in the last block, */
	UNUSED_BITS = 7,  /* and bits of the last byte that are unused */
	SMALL_MEMBER = 256 << 10,
};

struct gzip_points {
	struct stream_buffer stored;
	z_stream z;
	uint64_t member;     /* where the present member begins, in the window, */
	uint64_t member_out; /* and its decoded bytes so far */
	uint64_t last_member; /* decoded bytes of the member before; 0: there is none */
	uint64_t garbage;    /* bytes behind the last member that are no zeros */
	bool raw;            /* there are no members, but one deflate stream */
	bool ended;

	/* Where the next chunk begins, in the window. */
	uint64_t start;
	unsigned bits; /* as in struct codec_entry */
	unsigned char last_byte; /* that zlib has taken */
	size_t window_length;
	unsigned char window[SPARSE_WINDOW_BYTES]; /* the last so many bytes */

	unsigned char head[SPARSE_STORED_MOST]; /* of the chunk, as it is stored */
};

static void *deflate_points_new(struct stream_input *input, bool raw)
{
	struct gzip_points *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return NULL;
	gzip->stored.input = input;
	gzip->raw = raw;
	if (inflateInit2(&gzip->z, raw ? -MAX_WBITS : 16 + MAX_WBITS) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

static void *gzip_points_open(struct stream_input *input)
{
	return deflate_points_new(input, false);
}

static void *deflate_points_open(struct stream_input *input)
{
	return deflate_points_new(input, true);
}

static void gzip_points_close(void *reader)
{
	struct gzip_points *gzip = reader;

	inflateEnd(&gzip->z);
	free(gzip);
}

/* A position of the input in the source. */
static uint64_t gzip_in_source(const struct gzip_points *gzip, uint64_t at)
{
	return gzip->stored.input->base + at;
}

/* Is there anything but zeros from zlib's position on? Passes all of it. */
static int pass_padding(struct gzip_points *gzip, struct error *e)
{
	int more = 1;

	while (more > 0) {
		if (!all_zero(gzip->stored.next, gzip->stored.left)) {
			gzip->garbage = gzip->stored.input->length -
					stream_buffer_position(&gzip->stored);
			break;
		}
		stream_buffer_consume(&gzip->stored, gzip->stored.left);
		more = stream_buffer_fill(&gzip->stored, e);
	}
	gzip->ended = true;
	return more < 0 ? more : 0;
}

/* Behind a member: 1 where the next one begins, 0 at the end, or an error. */
static int begin_member(struct gzip_points *gzip, struct error *e)
{
	int more;

	if (gzip->raw) {
		gzip->ended = true;
		return 0;
	}
	more = stream_buffer_need(&gzip->stored, GZIP_HEADER, e);
	if (more < 0)
		return more;
	if (!gzip_begins(gzip->stored.next, gzip->stored.left))
		return pass_padding(gzip, e);
	inflateReset(&gzip->z);
	gzip->member = stream_buffer_position(&gzip->stored);
	gzip->last_member = gzip->member_out;
	gzip->member_out = 0;
	return 1;
}

/* The next chunk begins here, behind the bytes of `before`: none, or a whole chunk. */
static void mark_start(struct gzip_points *gzip, const struct stream_chunk *before)
{
	size_t all = before->bytes.count;
	size_t n = all ? all : gzip->window_length;

	unsigned bits = (unsigned)gzip->z.data_type & UNUSED_BITS;

	gzip->bits = bits ? bits | (unsigned)gzip->last_byte >> (8 - bits) << 8 : 0;
	gzip->start = stream_buffer_position(&gzip->stored);
	if (n > gzip->member_out)
		n = (size_t)gzip->member_out;
	if (n > SPARSE_WINDOW_BYTES)
		n = SPARSE_WINDOW_BYTES;
	if (all)
		memcpy(gzip->window, before->bytes.items + all - n, n);
	gzip->window_length = n;
}

static int gzip_refuse(struct gzip_points *gzip, int status, struct error *e)
{
	const char *text = gzip->z.msg ? gzip->z.msg : "";
	bool header = strstr(text, "header") || strstr(text, "compression method");
	bool sum = strcmp(text, "incorrect data check") == 0 ||
		   strcmp(text, "incorrect length check") == 0;

	if (status == Z_MEM_ERROR)
		return stream_no_memory(gzip->stored.input, e);
	if (sum || header)
		return stream_damaged(gzip->stored.input,
				      sum ? "the checksum does not match of the gzip member "
					    "that begins" :
					    "the header is not right of the gzip member that "
					    "begins",
				      gzip_in_source(gzip, gzip->member), e);
	return stream_damaged(gzip->stored.input, "its deflate data make no sense near",
			      gzip_in_source(gzip, stream_buffer_position(&gzip->stored)), e);
}

static int make_room(struct gzip_points *gzip, struct stream_chunk *out, struct error *e)
{
	size_t more = out->bytes.count ? out->bytes.count : FIRST_ROOM;

	if (out->bytes.count < out->bytes.room)
		return 0;
	if (out->bytes.count >= STREAM_CHUNK_MOST)
		return stream_cannot_enter(gzip->stored.input, &stream_gzip,
					   gzip_in_source(gzip, gzip->start), e);
	return vec_reserve(&out->bytes, more) < 0 ? stream_no_memory(gzip->stored.input, e) : 0;
}

/* Has the last block of raw deflate ended? zlib needs one more call, and no byte, to say so. */
static bool is_raw_end(const struct gzip_points *gzip)
{
	return gzip->raw && (gzip->z.data_type & BLOCK_ENDS) &&
	       (gzip->z.data_type & LAST_BLOCK);
}

/* Has zlib all that it needs for a step? */
static int gzip_prepare(struct gzip_points *gzip, struct stream_chunk *out, struct error *e)
{
	int more = 1;

	if (gzip->stored.left == 0)
		more = stream_buffer_fill(&gzip->stored, e);
	if (more == 0 && !is_raw_end(gzip))
		return stream_truncated(gzip->stored.input, e);
	return more < 0 ? more : make_room(gzip, out, e);
}

/* Decodes to the next end of a block or a member, at most: zlib's status, or an error. */
static int inflate_block(struct gzip_points *gzip, struct stream_chunk *out, struct error *e)
{
	size_t room = out->bytes.room - out->bytes.count, got;
	int status;

	gzip->z.next_in = (unsigned char *)(uintptr_t)gzip->stored.next;
	gzip->z.avail_in = (uInt)gzip->stored.left;
	gzip->z.next_out = out->bytes.items + out->bytes.count;
	gzip->z.avail_out = (uInt)room;
	status = inflate(&gzip->z, Z_BLOCK);
	if (gzip->z.avail_in < gzip->stored.left)
		gzip->last_byte = gzip->z.next_in[-1];
	stream_buffer_consume(&gzip->stored, gzip->stored.left - gzip->z.avail_in);
	got = room - gzip->z.avail_out;
	out->bytes.count += got;
	gzip->member_out += got;
	if (status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR)
		return status == Z_STREAM_END;
	return gzip_refuse(gzip, status, e);
}

/* Can the stream be entered here? */
static bool is_point(const struct gzip_points *gzip)
{
	return (gzip->z.data_type & BLOCK_ENDS) && !(gzip->z.data_type & LAST_BLOCK);
}

/*
 * Does a chunk of `n` bytes end at this point? Between small members a begin of one is
 * waited for, which repeats nothing.
 */
static bool ends_chunk(const struct gzip_points *gzip, size_t n)
{
	bool small = gzip->last_member > 0 && gzip->last_member < SMALL_MEMBER;

	return n >= STREAM_SPAN && (gzip->member_out == 0 || !small ||
				    n >= STREAM_SPAN + SMALL_MEMBER);
}

/* Decodes to the end of a chunk. 0 or an error. */
static int inflate_chunk(struct gzip_points *gzip, struct stream_chunk *out, struct error *e)
{
	int result = 0;

	while (!gzip->ended) {
		result = gzip_prepare(gzip, out, e);
		if (!result)
			result = inflate_block(gzip, out, e);
		if (result == 1) {
			result = begin_member(gzip, e);
			if (result <= 0)
				break;
		} else if (result < 0) {
			break;
		} else if (is_point(gzip)) {
			if (out->bytes.count == 0) /* nothing lies before it */
				mark_start(gzip, out);
			else if (ends_chunk(gzip, out->bytes.count))
				break;
		}
	}
	return result < 0 ? result : 0;
}

/* Describes the chunk that was decoded, which began at the last mark. */
static int describe_chunk(struct gzip_points *gzip, struct stream_chunk *out, struct error *e)
{
	uint64_t stored = stream_buffer_position(&gzip->stored) - gzip->start;
	size_t n = stored < SPARSE_STORED_MOST ? (size_t)stored : SPARSE_STORED_MOST;
	ssize_t got;

	out->stored_at = gzip_in_source(gzip, gzip->start);
	out->stored_length = stored;
	out->bits = gzip->bits;
	out->window.count = 0;
	if (gzip->window_length == 0)
		return 0;
	got = stream_read(gzip->stored.input, gzip->head, n, gzip->start, e);
	if (got < 0)
		return (int)got;
	return sparse_window_pack(gzip->window, gzip->window_length, gzip->head,
				  (size_t)got, out) ? stream_no_memory(gzip->stored.input, e) : 0;
}

static int gzip_points_next(void *reader, struct stream_chunk *out, struct error *e)
{
	struct gzip_points *gzip = reader;
	int err;

	out->bytes.count = 0;
	err = inflate_chunk(gzip, out, e);
	if (err || out->bytes.count == 0)
		return err;
	err = describe_chunk(gzip, out, e);
	mark_start(gzip, out);
	return err ? err : 1;
}

static bool gzip_stream_begins(const unsigned char *head, size_t n)
{
	return gzip_begins(head, n);
}

static uint64_t gzip_ignored(const void *reader)
{
	return ((const struct gzip_points *)reader)->garbage;
}

const struct stream_kind stream_gzip = {
	.name = "gzip",
	.codec = CODEC_STEP(CODEC_GZIP, 0),
	.unpack = "gzip",
	.repack = "pigz >new.tar.gz",
	.begins = gzip_stream_begins,
	.open = gzip_points_open,
	.close = gzip_points_close,
	.next = gzip_points_next,
	.ignored = gzip_ignored,
};

static bool deflate_begins(const unsigned char *head, size_t n)
{
	return false; /* it has no signature */
}

const struct stream_kind stream_deflate = {
	.name = "deflate",
	.codec = CODEC_STEP(CODEC_GZIP, 0),
	.unpack = "gzip",
	.repack = "pigz >new.tar.gz",
	.begins = deflate_begins,
	.open = deflate_points_open,
	.close = gzip_points_close,
	.next = gzip_points_next,
};
