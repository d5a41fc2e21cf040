/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/lock.h"

#include <time.h>

#include "base/invariant.h"

/* A mutex that cannot be locked is a bug: no error to return. */
void lock_acquire(struct lock *lock)
{
	int err = pthread_mutex_lock(&lock->mutex);

	INVARIANT(err == 0);
}

void lock_release(struct lock *lock)
{
	int err = pthread_mutex_unlock(&lock->mutex);

	INVARIANT(err == 0);
}

void wakeup_wait(struct wakeup *wakeup, struct lock *lock)
{
	pthread_cond_wait(&wakeup->cond, &lock->mutex);
}

bool wakeup_wait_for(struct wakeup *wakeup, struct lock *lock, unsigned milliseconds)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += milliseconds / 1000;
	end.tv_nsec += milliseconds % 1000 * 1000000L;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000L;
	}
	return pthread_cond_timedwait(&wakeup->cond, &lock->mutex, &end) == 0;
}

void wakeup_all(struct wakeup *wakeup)
{
	pthread_cond_broadcast(&wakeup->cond);
}

void wakeup_one(struct wakeup *wakeup)
{
	pthread_cond_signal(&wakeup->cond);
}
