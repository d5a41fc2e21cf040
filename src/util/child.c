#include "util/child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int child_fork(pid_t *out, struct error *e)
{
	pid_t parent = getpid();

	/* whoever started this program may ignore it, and that is passed on */
	signal(SIGCHLD, SIG_DFL);
	fflush(NULL); /* or both would write it */
	*out = fork();
	if (*out < 0)
		return error_set(e, ERROR_SYSTEM, errno,
				 "no process can be started: %s; end some, or raise the "
				 "limit with `ulimit -u`", strerror(errno));
	if (*out > 0)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(ERROR_SYSTEM);
	return 0;
}

int child_wait(pid_t child, int *status, struct error *e)
{
	while (waitpid(child, status, 0) < 0) {
		if (errno != EINTR)
			return error_set(e, ERROR_SYSTEM, errno,
					 "the end of the indexer cannot be waited for: %s",
					 strerror(errno));
	}
	return 0;
}

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
		fputs("\r\033[K", stderr); /* its line of progress */
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
