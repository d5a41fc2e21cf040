/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/log_writer.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"
#include "os/bounded.h"
#include "os/file_writer.h"

enum {
	RECORD_MOST = 8192, /* more than a line of base/log.c */
	WRITTEN_MS = 200,   /* for a line to be in its file */
	PAUSE_FIRST_US = 50,
	PAUSE_MOST_US = 4000,
};

/* ---- The writer ---- */

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
	written = writev(WRITER_FILE, parts, 4);
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

	while ((n = recv(WRITER_SOCKET, record, sizeof(record), MSG_PEEK)) > 0) {
		write_record(record, (size_t)n, &losses);
		recv(WRITER_SOCKET, record, 1, MSG_DONTWAIT);
	}
}

static void log_writer_work(void *context)
{
	(void)context;
	log_writer_write_records();
}

int log_writer_start(int file, struct error *e)
{
	const struct file_writer writer = { .name = "granaryfs-log", .subject = "the log",
					    .work = log_writer_work };

	return file_writer_start(&writer, file, e);
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
