/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/signals.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>

/* Under nohup(1) a hangup is nothing. */
static void set_of_signals(sigset_t *set)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGUSR1, SIGCHLD };
	struct sigaction hangup;

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(set, numbers[i]);
	if (sigaction(SIGHUP, NULL, &hangup) < 0 || hangup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

/* Signals that would end a process, and have no meaning here. */
static void ignore_other_signals(void)
{
	static const int numbers[] = { SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR,
				       SIGXCPU, SIGXFSZ };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_IGN);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		signal(number, SIG_IGN);
}

int signals_block(void)
{
	sigset_t set;

	ignore_other_signals();
	set_of_signals(&set);
	sigaddset(&set, SUPERVISE_END); /* the server handles this signal */
	signal(SIGCHLD, SIG_DFL); /* the parent process may ignore this signal */
	return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -errno : 0;
}

int signals_open(void)
{
	sigset_t set;
	int fd;

	set_of_signals(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void signals_handle_end(void (*end)(int number))
{
	struct sigaction action = { .sa_handler = end };
	sigset_t set;

	signal(SIGQUIT, SIG_IGN); /* a terminal signals the supervisor, too */
	sigfillset(&action.sa_mask);
	sigaction(SUPERVISE_END, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SUPERVISE_END);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
