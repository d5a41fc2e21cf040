/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notes.h: a queue of completed reads, from request threads to prefetch threads. Private
 * to prefetch/.
 *
 * Threads: any number at once. A full queue drops the note: a request thread never waits.
 */
#ifndef GRANARY_PREFETCH_NOTES_H
#define GRANARY_PREFETCH_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"
#include "os/lock.h"

enum { NOTES_ROOM = 1024 };

struct note {
	uint32_t node;
	uint64_t offset;
	size_t length;
	bool direct; /* O_DIRECT: bypasses the page cache */
};

struct notes {
	struct lock lock;
	struct wakeup added;
	RING(struct note, NOTES_ROOM) queue; /* lock */
	unsigned waiting;      /* lock: threads */
	bool gathering;        /* lock: a thread pauses, and takes the notes then */
	unsigned wakes;        /* lock: counts notes_add and notes_wake */
};

void notes_init(struct notes *notes);
void notes_add(struct notes *notes, const struct note *note);
bool notes_pop(struct notes *notes, struct note *out);

/*
 * notes_wake announces work without a note. A thread passes notes_version, from before it
 * looked for work, to notes_wait, which returns once work was announced since.
 */
void notes_wake(struct notes *notes);
unsigned notes_version(struct notes *notes);
/* `milliseconds`: the longest wait; 0: no limit. */
void notes_wait(struct notes *notes, unsigned since, unsigned milliseconds);

/*
 * Pauses for a millisecond, in which notes wake no thread; the caller takes them then.
 * Otherwise each read of a random order wakes a thread for nothing, which takes a tenth
 * of the time of a read that decodes. Returns at once if another thread pauses.
 */
void notes_gather(struct notes *notes);

#endif
