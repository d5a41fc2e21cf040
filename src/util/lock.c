#include "util/lock.h"

#include <assert.h>

/* A mutex that fails to lock is a bug of ours: there is nothing to return. */
void lock_take(struct lock *lock)
{
	int err = pthread_mutex_lock(&lock->mutex);

	assert(err == 0);
	(void)err;
}

void lock_drop(struct lock *lock)
{
	int err = pthread_mutex_unlock(&lock->mutex);

	assert(err == 0);
	(void)err;
}

void wakeup_wait(struct wakeup *wakeup, struct lock *lock)
{
	pthread_cond_wait(&wakeup->cond, &lock->mutex);
}

void wakeup_all(struct wakeup *wakeup)
{
	pthread_cond_broadcast(&wakeup->cond);
}

void wakeup_one(struct wakeup *wakeup)
{
	pthread_cond_signal(&wakeup->cond);
}
