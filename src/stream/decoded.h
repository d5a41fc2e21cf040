/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decoded.h: a compressed stream as a source, while it is indexed.
 *
 * Its bytes are decoded as they are asked for, from front to back, and cut into chunks
 * that can be entered later. So a format that reads a stream in order, and the search for
 * entry points, need one pass together. Bytes that were passed are decoded again from the
 * entry point before them.
 *
 * The size is unknown until the end has been decoded: source_size is DECODED_UNKNOWN until
 * then, and a read past the end is -ENODATA. A read of damaged bytes is -EBADMSG, and
 * decoded_fault has the sentence.
 *
 * Threads: one stream belongs to one thread at a time.
 */
#ifndef GRANARY_STREAM_DECODED_H
#define GRANARY_STREAM_DECODED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "build/streams.h"
#include "source/source.h"

struct decoded;
struct stream_kind;

#define DECODED_UNKNOWN ((uint64_t)INT64_MAX)

/* The compression that begins so, or NULL; and deflate, which has no signature. */
const struct stream_kind *stream_kind_find(const unsigned char *head, size_t n);
const struct stream_kind *stream_kind_deflate(void);

/* What it is called: "gzip"; and the library that this build lacks for it, or NULL. */
const char *stream_kind_name(const struct stream_kind *kind);
const char *stream_kind_needs(const struct stream_kind *kind);

/* The stream in a window of a source, which outlives it, as `label`. 0 or -ENOMEM. */
int decoded_open(const struct stream_kind *kind, const struct source *source, uint64_t base,
		 uint64_t length, const char *label, struct decoded **out);
void decoded_close(struct decoded *decoded);

/* The stream as a source, for as long as it is open. */
const struct source *decoded_source(const struct decoded *decoded);

/* Decodes the rest: 0, or the error of the stream and *e. */
int decoded_finish(struct decoded *decoded, struct error *e);

/* The error that ended the stream, and its sentence in *e; 0: none. */
int decoded_fault(const struct decoded *decoded, struct error *e);

/* Was that because the stream cannot be entered? */
bool decoded_cannot_enter(const struct decoded *decoded);

/* The stored bytes that have been decoded so far. */
uint64_t decoded_position(const struct decoded *decoded);

/* Bytes behind the end of the stream that were ignored. */
uint64_t decoded_ignored(const struct decoded *decoded);

/*
 * The stream for the index, once it has been finished; its source is for the caller to
 * set. The tables live as long as the stream.
 */
void decoded_record(const struct decoded *decoded, struct stream_record *out);

/* "gzip, 1,234 points, a cold read decodes 1.0 MiB, at most 1.1 MiB". */
void decoded_describe(const struct decoded *decoded, char *text, size_t room);

#endif
