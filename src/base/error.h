/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * error.h: the one error type of set-up paths.
 *
 * Functions return 0 or a negative errno. Those that run while a dataset is
 * opened, indexed or mounted also fill a struct error, whose text is a
 * sentence for the user: it names the file, what was found, and the remedy. It is one
 * line, whatever a name in it holds (base/controls.h).
 * The read path never uses it.
 *
 * Threads: a struct error belongs to one thread at a time.
 */
#ifndef GRANARY_BASE_ERROR_H
#define GRANARY_BASE_ERROR_H

#include <stddef.h>

/* The exit statuses of both programs. */
enum error_status {
	ERROR_USAGE = 1,    /* the command line is wrong */
	ERROR_SYSTEM = 2,   /* the system said no: files, memory, rights */
	ERROR_DATASET = 3,  /* the source is not a dataset that we can read */
	ERROR_LATE = 4,     /* what was waited for has not come in time */
	ERROR_IDLE = 5,     /* what was waited for will not come: nobody is at it */
	ERROR_DAMAGED = 6,  /* it was read, and is not what it should be */
	ERROR_PARTIAL = 7,  /* it was done, but for what could not be: --keep-going */
	ERROR_MOUNT = 32,   /* everything was fine until mount(2) */
};

struct error {
	enum error_status status;
	char text[2048];
};

/*
 * Fills `e` (which may be NULL) and returns -errnum, so that a caller can say
 * `return error_set(e, ERROR_DATASET, EBADMSG, "...", ...)`.
 */
int error_set(struct error *e, enum error_status status, int errnum,
	      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* -ENOMEM: "out of memory", of a file or of nothing (NULL) in particular. */
int error_no_memory(struct error *e, const char *path);

/* Puts "PREFIX: " before the text that is there. */
void error_prefix(struct error *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
