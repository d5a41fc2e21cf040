/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * broker.h: requests of a process without rights to its parent.
 *
 * A child that parses packed bytes (os/sandbox.h) opens and makes no file. It sends a
 * question, one at a time on a channel, and the parent checks and answers. The parent
 * reads no packed bytes.
 *
 * The child may be compromised: a question is input.
 */
#ifndef GRANARY_OS_BROKER_H
#define GRANARY_OS_BROKER_H

#include <stdbool.h>
#include <stddef.h>

enum {
	BROKER_CHANNELS_MOST = 65,
	BROKER_BYTES = 68 << 10, /* most bytes of a question or an answer */
};

struct broker;

struct broker_request {
	unsigned channel, kind;
	const void *data; /* `size` bytes, aligned for any type */
	size_t size;
};

struct broker_reply {
	void *data;  /* room for BROKER_BYTES */
	size_t size;
	int fd;      /* sent with it, and then closed if `passed`; or -1 */
	bool passed;
};

/*
 * Runs in the parent, in a thread for each channel. Returns 0 or a negative errno, which
 * broker_call returns in the child.
 */
typedef int broker_serve(void *context, const struct broker_request *question,
			 struct broker_reply *answer);

/* Call it before the fork. 0 or a negative errno. */
int broker_open(struct broker **out, unsigned channels, broker_serve *serve,
		void *context);

/*
 * In the child: sends a question and waits for the answer. Returns the server's result;
 * -EPIPE: the parent has ended; -ENAMETOOLONG: more than BROKER_BYTES. *size is the room
 * at `answer`, and becomes the answer's size. *fd: a descriptor that came with it, now
 * the caller's, or -1. Both may be NULL.
 *
 * Threads: any; threads that share a channel take turns.
 */
int broker_call(struct broker *broker, unsigned channel, unsigned kind, const void *data,
		size_t data_size, void *answer, size_t *size, int *fd);

/* After the fork, once in each process. The parent starts threads: 0 or -errno. */
void broker_start_child(struct broker *broker);
int broker_start_parent(struct broker *broker);

/* In the parent, after the child's end: waits for the threads, and frees the broker. */
void broker_close(struct broker *broker);

#endif
