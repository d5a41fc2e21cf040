/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * error.h: the error type of set-up.
 *
 * Functions return 0 or a negative errno. Those that open, index or mount a dataset also
 * fill a struct error, whose text is one sentence for the user: the file, what was found,
 * and a remedy. The text is one line: control characters of names are escaped
 * (base/controls.h). Reads of files never use it.
 *
 * Threads: a struct error belongs to one thread at a time.
 */
#ifndef GRANARY_BASE_ERROR_H
#define GRANARY_BASE_ERROR_H

#include <stddef.h>

/* The exit statuses of both programs. */
enum error_status {
	ERROR_USAGE = 1,    /* the command line is wrong */
	ERROR_SYSTEM = 2,   /* a system call failed: files, memory, rights */
	ERROR_DATASET = 3,  /* the source is no dataset that we can read */
	ERROR_LATE = 4,     /* a wait ended by its time limit */
	ERROR_IDLE = 5,     /* a wait for work that no process does */
	ERROR_DAMAGED = 6,  /* data was read and is damaged */
	ERROR_PARTIAL = 7,  /* done except for faulty files: --keep-going */
	ERROR_MOUNT = 32,   /* mount(2) failed */
};

struct error {
	enum error_status status;
	char text[2048];
};

/*
 * Fills `e` (may be NULL) and returns -errnum: `return error_set(e, ERROR_DATASET,
 * EBADMSG, "...", ...)`.
 */
int error_set(struct error *e, enum error_status status, int errnum,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* -ENOMEM: "out of memory", of a file or of nothing (NULL) in particular. */
int error_no_memory(struct error *e, const char *path);

/* Puts "PREFIX: " before the text that is there. */
void error_prefix(struct error *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
