/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rows_run.h: scans of files of rows, and listings of what they found, for the tests of
 * formats whose fixtures have an expected.tsv.
 */
#ifndef GRANARY_TESTS_ROWS_RUN_H
#define GRANARY_TESTS_ROWS_RUN_H

#include "scan_run.h"

/* The format of all that follows, whose fixtures are in a directory of that name. Before
   the first call it is "arrow". */
void rows_of(const char *format);

/* Scans what of the file is behind `base`; `labels` is labels=NAME, or NULL. */
void run_window(struct run *run, const char *path, uint64_t base, const char *labels);

/* As in expected.tsv, without the line of the file; the caller frees it. */
char *run_listing(const struct run *run);

/* The lines of a file in expected.tsv; the caller frees them. */
char *expected_of(const char *name);

void assert_same_text(const char *name, const char *got, const char *want);

/* -EBADMSG, of the dataset, in a sentence that names the file and has this word. */
void assert_refused(const struct run *run, const char *word);

/* A fixture's bytes; the caller frees them. */
char *fixture(const char *name, size_t *size);

/* Puts a fixture, from its first byte on, into the test's directory. */
void take_fixture(const char *name);

#endif
