/*
 * guard.h: the bytes that must lie before an extent. Private to volume/.
 *
 * Threads: any number at once.
 */
#ifndef GRANARY_VOLUME_GUARD_H
#define GRANARY_VOLUME_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "source/source.h"
#include "tree/entries.h"

bool guard_is_known(enum volume_guard guard);

/*
 * Does what lies before `offset` in the source say that `length` bytes follow?
 * 0, -EBADMSG, or what reading it gave. `guard` must be known.
 */
int guard_check(enum volume_guard guard, const struct source *source, uint64_t offset,
		uint64_t length);

#endif
