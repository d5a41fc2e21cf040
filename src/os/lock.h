/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lock.h: mutexes and condition variables. pthread's types stay in os/.
 *
 * LOCK_GUARD(&lock) holds the lock until the end of the scope. docs/ARCHITECTURE.md has
 * the lock order, and the locks that are held over a call of a source, codec or the
 * kernel.
 */
#ifndef GRANARY_OS_LOCK_H
#define GRANARY_OS_LOCK_H

#include <pthread.h>
#include <stdbool.h>

struct lock {
	pthread_mutex_t mutex;
};

struct wakeup {
	pthread_cond_t cond;
};

#define LOCK_INIT { PTHREAD_MUTEX_INITIALIZER }
#define WAKEUP_INIT { PTHREAD_COND_INITIALIZER }

void lock_acquire(struct lock *lock);
void lock_release(struct lock *lock);

/* Lock held; released while waiting. */
void wakeup_wait(struct wakeup *wakeup, struct lock *lock);

/* As wakeup_wait, with a deadline: false when the time is over. */
bool wakeup_wait_for(struct wakeup *wakeup, struct lock *lock, unsigned milliseconds);
void wakeup_all(struct wakeup *wakeup);
void wakeup_one(struct wakeup *wakeup);

static inline void lock_guard_end(struct lock **lock)
{
	lock_release(*lock);
}

#define LOCK_GUARD(which)                                              \
	__attribute__((cleanup(lock_guard_end), unused)) struct lock * \
	lock_guard_ = (lock_acquire(which), (which))

#endif
