/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * errand.h: files of another user, opened by a child that is that user.
 *
 * A root process that acts for a user keeps its own ids. What has to be opened, or asked
 * of a filesystem, with the user's rights a child does, and sends the descriptors
 * (SCM_RIGHTS, unix(7)). All three of the child's ids are the user's: FUSE filesystems
 * that the user has mounted (sshfs, rclone) let nobody else in.
 *
 * The user may signal the child, stop it, change its limits, and own the storage that it
 * waits for. So the child holds no descriptor of its parent's, cannot be traced, leaves
 * no core dump, and is not waited for where it does not get on.
 *
 * Threads: only while the process has one.
 */
#ifndef GRANARY_OS_ERRAND_H
#define GRANARY_OS_ERRAND_H

#include <stddef.h>

#include "os/rights.h"

/* What the child sends: plain data, a text, and a descriptor or -1. */
struct errand_item {
	unsigned kind;    /* the caller's own */
	const void *data; /* `size` bytes, aligned for any type */
	size_t size;
	const char *text; /* "" where there is none */
	int fd;
};

struct errand {
	/* In the child: 0, or a negative errno and a sentence, which errand_run returns. */
	int (*work)(void *context, struct error *e);
	/*
	 * In the parent, for each item, in order. Its descriptor stays open to the end of
	 * the process, also where the errand fails: close(2) waits for an answer of a FUSE
	 * filesystem, even when the process is killed. process_leave ends it without that.
	 * The first error ends the errand.
	 */
	int (*take)(void *context, const struct errand_item *item, struct error *e);
	void *context; /* in the child a copy */
};

/*
 * Has it run: 0, or a negative errno and a sentence. -ETIMEDOUT where the child has
 * neither sent anything nor taken a step (os/steps.h) for half a minute: it was ended, or
 * if that was impossible left behind. What the child logs, the parent logs.
 */
int errand_run(const struct rights *rights, const struct errand *errand, struct error *e);

/* In the child: 0, or a negative errno and a sentence. The descriptor stays the caller's. */
int errand_send(const struct errand_item *item, struct error *e);

#endif
