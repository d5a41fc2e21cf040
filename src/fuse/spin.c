/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/spin.h"

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>

#include "fuse/session.h"
#include "stats/stats.h"

enum {
	BOUND_US = 100,          /* the default */
	WEIGHT = 8,              /* of all gaps before, against the last */
	DISTURBANCE = 16,        /* weighs as much as so many waits without one */
	DISTURBANCES_MOST = 6,
	SWAMPED_AFTER = 256,     /* requests that were there already */
	AGAIN_NS = 10 * 1000 * 1000,
};

void spin_init(struct spin *spin, unsigned microseconds, unsigned processors)
{
	if (microseconds == MOUNT_SPIN_ADAPTIVE)
		microseconds = BOUND_US;
	if (microseconds > SPIN_MOST_US)
		microseconds = SPIN_MOST_US;
	if (processors < 2)
		microseconds = 0;
	*spin = (struct spin){ .bound = microseconds * INT64_C(1000) };
}

bool spin_is_on(const struct spin *spin)
{
	return spin->bound > 0;
}

/* Was this thread preempted, during a poll or between two? */
static bool has_yielded(struct spin *spin)
{
	struct rusage usage;
	long before = spin->yielded;

	if (getrusage(RUSAGE_THREAD, &usage) < 0)
		return false;
	spin->yielded = usage.ru_nivcsw;
	return spin->yielded != before;
}

static void spin_judge(struct spin *spin)
{
	if (!has_yielded(spin))
		spin->disturbed -= spin->disturbed > 0;
	else if (spin->disturbed < DISTURBANCE * DISTURBANCES_MOST)
		spin->disturbed += DISTURBANCE;
	else
		spin->not_before = (int64_t)stats_clock() + AGAIN_NS;
}

void spin_wait(struct spin *spin, int connection)
{
	struct pollfd requests = { .fd = connection, .events = POLLIN };

	spin->began = (int64_t)stats_clock();
	if (spin->gap >= spin->bound || spin->began < spin->not_before)
		return;
	spin->at_once++;
	while (poll(&requests, 1, 0) == 0) {
		spin->at_once = 0;
		if ((int64_t)stats_clock() - spin->began >= spin->bound)
			break;
		sched_yield();
	}
	spin_judge(spin);
}

void spin_received(struct spin *spin)
{
	int64_t gap = (int64_t)stats_clock() - spin->began, most = spin->bound * WEIGHT * 2;

	/* a late request counts no more after a few early ones */
	if (gap > most)
		gap = most;
	spin->gap += (gap - spin->gap) / WEIGHT;
}

bool spin_is_overloaded(struct spin *spin)
{
	if (spin->at_once < SWAMPED_AFTER)
		return false;
	spin->at_once = 0;
	return true;
}
