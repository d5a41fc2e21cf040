/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/broker.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/lock.h"
#include "os/fd_passing.h"
#include "os/pool.h"

struct broker_head {
	unsigned kind; /* of a question */
	int err;       /* of an answer */
};

struct channel {
	struct broker *broker;
	unsigned number;
	int child, parent; /* ends of a socket */
	struct lock lock;  /* threads of the child take turns */
};

/* The buffers of a thread in the parent. */
struct desk {
	alignas(max_align_t) unsigned char question[BROKER_BYTES];
	alignas(max_align_t) unsigned char answer[BROKER_BYTES];
};

struct broker {
	broker_serve *serve;
	void *context;
	struct pool *pool;
	unsigned count;
	struct channel channels[];
};

/* ---- Messages ------------------------------------------------------------- */

static int broker_send_message(int socket, const struct broker_head *head,
			       const void *data, size_t size, int fd)
{
	struct iovec parts[] = { { (void *)(uintptr_t)head, sizeof(*head) },
				 { (void *)(uintptr_t)data, size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = size ? 2 : 1 };
	struct fd_passing_room room;
	ssize_t n;

	if (fd >= 0)
		fd_passing_attach(&message, &room, fd);
	do {
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* *size is the room, and becomes the size received. A longer message is an error. */
static int broker_receive(int socket, struct broker_head *head, void *data, size_t *size,
			  int *fd)
{
	struct iovec parts[] = { { head, sizeof(*head) }, { data, *size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = *size ? 2 : 1 };
	struct fd_passing_room room;
	ssize_t n;

	fd_passing_prepare(&message, &room);
	do {
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	*fd = fd_passing_extract(&message);
	if ((size_t)n < sizeof(*head) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		if (*fd >= 0)
			close(*fd);
		return message.msg_flags & MSG_CTRUNC ? -EMFILE : -EBADMSG;
	}
	*size = (size_t)n - sizeof(*head);
	return 0;
}

/* ---- The child ------------------------------------------------------------ */

int broker_call(struct broker *broker, unsigned channel, unsigned kind, const void *data,
		size_t data_size, void *answer, size_t *size, int *fd)
{
	struct channel *c = &broker->channels[channel];
	struct broker_head head = { .kind = kind };
	size_t nothing = 0;
	int came = -1, err;

	if (data_size > BROKER_BYTES)
		return -ENAMETOOLONG;
	LOCK_GUARD(&c->lock);
	err = broker_send_message(c->child, &head, data, data_size, -1);
	if (!err)
		err = broker_receive(c->child, &head, answer, size ? size : &nothing,
				     &came);
	if (!err)
		err = head.err;
	if (fd)
		*fd = err ? -1 : came;
	if (came >= 0 && (err || !fd))
		close(came);
	return err;
}

/* ---- The parent ----------------------------------------------------------- */

static int answer_one(struct channel *c, struct desk *desk)
{
	struct broker_request question = { .channel = c->number, .data = desk->question,
					   .size = sizeof(desk->question) };
	struct broker_reply answer = { .data = desk->answer, .fd = -1 };
	struct broker_head head;
	int sent = -1;
	int err = broker_receive(c->parent, &head, desk->question, &question.size, &sent);

	if (err)
		return err;
	if (sent >= 0) /* a question has no descriptor */
		close(sent);
	question.kind = head.kind;
	head.err = c->broker->serve(c->broker->context, &question, &answer);
	err = broker_send_message(c->parent, &head, answer.data, answer.size, answer.fd);
	if (answer.fd >= 0 && answer.passed)
		close(answer.fd);
	return err;
}

/* Answers until the child ends, or sends a malformed question. */
static void attend(void *argument)
{
	struct channel *c = argument;
	struct desk *desk = malloc(sizeof(*desk));

	while (desk && answer_one(c, desk) == 0)
		;
	free(desk);
	shutdown(c->parent, SHUT_RDWR);
}

int broker_open(struct broker **out, unsigned channels, broker_serve *serve,
		void *context)
{
	struct broker *broker = calloc(1, sizeof(*broker) +
				       channels * sizeof(struct channel));

	if (!broker)
		return -ENOMEM;
	broker->serve = serve;
	broker->context = context;
	for (unsigned i = 0; i < channels; i++) {
		struct channel *c = &broker->channels[i];
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
			int err = -errno;

			broker_close(broker);
			return err;
		}
		*c = (struct channel){ broker, i, ends[0], ends[1], LOCK_INIT };
		broker->count++;
	}
	*out = broker;
	return 0;
}

static void close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

void broker_start_child(struct broker *broker)
{
	for (unsigned i = 0; i < broker->count; i++)
		close_end(&broker->channels[i].parent);
}

int broker_start_parent(struct broker *broker)
{
	int err;

	for (unsigned i = 0; i < broker->count; i++)
		close_end(&broker->channels[i].child);
	err = pool_start(&broker->pool, broker->count);
	if (!err && pool_threads(broker->pool) < broker->count)
		err = -EAGAIN; /* without a thread the channel would never answer */
	for (unsigned i = 0; i < broker->count && !err; i++)
		err = pool_add(broker->pool, attend, &broker->channels[i]);
	return err;
}

void broker_close(struct broker *broker)
{
	if (!broker)
		return;
	/* another process may hold the child's end: do not wait for it */
	for (unsigned i = 0; i < broker->count; i++) {
		if (broker->channels[i].parent >= 0)
			shutdown(broker->channels[i].parent, SHUT_RDWR);
	}
	if (broker->pool)
		pool_finish(broker->pool);
	for (unsigned i = 0; i < broker->count; i++) {
		close_end(&broker->channels[i].child);
		close_end(&broker->channels[i].parent);
	}
	free(broker);
}
