/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/user_files.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/opener.h"
#include "os/log_file.h"
#include "os/log_writer.h"
#include "os/steps.h"
#include "fuse/trace_names.h"
#include "trace/trace.h"

/* The data that both processes have. */
struct user_files_wanted {
	const char *path;
	int (*open)(const char *path, struct error *e);
	struct notify *notify; /* of a FIFO */
	bool taken;
};

static int open_as_user(void *context, struct error *e)
{
	const struct user_files_wanted *wanted = context;
	struct opener_item item = { .text = wanted->path };

	steps_record(wanted->path);
	item.fd = wanted->open(wanted->path, e);
	return item.fd < 0 ? item.fd : opener_send(&item, e);
}

/* The opener may have been taken over: one descriptor, of the kind that was asked for. */
static int refuse_file(const struct opener_item *item, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, EBADMSG, "the process that opens '%s' as the user has "
			 "sent something else", item->text);
}

static bool is_packet_socket(int fd)
{
	int type = 0;
	socklen_t size = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

static bool is_fifo(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* The user's process keeps the file and writes it: root never waits for it. */
static int receive_log(void *context, const struct opener_item *item, struct error *e)
{
	struct user_files_wanted *wanted = context;

	if (wanted->taken || !is_packet_socket(item->fd))
		return refuse_file(item, e);
	wanted->taken = true;
	log_writer_use(item->fd);
	return 0;
}

int user_log(const struct rights *rights, const char *path, struct error *e)
{
	struct user_files_wanted wanted = { .path = path, .open = log_open_file };
	const struct opener opener = { open_as_user, receive_log, &wanted };

	if (!rights)
		return log_to_file(path, e);
	return opener_run(rights, &opener, e);
}

static int receive_trace(void *context, const struct opener_item *item, struct error *e)
{
	struct user_files_wanted *wanted = context;

	if (wanted->taken || !is_packet_socket(item->fd))
		return refuse_file(item, e);
	wanted->taken = true;
	return 0; /* it stays open until the process ends, which ends the writer */
}

int user_trace(const struct rights *rights, const char *path, const struct dataset *dataset,
	       const char *mountpoint, struct error *e)
{
	struct user_files_wanted wanted = { .path = path, .open = trace_names_write };
	const struct opener opener = { open_as_user, receive_trace, &wanted };
	int fd;

	if (!path)
		return 0;
	if (trace_share() < 0)
		return error_no_memory(e, NULL);
	trace_names_set(dataset, mountpoint);
	if (rights)
		return opener_run(rights, &opener, e);
	fd = trace_names_write(path, e);
	return fd < 0 ? fd : 0;
}

static int receive_pipe(void *context, const struct opener_item *item, struct error *e)
{
	struct user_files_wanted *wanted = context;

	if (wanted->taken || !is_fifo(item->fd))
		return refuse_file(item, e);
	wanted->taken = true;
	wanted->notify->pipe = item->fd;
	return 0;
}

int user_pipe(const struct rights *rights, const char *path, struct notify *notify,
	      struct error *e)
{
	struct user_files_wanted wanted = {.path = path,
					   .open = notify_open_fifo,
					   .notify = notify};
	const struct opener opener = { open_as_user, receive_pipe, &wanted };

	if (!path || !rights)
		return notify_open(notify, path, e);
	notify_adopt(notify, -1);
	return opener_run(rights, &opener, e);
}
