/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * namespace.h: the user and group ids that this process's user namespace maps.
 *
 * Threads: one for namespace_ids; any for the others.
 */
#ifndef GRANARY_OS_NAMESPACE_H
#define GRANARY_OS_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

enum { NAMESPACE_RANGES = 340 }; /* most lines of a map in Linux */

struct namespace_ids {
	unsigned count; /* 0: all ids are mapped */
	struct namespace_range {
		uint32_t first, count;
	} ranges[NAMESPACE_RANGES];
};

/* Is it another than the machine's first user namespace? False if unknown. */
bool namespace_is_private(void);

/* The ids of /proc/self/uid_map, or gid_map. */
void namespace_ids(const char *map, struct namespace_ids *out);

/* False: the id is not mapped, and no process here can have it, not even root. */
bool namespace_knows(const struct namespace_ids *ids, uint32_t id);

#endif
