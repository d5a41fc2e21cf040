/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.h: what was asked for, on its way from the threads that answer to those that
 * read ahead. Private to prefetch/.
 *
 * Threads: any number at once. A ring that is full drops the note: who answers never
 * waits.
 */
#ifndef GRANARY_PREFETCH_NOTES_H
#define GRANARY_PREFETCH_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/lock.h"

enum { NOTES_ROOM = 1024 };

struct note {
	uint32_t node;
	uint64_t offset;
	size_t length;
	bool direct; /* past the page cache, which has not got it */
};

struct notes {
	struct lock lock;
	struct wakeup added;
	struct note ring[NOTES_ROOM];
	unsigned first, count; /* lock */
	unsigned waiting;      /* lock: threads */
	unsigned wakes;        /* lock: how often there was something to look at */
};

void notes_init(struct notes *notes);
void notes_add(struct notes *notes, const struct note *note);
bool notes_take(struct notes *notes, struct note *out);

/*
 * There may be work, though no note: one that waits looks. Who finds nothing waits for
 * what has come since it asked notes_now, before it looked.
 */
void notes_wake(struct notes *notes);
unsigned notes_now(struct notes *notes);
/* `milliseconds`: no longer than that; 0: for ever. */
void notes_wait(struct notes *notes, unsigned since, unsigned milliseconds);

#endif
