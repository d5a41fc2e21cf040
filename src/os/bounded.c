/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	GRACE_MILLISECONDS = 200,  /* between SIGKILL and the end */
	PAUSE_MOST = 20,
	DESCRIPTORS_MOST = 65536, /* where close_range(2) is missing */
};

long long bounded_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void bounded_pause(unsigned milliseconds)
{
	const struct timespec pause = { .tv_sec = milliseconds / 1000,
					.tv_nsec = milliseconds % 1000 * 1000000L };

	nanosleep(&pause, NULL);
}

/*
 * A pipe's reader, such as $(granary stats X) or slurmd, waits for the last writer to
 * end. A child that hangs must not be that writer. Without /dev/null, a pipe with no
 * other end takes the streams' place.
 */
static void replace_streams(void)
{
	int ends[2] = { open("/dev/null", O_RDWR | O_CLOEXEC), -1 };

	if (ends[0] >= 0)
		ends[1] = ends[0];
	else if (pipe2(ends, O_CLOEXEC) < 0)
		ends[0] = ends[1] = -1;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (dup2(ends[fd != STDIN_FILENO], fd) < 0)
			close(fd);
	}
}

void bounded_close_descriptors(void)
{
	long limit = sysconf(_SC_OPEN_MAX);

#ifdef SYS_close_range
	if (syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0) == 0)
		return;
#endif
	if (limit < 0 || limit > DESCRIPTORS_MOST)
		limit = DESCRIPTORS_MOST;
	for (int fd = STDERR_FILENO + 1; fd < limit; fd++)
		close(fd);
}

/* An inherited SIG_IGN for SIGCHLD would make waitpid fail. */
static void enable_sigchld(void)
{
	struct sigaction now;

	if (sigaction(SIGCHLD, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
		signal(SIGCHLD, SIG_DFL);
}

int bounded_wait(pid_t child, int *status, unsigned milliseconds)
{
	long long end = bounded_now() + milliseconds;
	unsigned pause = 1;

	for (;;) {
		pid_t ended = waitpid(child, status, WNOHANG);

		if (ended == child)
			return 1;
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (bounded_now() >= end)
			return 0;
		bounded_pause(pause);
		pause = pause * 2 < PAUSE_MOST ? pause * 2 : PAUSE_MOST;
	}
}

pid_t bounded_start(int (*work)(void *argument), void *argument)
{
	pid_t parent = getpid(), child;

	enable_sigchld();
	child = fork();
	if (child < 0)
		return -errno;
	if (child > 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	replace_streams();
	bounded_close_descriptors();
	_exit(work(argument));
}

int bounded_run(int (*work)(void *argument), void *argument, unsigned milliseconds)
{
	pid_t child = bounded_start(work, argument);
	int status = 0, ended;

	if (child < 0)
		return child;
	ended = bounded_wait(child, &status, milliseconds);
	if (ended == 0) {
		kill(child, SIGKILL);
		bounded_wait(child, &status, GRACE_MILLISECONDS);
		return -ETIMEDOUT;
	}
	if (ended < 0)
		return ended;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}
