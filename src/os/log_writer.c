/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "os/bounded.h"
#include "os/rights.h"
#include "os/sandbox.h"

enum {
	RECORD_MOST = 8192, /* more than a line of base/log.c */
	WRITTEN_MS = 200,   /* for a line to be in its file */
	PAUSE_FIRST_US = 50,
	PAUSE_MOST_US = 4000,
};

/* ---- The writer ---- */

/* All that the writer has open. */
enum { RECORDS = STDIN_FILENO, FILE_OF_LOG = STDOUT_FILENO };

struct log_losses {
	unsigned long lines; /* that the file had no room for, */
	bool torn;           /* the last of them but for its beginning */
};

/* Of "TIME PROGRAM[PROCESS]: TEXT": where TEXT begins. */
static size_t find_text(const char *record, size_t size)
{
	const char *end = memmem(record, size, "]: ", 3);

	return end ? (size_t)(end - record) + 3 : 0;
}

/* One call, so that the line is whole beside those of other mounts. */
static void write_record(char *record, size_t size, struct log_losses *losses)
{
	size_t text = losses->lines ? find_text(record, size) : 0;
	char note[64] = "";
	struct iovec parts[] = {
		{ (char[]){ '\n' }, losses->torn },
		{ record, text },
		{ note, 0 },
		{ record + text, size - text },
	};
	ssize_t written;

	if (losses->lines)
		parts[2].iov_len = (size_t)snprintf(note, sizeof(note), "(%lu lines were lost) ",
						    losses->lines);
	written = writev(FILE_OF_LOG, parts, 4);
	if (written == (ssize_t)(losses->torn + parts[2].iov_len + size)) {
		*losses = (struct log_losses){ 0 };
		return;
	}
	losses->lines++;
	losses->torn |= written > 0;
}

static void log_writer_write_records(void)
{
	struct log_losses losses = { 0 };
	char record[RECORD_MOST];
	ssize_t n;

	while ((n = recv(RECORDS, record, sizeof(record), MSG_PEEK)) > 0) {
		write_record(record, (size_t)n, &losses);
		recv(RECORDS, record, 1, MSG_DONTWAIT);
	}
}

/* Neither a terminal, nor a directory, nor the mount is kept busy. */
static int detach_from_senders(int records, int file)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	setsid();
	prctl(PR_SET_NAME, "granaryfs-log");
	if (dup2(records, RECORDS) < 0 || dup2(file, FILE_OF_LOG) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || chdir("/") < 0)
		return -errno;
	bounded_close_descriptors();
	return 0;
}

static _Noreturn void become_writer(int records, int file)
{
	struct error e;

	if (detach_from_senders(records, file) < 0 || rights_renounce(&e) < 0)
		_exit(1);
	sandbox_forbid_changes();
	log_writer_write_records();
	_exit(0);
}

/* ---- Starting it ---- */

/* Its parent ends at once: no process of the mount's has to reap the writer. */
static int fork_writer(int records, int file)
{
	pid_t child = fork(), writer;
	int status;

	if (child == 0) {
		writer = fork();
		if (writer == 0)
			become_writer(records, file);
		_exit(writer < 0 ? errno : 0);
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
static int start_without_signals(int records, int file)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	err = fork_writer(records, file);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

int log_writer_start(int file, struct error *e)
{
	int ends[2], err = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		err = -errno;
	if (!err) {
		err = start_without_signals(ends[1], file);
		close(ends[1]);
	}
	close(file);
	if (!err)
		return ends[0];
	return error_set(e, ERROR_SYSTEM, -err,
			 "the process that writes the log cannot be started: %s; end some "
			 "processes, or raise the limit with `ulimit -u`", strerror(-err));
}

/* ---- Its senders ---- */

static int log_sender = -1;
static atomic_bool log_hangs; /* the writer was seen to, and has not written all since */

bool log_writer_is_flushed(void)
{
	int waiting = 0;

	return ioctl(log_sender, SIOCOUTQ, &waiting) < 0 || waiting == 0;
}

static void await_writer(void)
{
	long long end = bounded_now() + WRITTEN_MS;
	unsigned pause = PAUSE_FIRST_US;

	while (!log_writer_is_flushed()) {
		if (bounded_now() >= end) {
			atomic_store(&log_hangs, true);
			return;
		}
		usleep(pause);
		pause = pause * 2 < PAUSE_MOST_US ? pause * 2 : PAUSE_MOST_US;
	}
}

static int send_line(const char *line, size_t size)
{
	if (atomic_load(&log_hangs) && log_writer_is_flushed())
		atomic_store(&log_hangs, false);
	if (send(log_sender, line, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	if (!atomic_load(&log_hangs))
		await_writer();
	return 0;
}

void log_writer_use(int sender)
{
	if (log_sender >= 0)
		close(log_sender);
	log_sender = sender;
	log_to_lines(send_line);
}
