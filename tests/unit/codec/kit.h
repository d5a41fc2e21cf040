/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kit.h: buffers that end where a page ends that nobody may touch, so that a
 * library that reads or writes one byte too many is caught in any build.
 */
#ifndef GRANARY_TESTS_CODEC_KIT_H
#define GRANARY_TESTS_CODEC_KIT_H

#include "codec/codec.h"
#include "unit.h"

struct guarded {
	unsigned char *at; /* n bytes, then the end */
	size_t n;
	void *mapping;
	size_t mapped;
};

struct guarded guarded_new(size_t n);
struct guarded guarded_copy(const void *bytes, size_t n);
void guarded_free(struct guarded *guarded);

/* Bytes that get smaller, but not by much. */
void kit_fill(unsigned char *bytes, size_t n);

/* Decodes one step from and into guarded buffers of just these sizes. */
ssize_t kit_decode(uint32_t step, const void *in, size_t n, struct guarded *out);

#endif
