/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * namespace.h: which user and group ids the user namespace of this process knows.
 *
 * Threads: namespace_ids by one; the others by any number at once.
 */
#ifndef GRANARY_OS_NAMESPACE_H
#define GRANARY_OS_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

enum { NAMESPACE_RANGES = 340 }; /* as many as Linux lets a map have */

struct namespace_ids {
	unsigned count; /* 0: all ids are known */
	struct namespace_range {
		uint32_t first, count;
	} ranges[NAMESPACE_RANGES];
};

/* Not the machine's first user namespace? Where that cannot be seen: false. */
bool namespace_is_private(void);

/* The ids of /proc/self/uid_map, or gid_map. */
void namespace_ids(const char *map, struct namespace_ids *out);

/* An id that is not known is nobody's there, not even root's. */
bool namespace_knows(const struct namespace_ids *ids, uint32_t id);

#endif
