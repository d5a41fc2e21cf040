/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/unpack.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "config.h"
#include "stream/decoded.h"
#include "stream/stream_kind.h"
#include "stream/unpack_kind.h"

enum { PIECE = 1 << 20, HEAD = 64 << 10 };

static const struct unpack_kind *const unpack_kinds[] = {
	IF_ZSTD(&unpack_zstd,)
	IF_LZMA(&unpack_xz,)
	IF_LZ4(&unpack_lz4,)
	IF_LZMA(&unpack_lzma,) /* the last: it has no magic */
	NULL,
};

struct unpacking {
	struct stream_input input;
	unpack_write *write;
	void *context;
	unsigned char *in, *out; /* PIECE bytes each */
	uint64_t at;             /* read of the window */
	struct unpack_step step;
};

static const struct unpack_kind *find_unpack_kind(const unsigned char *head, size_t n)
{
	size_t i = 0;

	while (unpack_kinds[i] && !unpack_kinds[i]->begins(head, n))
		i++;
	return unpack_kinds[i];
}

bool unpack_alone_reads(const unsigned char *head, size_t n)
{
	const struct unpack_kind *kind =
		stream_kind_find(head, n) ? NULL : find_unpack_kind(head, n);

	return kind && kind->alone;
}

static int fill_step(struct unpacking *u, struct error *e)
{
	ssize_t n = stream_read(&u->input, u->in, PIECE, u->at, e);

	if (n < 0)
		return (int)n;
	u->at += (uint64_t)n;
	u->step.next = u->in;
	u->step.left = (size_t)n;
	u->step.last = n == 0;
	return 0;
}

/* One step: 1: there was something to do; 0: the input has ended; or an error. */
static int unpack_step(struct unpacking *u, const struct unpack_kind *kind, void *decoder,
		       struct error *e)
{
	size_t made, left;
	int err = u->step.left || u->step.last ? 0 : fill_step(u, e);

	if (err)
		return err;
	u->step.out = u->out;
	u->step.room = PIECE;
	left = u->step.left;
	err = kind->step(decoder, &u->step);
	made = PIECE - u->step.room;
	if (err == -ENOMEM)
		return stream_no_memory(&u->input, e);
	if (err || (u->step.left && u->step.left == left && !made))
		return stream_damaged(&u->input, "its compressed data make no sense before",
				      u->input.base + u->at, e);
	if (made)
		err = u->write(u->context, u->out, made);
	return err ? err : made || left || !u->step.last;
}

static int unpack_by_kind(struct unpacking *u, const struct unpack_kind *kind, struct error *e)
{
	void *decoder = kind->open();
	int more = decoder ? 1 : stream_no_memory(&u->input, e);

	while (more > 0)
		more = unpack_step(u, kind, decoder, e);
	if (decoder)
		kind->close(decoder);
	return more || u->step.complete ? more : stream_truncated(&u->input, e);
}

/* The others can be entered everywhere, and so be decoded as they are for an index. */
static int unpack_by_decoded(struct unpacking *u, const struct stream_kind *kind,
			     struct error *e)
{
	struct decoded *decoded;
	const struct source *source;
	uint64_t at = 0;
	int err = decoded_open(kind, u->input.source, u->input.base, u->input.length,
			       u->input.label, &decoded);

	if (err)
		return stream_no_memory(&u->input, e);
	source = decoded_source(decoded);
	while (!err) {
		uint64_t left = source_size(source) - at;
		size_t n = left < PIECE ? (size_t)left : PIECE;

		if (n == 0)
			break;
		err = source_pread(source, u->out, n, at);
		if (err == -ENODATA) { /* the size is known now */
			err = 0;
			continue;
		}
		if (!err)
			err = u->write(u->context, u->out, n);
		at += n;
	}
	if (decoded_fault(decoded, e))
		err = decoded_fault(decoded, e);
	decoded_close(decoded);
	return err;
}

static int unpack_any(struct unpacking *u, struct error *e)
{
	ssize_t n = stream_read(&u->input, u->in, HEAD, 0, e);
	const struct unpack_kind *kind;
	const struct stream_kind *other;

	if (n < 0)
		return (int)n;
	kind = find_unpack_kind(u->in, (size_t)n);
	other = stream_kind_find(u->in, (size_t)n);
	if (kind)
		return unpack_by_kind(u, kind, e);
	if (other && !stream_kind_needs(other))
		return unpack_by_decoded(u, other, e);
	return stream_damaged(&u->input, "there are no compressed data", u->input.base, e);
}

int unpack_stream(const struct source *source, uint64_t base, const char *label,
		  unpack_write *write, void *context, struct error *e)
{
	CLEANUP(cleanup_free) unsigned char *in = malloc(PIECE), *out = malloc(PIECE);
	struct unpacking u = { .input = { .source = source, .base = base, .label = label,
					  .length = source_size(source) - base },
			       .write = write, .context = context, .in = in, .out = out };

	return in && out ? unpack_any(&u, e) : stream_no_memory(&u.input, e);
}
