/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz.h: what the harnesses share. Each is one LLVMFuzzerTestOneInput, for a fuzzing
 * engine or for main.c, which gives it files. Whatever the bytes are, it ends: an error
 * has a sentence, and what was accepted can be sealed, checked and read.
 *
 * An abort() is a fault.
 */
#ifndef GRANARY_TESTS_FUZZ_H
#define GRANARY_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "build/samples.h"
#include "source/source_set.h"
#include "index/index.h"
#include "base/error.h"
#include "base/log.h"

/* The messages about an input: by default the errors of the program alone. main.c raises
   it where it is to say what became of each. */
extern enum log_level fuzz_log_level;

/* One line of what became of it, where that is asked for. */
void fuzz_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A name of a file that holds these bytes, without a place in any directory; -1: none. */
int fuzz_file(const uint8_t *bytes, size_t n);

/* A set of one source, which is such a file. */
struct source_set fuzz_source(int fd);

/* An error must have a sentence of one line. */
void fuzz_expect_sentence(int err, const struct error *e);

/* Makes an index of what a scan has found (both are freed), checks it, reads all. */
void fuzz_serve(struct entries *entries, struct samples *samples,
		const struct source_set *sources);

/* The same with the image of an index, which stays the caller's. */
struct image;
void fuzz_serve_image(struct image *image, const struct source_set *sources);

/* Reads something of every file: errors are those of bytes that make no sense. */
void fuzz_read(const struct index *index, const struct source_set *sources);

#endif
