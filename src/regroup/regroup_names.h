/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regroup_names.h: what paths say, and those that files get, to see whether two get the
 * same. Private to regroup/.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_REGROUP_REGROUP_NAMES_H
#define GRANARY_REGROUP_REGROUP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* As hashes: the path that a file gets, and the one that it had. */
struct regroup_name {
	uint64_t is, was;
};

struct regroup_names {
	VEC(struct regroup_name) items;
};

/* Adds one: 0 or -ENOMEM. */
int regroup_names_add(struct regroup_names *names, const char *is, uint64_t was);

/*
 * Do two files with different paths get the same? Its hash. A path that came twice before
 * is a newer version of one file, and no fault.
 */
bool regroup_names_clash(struct regroup_names *names, uint64_t *out);

/* Have two files the same suffix, or both one of an image? */
bool regroup_same_kind(const char *a, const char *b);

#endif
