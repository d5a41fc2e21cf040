/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/hatch.h"

#include <errno.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/lock.h"
#include "os/passing.h"
#include "os/pool.h"

struct hatch_head {
	unsigned kind; /* of a question */
	int err;       /* of an answer */
};

struct channel {
	struct hatch *hatch;
	unsigned number;
	int child, parent; /* ends of a socket */
	struct lock lock;  /* threads of the child take turns */
};

/* The buffers of a thread in the parent. */
struct desk {
	alignas(max_align_t) unsigned char question[HATCH_BYTES];
	alignas(max_align_t) unsigned char answer[HATCH_BYTES];
};

struct hatch {
	hatch_serve *serve;
	void *context;
	struct pool *pool;
	unsigned count;
	struct channel channels[];
};

/* ---- Messages ------------------------------------------------------------- */

static int hatch_send_message(int socket, const struct hatch_head *head, const void *data,
			      size_t size, int fd)
{
	struct iovec parts[] = { { (void *)(uintptr_t)head, sizeof(*head) },
				 { (void *)(uintptr_t)data, size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = size ? 2 : 1 };
	struct passing_room room;
	ssize_t n;

	if (fd >= 0)
		passing_attach(&message, &room, fd);
	do {
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* *size is the room, and becomes the size received. A longer message is an error. */
static int hatch_receive(int socket, struct hatch_head *head, void *data, size_t *size,
			 int *fd)
{
	struct iovec parts[] = { { head, sizeof(*head) }, { data, *size } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = *size ? 2 : 1 };
	struct passing_room room;
	ssize_t n;

	passing_expect(&message, &room);
	do {
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	*fd = passing_take(&message);
	if ((size_t)n < sizeof(*head) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		if (*fd >= 0)
			close(*fd);
		return message.msg_flags & MSG_CTRUNC ? -EMFILE : -EBADMSG;
	}
	*size = (size_t)n - sizeof(*head);
	return 0;
}

/* ---- The child ------------------------------------------------------------ */

int hatch_ask(struct hatch *hatch, unsigned channel, unsigned kind, const void *data,
	      size_t data_size, void *answer, size_t *size, int *fd)
{
	struct channel *c = &hatch->channels[channel];
	struct hatch_head head = { .kind = kind };
	size_t nothing = 0;
	int came = -1, err;

	if (data_size > HATCH_BYTES)
		return -ENAMETOOLONG;
	LOCK_GUARD(&c->lock);
	err = hatch_send_message(c->child, &head, data, data_size, -1);
	if (!err)
		err = hatch_receive(c->child, &head, answer, size ? size : &nothing,
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
	struct hatch_question question = { .channel = c->number, .data = desk->question,
					   .size = sizeof(desk->question) };
	struct hatch_answer answer = { .data = desk->answer, .fd = -1 };
	struct hatch_head head;
	int sent = -1;
	int err = hatch_receive(c->parent, &head, desk->question, &question.size, &sent);

	if (err)
		return err;
	if (sent >= 0) /* a question has no descriptor */
		close(sent);
	question.kind = head.kind;
	head.err = c->hatch->serve(c->hatch->context, &question, &answer);
	err = hatch_send_message(c->parent, &head, answer.data, answer.size, answer.fd);
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

int hatch_open(struct hatch **out, unsigned channels, hatch_serve *serve, void *context)
{
	struct hatch *hatch = calloc(1, sizeof(*hatch) + channels * sizeof(struct channel));

	if (!hatch)
		return -ENOMEM;
	hatch->serve = serve;
	hatch->context = context;
	for (unsigned i = 0; i < channels; i++) {
		struct channel *c = &hatch->channels[i];
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
			int err = -errno;

			hatch_close(hatch);
			return err;
		}
		*c = (struct channel){ hatch, i, ends[0], ends[1], LOCK_INIT };
		hatch->count++;
	}
	*out = hatch;
	return 0;
}

static void close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

void hatch_be_child(struct hatch *hatch)
{
	for (unsigned i = 0; i < hatch->count; i++)
		close_end(&hatch->channels[i].parent);
}

int hatch_be_parent(struct hatch *hatch)
{
	int err;

	for (unsigned i = 0; i < hatch->count; i++)
		close_end(&hatch->channels[i].child);
	err = pool_start(&hatch->pool, hatch->count);
	if (!err && pool_threads(hatch->pool) < hatch->count)
		err = -EAGAIN; /* without a thread the channel would never answer */
	for (unsigned i = 0; i < hatch->count && !err; i++)
		err = pool_add(hatch->pool, attend, &hatch->channels[i]);
	return err;
}

void hatch_close(struct hatch *hatch)
{
	if (!hatch)
		return;
	/* another process may hold the child's end: do not wait for it */
	for (unsigned i = 0; i < hatch->count; i++) {
		if (hatch->channels[i].parent >= 0)
			shutdown(hatch->channels[i].parent, SHUT_RDWR);
	}
	if (hatch->pool)
		pool_finish(hatch->pool);
	for (unsigned i = 0; i < hatch->count; i++) {
		close_end(&hatch->channels[i].child);
		close_end(&hatch->channels[i].parent);
	}
	free(hatch);
}
