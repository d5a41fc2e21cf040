/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/notes.h"

#include "os/bounded.h"

enum { GATHER_MS = 1 };

void notes_init(struct notes *notes)
{
	*notes = (struct notes){ .lock = LOCK_INIT, .added = WAKEUP_INIT };
}

/* Lock held; true: wake a thread, without the lock. */
static bool notes_count_wake(struct notes *notes)
{
	notes->wakes++;
	return notes->waiting > 0;
}

void notes_add(struct notes *notes, const struct note *note)
{
	bool wake;

	lock_acquire(&notes->lock);
	(void)ring_push(&notes->queue, *note);
	wake = notes_count_wake(notes) && !notes->gathering;
	lock_release(&notes->lock);
	if (wake)
		wakeup_one(&notes->added);
}

bool notes_pop(struct notes *notes, struct note *out)
{
	LOCK_GUARD(&notes->lock);
	return ring_pop(&notes->queue, out);
}

void notes_wake(struct notes *notes)
{
	bool wake;

	lock_acquire(&notes->lock);
	wake = notes_count_wake(notes);
	lock_release(&notes->lock);
	if (wake)
		wakeup_one(&notes->added);
}

static bool notes_begin_gathering(struct notes *notes)
{
	LOCK_GUARD(&notes->lock);
	if (notes->gathering)
		return false;
	notes->gathering = true;
	return true;
}

void notes_gather(struct notes *notes)
{
	if (!notes_begin_gathering(notes))
		return;
	bounded_pause(GATHER_MS);
	lock_acquire(&notes->lock);
	notes->gathering = false;
	lock_release(&notes->lock);
}

unsigned notes_version(struct notes *notes)
{
	LOCK_GUARD(&notes->lock);
	return notes->wakes;
}

void notes_wait(struct notes *notes, unsigned since, unsigned milliseconds)
{
	bool in_time = true;

	LOCK_GUARD(&notes->lock);
	notes->waiting++;
	while (notes->wakes == since && in_time) {
		if (milliseconds)
			in_time = wakeup_wait_for(&notes->added, &notes->lock, milliseconds);
		else
			wakeup_wait(&notes->added, &notes->lock);
	}
	notes->waiting--;
}
