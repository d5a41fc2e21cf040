/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/bounded.h"

enum { PATIENCE_MS = 1000 }; /* for a child to end */

int child_fork(pid_t *out, struct error *e)
{
	pid_t parent = getpid();

	/* it may be ignored, as inherited */
	signal(SIGCHLD, SIG_DFL);
	fflush(NULL); /* or both processes would write the buffers */
	*out = fork();
	if (*out < 0)
		return error_set(e, ERROR_SYSTEM, errno,
				 "no process can be started: %s; end some, or raise the "
				 "limit with `ulimit -u`", strerror(errno));
	if (*out > 0)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(ERROR_SYSTEM);
	return 0;
}

int child_ends_with_parent(pid_t ancestor)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return kill(ancestor, 0) < 0 && errno == ESRCH ? -ESRCH : 0;
}

/* ---- Waiting ---- */

void child_end(pid_t child)
{
	int status;

	kill(child, SIGTERM);
	kill(child, SIGCONT);
	if (bounded_wait(child, &status, PATIENCE_MS) != 0)
		return;
	kill(child, SIGKILL);
	bounded_wait(child, &status, PATIENCE_MS);
}

/* The signals that end this process, and SIGCHLD; not those that are ignored. */
static void choose_signals(sigset_t *set)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction action;
	sigset_t blocked;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!sigismember(&blocked, ends[i]) &&
		    sigaction(ends[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			sigaddset(set, ends[i]);
	}
}

/* 0: the child has ended; or a signal's number; or a negative errno. */
static int child_await(pid_t child, int *status, const sigset_t *signals)
{
	const struct timespec pause = { 1, 0 };
	pid_t ended;

	while ((ended = waitpid(child, status, WNOHANG)) == 0) {
		int number = sigtimedwait(signals, NULL, &pause);

		if (number > 0 && number != SIGCHLD)
			return number;
	}
	return ended < 0 ? -errno : 0;
}

int child_wait(pid_t child, int *status, struct error *e)
{
	sigset_t signals, before;
	int number;

	choose_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &before);
	number = child_await(child, status, &signals);
	if (number > 0) {
		child_end(child);
		raise(number);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (number == 0)
		return 0;
	/* still running: a handler took the signal */
	number = number > 0 ? EINTR : -number;
	return error_set(e, ERROR_SYSTEM, number,
			 "the end of the indexer cannot be waited for: %s", strerror(number));
}

void child_block_signals(sigset_t *before)
{
	sigset_t signals;

	choose_signals(&signals);
	pthread_sigmask(SIG_BLOCK, &signals, before);
}

/* The terminal signals both processes itself. */
static bool is_for_child(const siginfo_t *info)
{
	return info->si_signo != SIGCHLD && info->si_code <= 0;
}

int child_wait_forwarding(pid_t child, int *status)
{
	const struct timespec pause = { 1, 0 };
	sigset_t held;
	pid_t ended;

	pthread_sigmask(SIG_BLOCK, NULL, &held);
	while ((ended = waitpid(child, status, WNOHANG)) == 0) {
		siginfo_t info;

		if (sigtimedwait(&held, &info, &pause) > 0 && is_for_child(&info)) {
			kill(child, info.si_signo);
			kill(child, SIGCONT);
		}
	}
	return ended < 0 ? -errno : 0;
}

/* ---- How it ended ---- */

static bool is_crash(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGABRT;
}

int child_indexer_died(int status, const char *label, size_t others, struct error *e)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	char which[64] = "";

	if (others)
		snprintf(which, sizeof(which), " or one of the %zu other files", others);

	if (signal == 0)
		return 0;
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr); /* clear its line of progress */
	if (is_crash(signal))
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "'%s'%s made the indexer crash (signal %d, %s): it is "
				 "damaged, or breaks the library that reads its format; copy "
				 "it again, or pack it again",
				 label, which, signal, strsignal(signal));
	return error_set(e, ERROR_SYSTEM, EIO,
			 "the indexer of '%s'%s was ended by signal %d (%s)%s", label,
			 which, signal, strsignal(signal), signal == SIGKILL ?
			 "; if memory was short, free some and try again" : "");
}
