/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quota.h: how much of something may be in use at once. Who wants more than is
 * left waits; one who wants more than there is at all has it alone.
 *
 * Threads: any number at once. Who has taken something must not wait for another
 * who may be waiting here.
 */
#ifndef GRANARY_OS_QUOTA_H
#define GRANARY_OS_QUOTA_H

#include <stdint.h>

#include "os/lock.h"

struct quota {
	uint64_t limit;
	uint64_t used;          /* lock */
	struct lock lock;
	struct wakeup given;    /* something was given back */
};

#define QUOTA_INIT(most) { .limit = (most), .lock = LOCK_INIT, .given = WAKEUP_INIT }

void quota_take(struct quota *quota, uint64_t amount);
void quota_give(struct quota *quota, uint64_t amount);

#endif
