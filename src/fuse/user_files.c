/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/user_files.h"

#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "os/errand.h"
#include "os/log_file.h"
#include "os/mounts.h"
#include "os/steps.h"

/* What both sides of an errand know. */
struct wanted {
	const char *path;
	int (*open)(const char *path, struct error *e);
	struct notify *notify; /* of a FIFO */
};

static int open_as_user(void *context, struct error *e)
{
	const struct wanted *wanted = context;
	struct errand_item item = { .text = wanted->path };

	steps_at(wanted->path);
	item.fd = wanted->open(wanted->path, e);
	return item.fd < 0 ? item.fd : errand_send(&item, e);
}

/*
 * The supervisor writes there, and must not hang where nobody but the user can say what
 * the storage does.
 */
static int take_log(void *context, const struct errand_item *item, struct error *e)
{
	const struct wanted *wanted = context;

	if (mounts_is_users(item->fd))
		return error_set(e, ERROR_SYSTEM, EACCES,
				 "-o log=%s: it is on a filesystem of a user's own, such as FUSE, and "
				 "granaryfs, which looks after the mount as user id %u, could hang "
				 "there; name a file elsewhere", wanted->path, (unsigned)geteuid());
	log_to_descriptor(item->fd);
	return 0;
}

int user_log(const struct rights *rights, const char *path, struct error *e)
{
	struct wanted wanted = { .path = path, .open = log_open_file };
	const struct errand errand = { open_as_user, take_log, &wanted };

	if (!rights)
		return log_to_file(path, e);
	return errand_run(rights, &errand, e);
}

static int take_pipe(void *context, const struct errand_item *item, struct error *e)
{
	const struct wanted *wanted = context;

	(void)e;
	wanted->notify->pipe = item->fd;
	return 0;
}

int user_pipe(const struct rights *rights, const char *path, struct notify *notify,
	      struct error *e)
{
	struct wanted wanted = { .path = path, .open = notify_open_fifo, .notify = notify };
	const struct errand errand = { open_as_user, take_pipe, &wanted };

	if (!path || !rights)
		return notify_open(notify, path, e);
	notify_adopt(notify, -1);
	return errand_run(rights, &errand, e);
}
