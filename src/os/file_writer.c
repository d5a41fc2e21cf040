/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/file_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/bounded.h"
#include "os/rights.h"
#include "os/sandbox.h"

_Static_assert(WRITER_SOCKET == STDIN_FILENO && WRITER_FILE == STDOUT_FILENO,
	       "bounded_close_descriptors leaves the standard ones");

/* Neither a terminal, nor a directory, nor the mount is kept busy. */
static int detach_from_senders(const struct file_writer *writer, int socket, int file)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	setsid();
	prctl(PR_SET_NAME, writer->name);
	if (dup2(socket, WRITER_SOCKET) < 0 || dup2(file, WRITER_FILE) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || chdir("/") < 0)
		return -errno;
	bounded_close_descriptors();
	return 0;
}

static _Noreturn void become_writer(const struct file_writer *writer, int socket, int file)
{
	struct error e;

	if (detach_from_senders(writer, socket, file) < 0 || rights_renounce(&e) < 0)
		_exit(1);
	sandbox_forbid_changes();
	writer->work(writer->context);
	_exit(0);
}

/* Its parent ends at once: no process of the mount's has to reap the writer. */
static int fork_writer(const struct file_writer *writer, int socket, int file)
{
	pid_t child = fork(), grandchild;
	int status;

	if (child == 0) {
		grandchild = fork();
		if (grandchild == 0)
			become_writer(writer, socket, file);
		_exit(grandchild < 0 ? errno : 0);
	}
	if (child < 0)
		return -errno;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

/* Signals are blocked before there is a writer, so that none can end it at its start. */
static int start_without_signals(const struct file_writer *writer, int socket, int file)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	err = fork_writer(writer, socket, file);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

int file_writer_start(const struct file_writer *writer, int file, struct error *e)
{
	int ends[2], err = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		err = -errno;
	if (!err) {
		err = start_without_signals(writer, ends[1], file);
		close(ends[1]);
	}
	close(file);
	if (!err)
		return ends[0];
	return error_set(e, ERROR_SYSTEM, -err,
			 "the process that writes %s cannot be started: %s; end some "
			 "processes, or raise the limit with `ulimit -u`", writer->subject,
			 strerror(-err));
}
