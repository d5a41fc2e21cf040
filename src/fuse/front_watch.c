/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/front_watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/log.h"
#include "fuse/front_rule.h"
#include "os/bounded.h"
#include "os/mounts.h"
#include "os/process.h"
#include "stats/stats.h"

enum { PAUSE_LEAST_MS = 1000, PAUSE_MOST_MS = 60000, END_MS = 300 };

/* Exit statuses of the child. */
enum { FRONT_RAISED, FRONT_REFUSED, FRONT_OBSTRUCTED };

struct front_watch {
	const struct mount *mount;
	const struct front_setup *setup;
	struct front_rule rule;
	char *outcome;    /* FRONT_WHY_BYTES, shared with the child */
	pid_t child;      /* 0: none */
	int64_t next_ms;  /* no attempt before that */
	int64_t pause_ms; /* after the next obstructed attempt */
	bool ended;       /* there will be no other attempt */
};

struct front_watch *front_watch_new(const struct mount *mount,
				    const struct front_setup *setup)
{
	struct front_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	*watch = (struct front_watch){ .mount = mount, .setup = setup,
				       .pause_ms = PAUSE_LEAST_MS };
	watch->outcome = mmap(NULL, FRONT_WHY_BYTES, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (watch->outcome != MAP_FAILED)
		return watch;
	free(watch);
	return NULL;
}

void front_watch_free(struct front_watch *watch)
{
	if (!watch)
		return;
	front_watch_end(watch);
	munmap(watch->outcome, FRONT_WHY_BYTES);
	free(watch);
}

/* In the child. */

static bool is_obstructed(const struct front_watch *watch)
{
	const char *path = watch->mount->mountpoint;
	pid_t process = process_working_in(path);
	pid_t walker = process_find_on_device();
	struct mount_entry entry;

	if (walker) {
		snprintf(watch->outcome, FRONT_WHY_BYTES,
			 "process %d stays on one file system (-x), and may take a change of the "
			 "device number for a border; it comes once that has ended", (int)walker);
		return true;
	}
	if (process) {
		snprintf(watch->outcome, FRONT_WHY_BYTES,
			 "process %d works in it (current directory); it comes once that has "
			 "left", (int)process);
		return true;
	}
	if (mounts_find(path, &entry) != 1 || mounts_inside(entry.id, NULL) == 0)
		return false;
	snprintf(watch->outcome, FRONT_WHY_BYTES,
		 "something is mounted in it; it comes once that is unmounted");
	return true;
}

static int raise_in_use(void *argument)
{
	const struct front_watch *watch = argument;

	if (is_obstructed(watch))
		return FRONT_OBSTRUCTED;
	return front_raise_any(watch->mount, watch->setup, watch->outcome) ? FRONT_RAISED :
									  FRONT_REFUSED;
}

/* In the supervisor. */

static struct front_counts front_counts_now(void)
{
	return (struct front_counts){ .ioctls = stats_get(COUNTER_fuse_ioctl),
				      .requests = stats_requests() };
}

void front_watch_tick(struct front_watch *watch, int64_t now_ms)
{
	pid_t child;

	if (!watch || watch->ended ||
	    !front_rule_note(&watch->rule, front_counts_now(), now_ms) || watch->child ||
	    now_ms < watch->next_ms)
		return;
	child = bounded_start(raise_in_use, watch);
	watch->child = child > 0 ? child : 0;
}

/* Logged once; another attempt follows. */
static void note_obstruction(struct front_watch *watch, int64_t now_ms)
{
	if (watch->pause_ms == PAUSE_LEAST_MS)
		front_log(watch->mount, false, watch->outcome);
	watch->next_ms = now_ms + watch->pause_ms;
	watch->pause_ms = watch->pause_ms < PAUSE_MOST_MS / 2 ? 2 * watch->pause_ms :
								PAUSE_MOST_MS;
}

bool front_watch_reaped(struct front_watch *watch, pid_t pid, int status, int64_t now_ms)
{
	if (!watch || pid != watch->child || WIFSTOPPED(status))
		return false;
	watch->child = 0;
	if (watch->ended)
		return true;
	watch->ended = WIFEXITED(status) && WEXITSTATUS(status) != FRONT_OBSTRUCTED;
	if (!WIFEXITED(status))
		snprintf(watch->outcome, FRONT_WHY_BYTES,
			 "the process that was to put it there was ended");
	if (watch->ended)
		front_log(watch->mount, WEXITSTATUS(status) == FRONT_RAISED, watch->outcome);
	else
		note_obstruction(watch, now_ms);
	return true;
}

void front_watch_end(struct front_watch *watch)
{
	int status;

	if (!watch)
		return;
	watch->ended = true;
	if (!watch->child)
		return;
	kill(watch->child, SIGKILL);
	if (bounded_wait(watch->child, &status, END_MS) != 0)
		watch->child = 0;
}
