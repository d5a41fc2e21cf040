/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guard.h: checks the bytes before an extent. Private to volume/.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_VOLUME_GUARD_H
#define GRANARY_VOLUME_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index/volume_desc.h"

/* GUARD_LMDB is known, too, and checked by guard_check_snapshot. */
bool guard_is_known(enum volume_guard guard);

/* Reads stored bytes; `from` is the caller's own. 0 or a negative errno. */
typedef int guard_read(const void *from, void *buffer, size_t length, uint64_t offset);

/*
 * Do the bytes before `offset` announce `length` bytes? 0, -EBADMSG, or the error of the
 * read. `guard` must be a known kind.
 */
int guard_check(enum volume_guard guard, guard_read *read, const void *from,
		uint64_t offset, uint64_t length);

/*
 * Is the snapshot's transaction, or the next, the newest one that the source knows? 0,
 * -ESTALE, or the error of the read, which must follow that of the bytes.
 */
int guard_check_snapshot(const struct volume_snapshot *snapshot, guard_read *read,
			 const void *from);

#endif
