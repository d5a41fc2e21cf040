/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard.h: the bytes that must lie before an extent. Private to volume/.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_VOLUME_GUARD_H
#define GRANARY_VOLUME_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/volume_desc.h"

bool guard_is_known(enum volume_guard guard);

/* Reads stored bytes of what `from` is: 0 or a negative errno. */
typedef int guard_read(const void *from, void *buffer, size_t length, uint64_t offset);

/*
 * Does what lies before `offset` say that `length` bytes follow?
 * 0, -EBADMSG, or what reading it gave. `guard` must be known.
 */
int guard_check(enum volume_guard guard, guard_read *read, const void *from,
		uint64_t offset, uint64_t length);

#endif
