/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_kit.h: claims, and processes that own them. */
#ifndef GRANARY_TESTS_CLAIM_KIT_H
#define GRANARY_TESTS_CLAIM_KIT_H

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place/claim.h"
#include "os/child.h"

#define PLACE "x.gidx"
#define CLAIM "x.gidx.claim"

/* So long that no test comes there, and short enough to end one that hangs. */
enum { NEVER_MS = 20 * 1000 };

static inline bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Of the directory that the process is in; it stays open to the end of the process. */
static inline struct place *here(void)
{
	static struct place *places[16];
	static unsigned count;
	struct place **place = &places[count++ % COUNT(places)];

	place_close(*place);
	assert_int_equal(place_open(PLACE, false, place, NULL), 0);
	return *place;
}

static inline struct claim *taken(void)
{
	struct claim *claim = NULL;

	assert_int_equal(claim_acquire(here(), &claim), 0);
	assert_non_null(claim);
	return claim;
}

static inline int await(unsigned dead_ms, unsigned most_ms)
{
	struct claim_wait wait = { .poll_ms = 20, .dead_ms = dead_ms, .most_ms = most_ms };

	claim_uid(here(), &wait.uid);
	return claim_await(here(), &wait);
}

/* Away with what a test left, claims of dead processes mostly. */
static inline int clean(void **state)
{
	(void)state;
	unit_shell("rm -rf x.gidx*");
	return 0;
}

/* As from another machine: this process can tell nothing by its number. */
static inline void write_foreign(void)
{
	static const char text[] = "granary claim\nhost elsewhere\nboot b\npids p\n"
				   "process 1\nstarted 1\n";

	unit_write(CLAIM, text, strlen(text));
}

/* How an owner is to be; each runs as a process of its own. */
struct owner {
	int ignored;	 /* a signal, or 0 */
	int early;	 /* raised between taking and keeping */
	int work_signal; /* what the one that works ends by; 0: it works on */
	bool no_where;	 /* its claim is not from this machine */
	int ready;	 /* a descriptor that it closes when it has begun */
};

static inline void work(const struct owner *owner)
{
	struct rlimit no_core = { 0, 0 };

	close(owner->ready);
	setrlimit(RLIMIT_CORE, &no_core);
	if (owner->work_signal) {
		signal(owner->work_signal, SIG_DFL);
		raise(owner->work_signal);
	}
	for (;;)
		pause();
}

/* 0 where it kept the claim until the one that works was gone. */
static inline int own(const struct owner *owner)
{
	struct claim *claim;
	int status;
	pid_t child;

	if (owner->ignored)
		signal(owner->ignored, SIG_IGN);
	if (claim_acquire(here(), &claim) < 0)
		return 1;
	if (owner->no_where)
		write_foreign();
	if (child_fork(&child, NULL) < 0)
		return 1;
	if (child == 0) {
		claim_detach_child(claim);
		work(owner);
	}
	close(owner->ready);
	if (owner->early)
		raise(owner->early);
	if (claim_wait_child(claim, child, 10, &status) < 0)
		return 2;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != owner->work_signal)
		return 3;
	claim_release(claim);
	return 0;
}

static inline int run_owner(void *owner)
{
	return own(owner);
}

/* In the background, until this test ends at the latest; it has the claim. */
static inline pid_t start(struct owner owner)
{
	int ready[2];
	char none;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	owner.ready = ready[1];
	assert_int_equal(child_fork(&pid, NULL), 0);
	if (pid == 0)
		_exit(own(&owner));
	close(ready[1]);
	assert_int_equal(read(ready[0], &none, 1), 0);
	close(ready[0]);
	assert_true(is_there(CLAIM));
	return pid;
}

static inline int end_of(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static inline void kill_owner(pid_t pid)
{
	kill(pid, SIGKILL);
	end_of(pid);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, clean, clean)

#endif
