/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tar_run.h: scans of tars, and listings of what they found, for the tests of
 * the tar format.
 */
#ifndef GRANARY_TESTS_TAR_RUN_H
#define GRANARY_TESTS_TAR_RUN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/format.h"

/* One scan, and what came of it. */
struct run {
	struct source *source;
	struct entries *entries;
	struct error e;
	struct scan scan;
	_Atomic uint64_t position; /* bytes that the scan said it has passed */
	_Atomic uint64_t members;
	int err;
};

void run_prepare(struct run *run, const char *path);
void run_scan(struct run *run, const char *path);
void run_end(struct run *run);

/* A damaged archive: an error of the right kind with a useful sentence. */
void run_assert_damaged(const struct run *run, const char *word);

/* The bytes of an entry, with a NUL behind; the caller frees them. */
unsigned char *run_contents(const struct run *run, const struct entry *entry);

/* In the form that tar_fixtures.py describes; the caller frees it. */
char *run_listing(const struct run *run);

/* Fails, and says where they part, since whole listings are long. */
void run_assert_same(const char *name, const char *got, const char *want);

/* The caller frees what is read; `size` may be NULL. */
char *run_read_file(const char *path, size_t *size);
void run_write_file(const char *path, const void *bytes, size_t n);

/* The parts of a listing: a blank and the bytes in hex; a checksum. */
void run_print_hex(FILE *out, const char *text, size_t n);
uint32_t run_adler32(const unsigned char *bytes, uint64_t n);

/*
 * Group set-up: makes the fixtures, those of tar_fixtures.py or of another script, in a
 * directory and goes there; and back.
 */
int run_enter_with(const char *script);
int run_enter(void **state);
int run_leave(void **state);

#endif
