/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opener.h: opens files with another user's rights, in a child process.
 *
 * A root process that acts for a user keeps its own ids. The child has the user's ids,
 * all three of them, because FUSE filesystems of the user (sshfs, rclone) admit no other
 * process. It opens files, and sends the descriptors (SCM_RIGHTS, unix(7)).
 *
 * The user may signal and stop the child, change its limits, and own the storage that it
 * waits for. So the child holds no descriptor of the parent's, cannot be traced, leaves
 * no core dump, and the parent's wait has a deadline.
 *
 * Threads: only while the process has one.
 */
#ifndef GRANARY_OS_OPENER_H
#define GRANARY_OS_OPENER_H

#include <stddef.h>

#include "os/rights.h"

/* An item from the child: plain data, a text, and a descriptor or -1. */
struct opener_item {
	unsigned kind;    /* the caller's own */
	const void *data; /* `size` bytes, aligned for any type */
	size_t size;
	const char *text; /* "": none */
	int fd;
};

struct opener {
	/* In the child: 0, or a negative errno and *e, which opener_run returns. */
	int (*work)(void *context, struct error *e);
	/*
	 * In the parent, for each item, in order. The descriptor stays open until the
	 * process ends, also after an error: close(2) may wait for a FUSE filesystem,
	 * even in a killed process. process_leave does not wait. The first error ends the
	 * opener.
	 */
	int (*receive)(void *context, const struct opener_item *item, struct error *e);
	void *context; /* a copy in the child */
};

/*
 * Runs the opener: 0, or a negative errno and *e. -ETIMEDOUT: the child has sent nothing
 * and taken no step (os/steps.h) for 30 seconds, and was killed, or left behind if that
 * was impossible. The parent logs the child's log messages.
 */
int opener_run(const struct rights *rights, const struct opener *opener, struct error *e);

/* In the child: 0, or a negative errno and *e. The caller keeps the descriptor. */
int opener_send(const struct opener_item *item, struct error *e);

#endif
