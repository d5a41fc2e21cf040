/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slots_kit.h: requests, and servers that die of them. */
#ifndef GRANARY_TESTS_SLOTS_KIT_H
#define GRANARY_TESTS_SLOTS_KIT_H

#include "unit.h"

#include <signal.h>

#include "fuse/slots.h"
#include "fuse/slots_check.h"
#include "fuse/slots_state.h"

enum { THREADS = 3, PARKED_MOST = 1024 };

static int64_t now = 1000; /* seconds */
static bool hungry;	   /* memory is short when servers die */

static inline void put(struct slots *slots, unsigned slot, uint32_t opcode, uint64_t node,
		       const void *body, size_t size)
{
	struct fuse_in_header *request = slots_receive(slots, slot);

	*request = (struct fuse_in_header){
		.opcode = opcode, .nodeid = node, .unique = 100 + slot};
	memcpy(request + 1, body, size);
	request->len = (uint32_t)(sizeof(*request) + size);
}

static inline void put_read(struct slots *slots, unsigned slot, uint64_t node,
			    uint64_t offset)
{
	const struct fuse_read_in body = { .offset = offset, .size = 4096 };

	put(slots, slot, FUSE_READ, node, &body, sizeof(body));
}

static inline void put_lookup(struct slots *slots, unsigned slot, const char *name)
{
	put(slots, slot, FUSE_LOOKUP, 1, name, strlen(name) + 1);
}

/* The server dies: at slot `slot` (-1: at none) by `signal` (0: killed). */
static inline struct slots_death die(struct slots *slots, int slot, int signal)
{
	struct slots_death legacy;

	if (signal)
		slots_crashed(slots, slot, signal);
	slots_note_death(slots, hungry, now, &legacy);
	return legacy;
}

static inline void finish(struct slots *slots)
{
	const char *wrong = slots_check(slots);

	if (wrong)
		fail_msg("%s", wrong);
	slots_free(slots);
}

static inline bool is_condemned(const struct slots *slots, unsigned slot)
{
	return slots_is_condemned(slots, slot, now);
}

#endif
