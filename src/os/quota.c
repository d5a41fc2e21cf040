/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/quota.h"

void quota_acquire(struct quota *quota, uint64_t amount)
{
	LOCK_GUARD(&quota->lock);
	while (quota->used && (amount > quota->limit ||
			       quota->used > quota->limit - amount))
		wakeup_wait(&quota->given, &quota->lock);
	quota->used += amount;
}

void quota_release(struct quota *quota, uint64_t amount)
{
	LOCK_GUARD(&quota->lock);
	quota->used -= amount;
	wakeup_all(&quota->given);
}
