#include "util/child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

int child_wait(pid_t child, int *status)
{
	while (waitpid(child, status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static bool is_crash(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGABRT;
}

int child_indexer_died(int status, const char *label, struct error *e)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (signal == 0)
		return 0;
	if (is_crash(signal))
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "'%s' made the indexer crash (signal %d, %s): it is damaged, "
				 "or breaks the library that reads its format; copy it again, "
				 "or pack it again", label, signal, strsignal(signal));
	return error_set(e, ERROR_SYSTEM, EIO,
			 "the indexer of '%s' was ended by signal %d (%s)%s", label, signal,
			 strsignal(signal), signal == SIGKILL ?
			 "; if memory was short, free some and try again" : "");
}
