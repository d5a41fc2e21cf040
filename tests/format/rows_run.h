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

/*
 * The fixture is listed as expected, read to its end: from its first byte on, and behind
 * other bytes of the source.
 */
void rows_as_written(const char *name);
void rows_behind_others(const char *name);

/* A fixture's description, and what its scan says: all is "", or one part of it. */
struct row_told {
	const char *file, *labels, *detail, *said;
};
void rows_told(const struct row_told *row);

/* A part of the sentence that refuses a fixture. */
struct row_refused {
	const char *file, *labels, *word;
};
void rows_refused(const struct row_refused *row);

/* A fixture's bytes; the caller frees them. */
char *fixture(const char *name, size_t *size);

/* Puts a fixture, from its first byte on, into the test's directory. */
void take_fixture(const char *name);

#endif
