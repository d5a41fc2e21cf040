/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quota.h: a counted limit. A caller waits until its amount is free. One that needs more
 * than the limit waits until nothing else is in use.
 *
 * Threads: any. A thread that holds an amount must not wait for a thread that may be
 * waiting here.
 */
#ifndef GRANARY_OS_QUOTA_H
#define GRANARY_OS_QUOTA_H

#include <stdint.h>

#include "os/lock.h"

struct quota {
	uint64_t limit;
	uint64_t used;          /* lock */
	struct lock lock;
	struct wakeup given;    /* an amount was returned */
};

#define QUOTA_INIT(most) { .limit = (most), .lock = LOCK_INIT, .given = WAKEUP_INIT }

void quota_acquire(struct quota *quota, uint64_t amount);
void quota_release(struct quota *quota, uint64_t amount);

#endif
