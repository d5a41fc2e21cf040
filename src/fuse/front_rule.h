/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * front_rule.h: decides by the readers' requests if a shield is worth its price. Pure: no
 * clock, no I/O. Private to fuse/.
 *
 * Python before 3.14 sends an ioctl at each open(), which a shield spares; a reader in C
 * sends none, and a shield costs that reader a second path walk at each open. The daemon
 * sees no opens. So these properties of the requests tell that a shield is worth it:
 *
 *	many     FRONT_IOCTLS ioctls within FRONT_MS
 *	mostly   at least one request in FRONT_SHARE is an ioctl: files are small, or cached
 *	ongoing  ioctls came before and after the first two were found true
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FUSE_FRONT_RULE_H
#define GRANARY_FUSE_FRONT_RULE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FRONT_IOCTLS = 1000,
	FRONT_MS = 10000,
	FRONT_SHARE = 4,
	FRONT_ONGOING = 16, /* ioctls since the last call */
};

/* Totals since the mount began. */
struct front_counts {
	uint64_t ioctls;
	uint64_t requests; /* of all kinds, ioctls too */
};

struct front_rule {
	struct front_counts begin, last;
	int64_t begin_ms; /* of the present FRONT_MS */
	bool many;        /* at the last call */
};

/* All 0 is the initial state. True: a shield is worth it now. */
bool front_rule_note(struct front_rule *rule, struct front_counts now, int64_t now_ms);

#endif
