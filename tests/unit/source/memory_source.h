/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_source.h: a second kind of source: bytes in memory, which fail where a test says.
 */
#ifndef GRANARY_TESTS_UNIT_MEMORY_SOURCE_H
#define GRANARY_TESTS_UNIT_MEMORY_SOURCE_H

#include "source/source_set.h"

/*
 * Holds `length` bytes, which outlive it, and zeros behind them up to `size`. Its number is
 * its address: two of them are never the same file.
 */
struct source *memory_source(const char *path, const void *bytes, size_t length,
			     uint64_t size);

/* A set of just one, of these bytes. */
struct source_set memory_set(const char *path, const void *bytes, size_t length);

/* From now on reads that reach the byte `at` fail there with `err`, `times` times. */
void memory_source_fail(struct source *source, uint64_t at, int err, unsigned times);

/* Bytes that were hinted to be read soon. */
uint64_t memory_source_hinted(const struct source *source);

#endif
