/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/decoded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/size.h"
#include "codec/codec.h"
#include "index/checksum.h"
#include "source/source_kind.h"
#include "stream/stream_kind.h"

enum {
	KEPT = 8,               /* decoded chunks: a format looks back a little, */
	KEPT_BYTES = 16 << 20,  /* of so many bytes, and the last two in any case */
	BOMB_RATIO = 250,       /* decoded bytes for a stored one, */
	BOMB_FREE = 1 << 30,    /* beyond so many decoded bytes */
};

static const struct stream_kind *const stream_kinds[] = {
#define STREAM_KIND(variable, name, magic, library) &variable,
#include "stream/streams.def"
#undef STREAM_KIND
};

enum { STREAM_KINDS = sizeof(stream_kinds) / sizeof(*stream_kinds) };

struct decoded {
	struct source source; /* the first: see decoded_of */
	const struct stream_kind *kind;
	struct stream_input input;
	void *reader;
	uint64_t length;      /* decoded so far */
	bool ended;           /* all of it is decoded */
	int err;              /* the reader's, and its sentence */
	struct error e;
	struct stream_chunk chunk; /* of the reader */
	VEC(struct volume_chunk) chunks;
	VEC(struct volume_point) points;
	VEC(uint8_t) windows;
	uint64_t largest;     /* decoded bytes of a chunk */

	struct kept_chunk {
		uint64_t number;
		unsigned char *bytes; /* NULL: none */
		size_t size;
		uint64_t used;        /* a time: the largest is the most recent */
	} kept[KEPT];
	uint64_t clock;
};

static struct decoded *decoded_of(const struct source *source)
{
	return (struct decoded *)(uintptr_t)source;
}

/* ---- Chunks that are kept ---------------------------------------------------------- */

static struct kept_chunk *find_kept(struct decoded *d, uint64_t number)
{
	for (unsigned i = 0; i < KEPT; i++) {
		if (d->kept[i].bytes && d->kept[i].number == number) {
			d->kept[i].used = ++d->clock;
			return &d->kept[i];
		}
	}
	return NULL;
}

/* The chunk whose last use is the longest ago. */
static struct kept_chunk *oldest_kept(struct decoded *d)
{
	struct kept_chunk *oldest = &d->kept[0];

	for (unsigned i = 1; i < KEPT; i++)
		if (d->kept[i].used < oldest->used)
			oldest = &d->kept[i];
	return oldest;
}

static void drop_kept(struct kept_chunk *kept)
{
	free(kept->bytes);
	*kept = (struct kept_chunk){ 0 };
}

/* Keeps a chunk, and takes its bytes. */
static struct kept_chunk *keep_chunk(struct decoded *d, uint64_t number, unsigned char *bytes,
				     size_t size)
{
	struct kept_chunk *place = oldest_kept(d);
	size_t all = size;

	drop_kept(place);
	*place = (struct kept_chunk){ number, bytes, size, ++d->clock };
	for (unsigned i = 0; i < KEPT; i++)
		all += &d->kept[i] == place ? 0 : d->kept[i].size;
	for (unsigned i = 0; i < KEPT && all > KEPT_BYTES; i++) {
		struct kept_chunk *other = &d->kept[i];

		if (other->bytes && other->used + 1 < d->clock) {
			all -= other->size;
			drop_kept(other);
		}
	}
	return place;
}

/* ---- Decoding ---------------------------------------------------------------------- */

static int refuse_bomb(struct decoded *d)
{
	return error_set(&d->e, ERROR_DATASET, EBADMSG,
			 "'%s' unpacks to more than %d times its size, as no dataset does; it is "
			 "refused as a decompression bomb", d->input.label, BOMB_RATIO);
}

/* Appends the reader's chunk to the tables. */
static int record_chunk(struct decoded *d)
{
	const struct stream_chunk *chunk = &d->chunk;
	uint64_t stored = chunk->stored_at + chunk->stored_length - d->input.base;
	struct volume_chunk is = { .start = d->length, .stored_at = chunk->stored_at,
				   .stored_length = (uint32_t)chunk->stored_length,
				   .skipped = chunk->skipped };
	struct volume_point point = { .sum = sum_of(chunk->bytes.items, chunk->bytes.count),
				      .window = d->windows.count,
				      .window_length = (uint32_t)chunk->window.count,
				      .bits = chunk->bits };

	if (chunk->stored_length > VOLUME_CHUNK_LIMIT)
		return stream_cannot_enter(&d->input, d->kind, chunk->stored_at, &d->e);
	if (vec_push(&d->chunks, is) < 0 || vec_push(&d->points, point) < 0 ||
	    vec_reserve(&d->windows, chunk->window.count) < 0)
		return stream_no_memory(&d->input, &d->e);
	if (chunk->window.count)
		memcpy(d->windows.items + d->windows.count, chunk->window.items,
		       chunk->window.count);
	d->windows.count += chunk->window.count;
	d->length += chunk->bytes.count;
	if (d->largest < chunk->bytes.count)
		d->largest = chunk->bytes.count;
	return d->length > BOMB_FREE && d->length / BOMB_RATIO > stored ? refuse_bomb(d) : 0;
}

/* Decodes one chunk more: 0 (d->ended: there is none), or an error, which stays. */
static int decode_next(struct decoded *d)
{
	int result = d->err;

	if (result || d->ended)
		return result;
	result = d->kind->next(d->reader, &d->chunk, &d->e);
	if (result == 0) {
		d->ended = true;
		d->source.info.size = d->length;
	} else if (result > 0) {
		result = record_chunk(d);
	}
	if (result == 0 && !d->ended) {
		keep_chunk(d, d->chunks.count - 1, d->chunk.bytes.items,
			   d->chunk.bytes.count);
		d->chunk.bytes.items = NULL;
		vec_free(&d->chunk.bytes);
	}
	d->err = result;
	return result;
}

/* Decodes a chunk that was passed, from its point on. */
static ssize_t decode_again(const struct decoded *d, uint64_t number, void *out, size_t room)
{
	const struct volume_chunk *chunk = &d->chunks.items[number];
	const struct volume_point *point = &d->points.items[number];
	struct codec_entry entry = { .bits = point->bits,
				     .window = d->windows.items + point->window,
				     .window_length = point->window_length };
	unsigned char *stored = malloc(chunk->stored_length);
	const uint32_t chain[CODEC_CHAIN_MOST] = { d->kind->codec };
	ssize_t n = stored ? source_pread(d->input.source, stored, chunk->stored_length,
					  chunk->stored_at) : -ENOMEM;

	if (!n)
		n = chunk->skipped ? codec_chain_decode(chain, chunk->skipped, stored,
							chunk->stored_length, out, room) :
				     codec_decode_at(d->kind->codec, &entry, stored,
						     chunk->stored_length, out, room);
	free(stored);
	if (n >= 0 && ((size_t)n != room || sum_of(out, room) != point->sum))
		return -EIO; /* the file has changed meanwhile */
	return n;
}

static uint64_t chunk_end(const struct decoded *d, uint64_t number)
{
	return number + 1 < d->chunks.count ? d->chunks.items[number + 1].start : d->length;
}

/* The chunk that holds a byte that was decoded. */
static uint64_t find_chunk(const struct decoded *d, uint64_t at)
{
	return vec_find_last(&d->chunks, d->chunks.items[middle].start <= at);
}

/* The bytes of a chunk that was decoded: NULL, and *err. */
static const struct kept_chunk *get_chunk(struct decoded *d, uint64_t number, int *err)
{
	size_t size = (size_t)(chunk_end(d, number) - d->chunks.items[number].start);
	const struct kept_chunk *kept = find_kept(d, number);
	unsigned char *bytes = kept ? NULL : malloc(size);
	ssize_t n = kept || bytes ? 0 : -ENOMEM;

	if (bytes)
		n = decode_again(d, number, bytes, size);
	if (n >= 0)
		return kept ? kept : keep_chunk(d, number, bytes, size);
	free(bytes);
	*err = (int)n;
	return NULL;
}

/* Copies from the chunk that holds `at`, up to its end: the number of bytes. */
static ssize_t copy_from_chunk(struct decoded *d, void *buffer, size_t length, uint64_t at)
{
	uint64_t number = find_chunk(d, at), skip = at - d->chunks.items[number].start;
	int err = 0;
	const struct kept_chunk *chunk = get_chunk(d, number, &err);

	if (!chunk)
		return err;
	if (length > chunk->size - skip)
		length = chunk->size - (size_t)skip;
	memcpy(buffer, chunk->bytes + skip, length);
	return (ssize_t)length;
}

static int decoded_pread(const struct source *source, void *buffer, size_t length,
			 uint64_t *at, bool again)
{
	struct decoded *d = decoded_of(source);

	for (size_t done = 0; done < length;) {
		ssize_t n = 0;

		while (*at >= d->length && !d->ended && !n)
			n = decode_next(d);
		if (!n && *at >= d->length)
			return -ENODATA;
		if (!n)
			n = copy_from_chunk(d, (char *)buffer + done, length - done, *at);
		if (n < 0)
			return (int)n;
		done += (size_t)n;
		*at += (uint64_t)n;
	}
	return 0;
}

static const struct source_ops decoded_ops = { .pread = decoded_pread };

/* ---- Outside ----------------------------------------------------------------------- */

const struct stream_kind *stream_kind_find(const unsigned char *head, size_t n)
{
	for (size_t i = 0; i < STREAM_KINDS; i++)
		if (stream_kinds[i]->begins(head, n))
			return stream_kinds[i];
	return NULL;
}

const struct stream_kind *stream_kind_deflate(void)
{
	return &stream_deflate;
}

const char *stream_kind_name(const struct stream_kind *kind)
{
	return kind->name;
}

const char *stream_kind_needs(const struct stream_kind *kind)
{
	return kind->needs;
}

int decoded_open(const struct stream_kind *kind, const struct source *source, uint64_t base,
		 uint64_t length, const char *label, struct decoded **out)
{
	struct decoded *d = source_new(&decoded_ops, sizeof(*d), source_path(source), NULL);

	if (!d)
		return -ENOMEM;
	d->source.info = *source_info(source);
	d->source.info.size = DECODED_UNKNOWN;
	d->kind = kind;
	d->input = (struct stream_input){ .source = source, .base = base, .length = length,
					  .label = label };
	d->reader = kind->open(&d->input);
	*out = d;
	if (d->reader)
		return 0;
	decoded_close(d);
	return -ENOMEM;
}

void decoded_close(struct decoded *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < KEPT; i++)
		drop_kept(&d->kept[i]);
	if (d->reader)
		d->kind->close(d->reader);
	vec_free(&d->chunk.bytes);
	vec_free(&d->chunk.window);
	vec_free(&d->chunks);
	vec_free(&d->points);
	vec_free(&d->windows);
	source_close(&d->source);
}

const struct source *decoded_source(const struct decoded *d)
{
	return &d->source;
}

int decoded_finish(struct decoded *d, struct error *e)
{
	while (!d->ended && decode_next(d) == 0)
		;
	return decoded_fault(d, e);
}

int decoded_fault(const struct decoded *d, struct error *e)
{
	if (d->err)
		*e = d->e;
	return d->err;
}

bool decoded_cannot_enter(const struct decoded *d)
{
	return d->input.closed;
}

uint64_t decoded_position(const struct decoded *d)
{
	const struct volume_chunk *last = d->chunks.count ? &d->chunks.items[d->chunks.count - 1] :
							    NULL;

	return last ? last->stored_at + last->stored_length - d->input.base : 0;
}

uint64_t decoded_ignored(const struct decoded *d)
{
	return d->kind->ignored ? d->kind->ignored(d->reader) : 0;
}

void decoded_record(const struct decoded *d, struct stream_record *out)
{
	*out = (struct stream_record){
		.codec = d->kind->codec, .length = d->length, .count = d->chunks.count,
		.chunks = d->chunks.items, .points = d->points.items,
		.windows = d->windows.items, .window_bytes = d->windows.count,
	};
}

void decoded_describe(const struct decoded *d, char *text, size_t room)
{
	uint64_t chunk = d->chunks.count ? d->length / d->chunks.count : 0;
	char points[SIZE_TEXT_BYTES], mean[SIZE_TEXT_BYTES], largest[SIZE_TEXT_BYTES];

	snprintf(text, room, "%s, %s point%s, a cold read decodes %s, at most %s",
		 d->kind->name, count_text(d->chunks.count, points),
		 d->chunks.count == 1 ? "" : "s", size_text(chunk, mean),
		 size_text(d->largest, largest));
}
