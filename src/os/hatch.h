/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hatch.h: questions of a process without rights to its parent.
 *
 * A child that parses packed bytes (os/sandbox.h) opens and makes no file. It sends a
 * question, one at a time on a channel, and the parent checks and answers. The parent
 * reads no packed bytes.
 *
 * The child may be compromised: a question is input.
 */
#ifndef GRANARY_OS_HATCH_H
#define GRANARY_OS_HATCH_H

#include <stdbool.h>
#include <stddef.h>

enum {
	HATCH_CHANNELS_MOST = 65,
	HATCH_BYTES = 68 << 10, /* most bytes of a question or an answer */
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
	int fd;      /* sent with it, and then closed if `passed`; or -1 */
	bool passed;
};

/*
 * Runs in the parent, in a thread for each channel. Returns 0 or a negative errno, which
 * hatch_ask returns in the child.
 */
typedef int hatch_serve(void *context, const struct hatch_question *question,
			struct hatch_answer *answer);

/* Call it before the fork. 0 or a negative errno. */
int hatch_open(struct hatch **out, unsigned channels, hatch_serve *serve, void *context);

/*
 * In the child: sends a question and waits for the answer. Returns the server's result;
 * -EPIPE: the parent has ended; -ENAMETOOLONG: more than HATCH_BYTES. *size is the room
 * at `answer`, and becomes the answer's size. *fd: a descriptor that came with it, now
 * the caller's, or -1. Both may be NULL.
 *
 * Threads: any; threads that share a channel take turns.
 */
int hatch_ask(struct hatch *hatch, unsigned channel, unsigned kind, const void *data,
	      size_t data_size, void *answer, size_t *size, int *fd);

/* After the fork, once in each process. The parent starts threads: 0 or -errno. */
void hatch_be_child(struct hatch *hatch);
int hatch_be_parent(struct hatch *hatch);

/* In the parent, after the child's end: waits for the threads, and frees the hatch. */
void hatch_close(struct hatch *hatch);

#endif
