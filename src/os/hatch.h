/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hatch.h: what a process without rights asks of its parent, which has them.
 *
 * A child that works on strangers' bytes (os/sandbox.h) opens and makes nothing. Where
 * something has to be done by its name the child asks, one question a channel at a time,
 * and the parent, who sees no stranger's bytes, looks at the question and answers.
 *
 * The child may have been taken over: a question is input.
 */
#ifndef GRANARY_OS_HATCH_H
#define GRANARY_OS_HATCH_H

#include <stdbool.h>
#include <stddef.h>

enum {
	HATCH_CHANNELS_MOST = 65,
	HATCH_BYTES = 68 << 10, /* of a question or an answer, at most */
};

struct hatch;

struct hatch_question {
	unsigned channel, kind;
	const void *data; /* `size` bytes, aligned for any type */
	size_t size;
};

struct hatch_answer {
	void *data;  /* room for HATCH_BYTES */
	size_t size;
	int fd;      /* goes with it, and is closed here if `passed`; or -1 */
	bool passed;
};

/*
 * In the parent, by a thread for each channel: 0 or a negative errno, which the child gets
 * from hatch_ask.
 */
typedef int hatch_serve(void *context, const struct hatch_question *question,
			struct hatch_answer *answer);

/* Before the fork: so many channels. 0 or a negative errno. */
int hatch_open(struct hatch **out, unsigned channels, hatch_serve *serve, void *context);

/*
 * In the child: asks, and waits for the answer. What the server returned; -EPIPE where
 * the parent is gone; -ENAMETOOLONG for more than HATCH_BYTES. *size is the room at
 * `answer`, and becomes what came. *fd: a descriptor that came with it, the caller's, or
 * -1. Both may be NULL.
 *
 * Threads: any; those that use one channel take turns.
 */
int hatch_ask(struct hatch *hatch, unsigned channel, unsigned kind, const void *data,
	      size_t data_size, void *answer, size_t *size, int *fd);

/* After the fork, once: which end is whose. In the parent it starts threads: 0 or -errno. */
void hatch_be_child(struct hatch *hatch);
int hatch_be_parent(struct hatch *hatch);

/* In the parent, when the child has ended: waits for the threads, and frees it. */
void hatch_close(struct hatch *hatch);

#endif
