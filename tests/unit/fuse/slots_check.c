/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/slots_check.h"

#include "fuse/slots_state.h"

/* While the server's threads run, another thread may be in the middle of a change. */
static const char *check_slot(const struct slots *slots, unsigned slot)
{
	const struct fuse_in_header *request = slots_place(slots, slot);

	if (atomic_load(slots_length(slots, slot)) == 0)
		return NULL;
	if (slots_request_length(slots, slot) == 0)
		return "a request has a length that none can have";
	if (slot >= slots->threads && request->opcode != FUSE_READ)
		return "a request is parked that is no read";
	return NULL;
}

/* The slot that is handled alone, or that of the crashed thread; or a number below 0. */
static const char *check_numbers(const struct slots *slots)
{
	int alone = atomic_load(&slots->shared->alone);
	int crashed = atomic_load(&slots->shared->crash_slot);
	int count = (int)slots_count(slots);

	if (alone < IDLE || alone >= count)
		return "a slot is handled alone that is not there";
	if (crashed < NOBODY || crashed >= count)
		return "a thread crashed in a slot that is not there";
	return slots->idle_ms > IDLE_MOST_MS ? "nothing is to be handled for too long" : NULL;
}

static const char *check_suspect(const struct slots *slots, unsigned i)
{
	const struct suspect *suspect = &slots->suspects[i];

	if (!suspect->name)
		return suspect->crashes || suspect->condemned_until ?
			       "a suspect without a name is blamed" : NULL;
	if (suspect->order == 0 || suspect->order > slots->suspects_seen)
		return "a suspect came in no order";
	if (suspect->condemned_until && !slots->any_condemned)
		return "a suspect is condemned, and is not looked for";
	for (unsigned j = 0; j < i; j++) {
		if (slots->suspects[j].name == suspect->name)
			return "two suspects have one name";
		if (slots->suspects[j].name && slots->suspects[j].order == suspect->order)
			return "two suspects came at once";
	}
	return NULL;
}

const char *slots_check(const struct slots *slots)
{
	const char *wrong;

	HANDLE_CHECK(slots, HANDLE_SLOTS);
	wrong = check_numbers(slots);
	for (unsigned i = 0; i < slots_count(slots) && !wrong; i++)
		wrong = check_slot(slots, i);
	for (unsigned i = 0; i < SUSPECTS && !wrong; i++)
		wrong = check_suspect(slots, i);
	return wrong;
}
