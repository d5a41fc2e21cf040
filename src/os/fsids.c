/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/fsids.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NO_ID = -1 };

/* setgroups(3) would change all threads. */
static int set_groups(size_t count, const gid_t *groups)
{
#ifdef SYS_setgroups32
	return (int)syscall(SYS_setgroups32, count, groups);
#else
	return (int)syscall(SYS_setgroups, count, groups);
#endif
}

/* setfsuid returns the previous id only: an invalid id asks for it. */
static bool set_ids(uid_t uid, gid_t gid)
{
	setfsgid(gid);
	setfsuid(uid);
	return (uid_t)setfsuid((uid_t)NO_ID) == uid && (gid_t)setfsgid((gid_t)NO_ID) == gid;
}

/* Does the thread have these ids? */
static bool is_now(const struct fsids *ids)
{
	int n = getgroups(0, NULL);

	return (uid_t)setfsuid((uid_t)NO_ID) == ids->uid &&
	       (gid_t)setfsgid((gid_t)NO_ID) == ids->gid && n >= 0 &&
	       (size_t)n == ids->group_count;
}

static bool change(const struct fsids *to)
{
	return set_ids(to->uid, to->gid) && set_groups(to->group_count, to->groups) == 0;
}

/*
 * A change of ids clears PDEATHSIG. If the parent has ended meanwhile, the signal is
 * raised here.
 */
static bool change_and_stay_bound(const struct fsids *to)
{
	pid_t parent = getppid();
	int number = 0;
	bool done;

	prctl(PR_GET_PDEATHSIG, &number, 0, 0, 0);
	done = change(to);
	if (!number)
		return done;
	prctl(PR_SET_PDEATHSIG, number, 0, 0, 0);
	if (getppid() != parent)
		raise(number);
	return done;
}

static int fsids_remember(struct fsids *before)
{
	int n = getgroups(0, NULL);

	before->groups = calloc(n > 0 ? (size_t)n : 1, sizeof(*before->groups));
	if (!before->groups)
		return -ENOMEM;
	n = n > 0 ? getgroups(n, before->groups) : n;
	if (n < 0)
		return -errno;
	before->group_count = (size_t)n;
	before->uid = geteuid();
	before->gid = getegid();
	return 0;
}

int fsids_assume(uid_t uid, gid_t gid, struct fsids *before)
{
	const struct fsids wanted = { .uid = uid, .gid = gid };
	int err;

	*before = (struct fsids){ .taken = false };
	if (uid == geteuid())
		return 0;
	err = fsids_remember(before);
	if (err)
		return err;
	before->taken = true;
	return change_and_stay_bound(&wanted) ? 0 : -EPERM;
}

/* A thread that kept the other ids would get every later decision wrong. */
void fsids_restore(struct fsids *before)
{
	bool done = !before->taken || is_now(before) || change_and_stay_bound(before);

	free(before->groups);
	*before = (struct fsids){ .taken = false };
	if (!done)
		abort();
}
