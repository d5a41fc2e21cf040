/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * problems.h: problems with source files, with path and reason.
 *
 * Threads: problems_add may be called from any; the others from one, while no thread
 * adds.
 */
#ifndef GRANARY_PACKER_PROBLEMS_H
#define GRANARY_PACKER_PROBLEMS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/vec.h"
#include "os/lock.h"

struct problem {
	const char *path;   /* within the source directory; "" is the directory itself */
	const char *reason; /* continues the path: "cannot be opened: Permission denied" */
};

struct problems {
	struct lock lock;
	VEC(struct problem) items; /* lock */
	struct arena arena;        /* lock: the texts */
	size_t lost;               /* lock: not noted for lack of memory */
};

#define PROBLEMS_INIT { .lock = LOCK_INIT, .items = VEC_INIT }

void problems_add(struct problems *problems, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
size_t problems_count(const struct problems *problems);

/* By path, so that the threads' timing does not show. */
void problems_sort(struct problems *problems);
void problems_free(struct problems *problems);

#endif
