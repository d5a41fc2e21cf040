/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/notes.h"

void notes_init(struct notes *notes)
{
	*notes = (struct notes){ .lock = LOCK_INIT, .added = WAKEUP_INIT };
}

/* Lock held. */
static void wake(struct notes *notes)
{
	notes->wakes++;
	if (notes->waiting > 0)
		wakeup_one(&notes->added);
}

void notes_add(struct notes *notes, const struct note *note)
{
	LOCK_GUARD(&notes->lock);
	if (notes->count < NOTES_ROOM)
		notes->ring[(notes->first + notes->count++) % NOTES_ROOM] = *note;
	wake(notes);
}

bool notes_take(struct notes *notes, struct note *out)
{
	LOCK_GUARD(&notes->lock);
	if (notes->count == 0)
		return false;
	*out = notes->ring[notes->first];
	notes->first = (notes->first + 1) % NOTES_ROOM;
	notes->count--;
	return true;
}

void notes_wake(struct notes *notes)
{
	LOCK_GUARD(&notes->lock);
	wake(notes);
}

unsigned notes_now(struct notes *notes)
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
