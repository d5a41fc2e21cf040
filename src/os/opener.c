/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "os/bounded.h"
#include "os/child.h"
#include "os/fd_passing.h"
#include "os/steps.h"

enum {
	STALL_MS = 30000, /* a Slurm prologue may take longer */
	PROBE_MS = 250,
	END_MS = 1000,    /* for a child that has sent its last message, or was killed */
	DATA_MOST = 4096,
	TEXT_MOST = 8192, /* a path, or a line of the log */
};

/* The child's end of the socket is its standard input. */
enum { LINE = STDIN_FILENO };

enum message_type { MESSAGE_ITEM, MESSAGE_LOG, MESSAGE_END };

/* Parent and child are one program: no byte order, no packing. */
struct opener_message {
	enum message_type type;
	unsigned kind;  /* of an item; a line's level */
	int err;        /* of the end */
	enum error_status status;
	size_t size, length;
	alignas(max_align_t) unsigned char data[DATA_MOST];
	char text[TEXT_MOST];
};

/* ---- The child ---- */

/*
 * ETOOMANYREFS: the user has too many descriptors in flight. The parent receives these
 * soon, and ends a child that waits too long.
 */
static int send_whole(const struct msghdr *header)
{
	while (sendmsg(LINE, header, MSG_NOSIGNAL) < 0) {
		if (errno == ETOOMANYREFS)
			bounded_pause(PROBE_MS);
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Only the used part of data and text is sent. */
static int opener_send_message(const struct opener_message *m, int fd)
{
	struct iovec parts[] = {
		{ (void *)(uintptr_t)m, offsetof(struct opener_message, data) },
		{ (void *)(uintptr_t)m->data, m->size },
		{ (void *)(uintptr_t)m->text, m->length },
	};
	struct msghdr header = { .msg_iov = parts, .msg_iovlen = 3 };
	struct fd_passing_room room;

	if (fd >= 0)
		fd_passing_attach(&header, &room, fd);
	return send_whole(&header);
}

int opener_send(const struct opener_item *item, struct error *e)
{
	struct opener_message m = {.type = MESSAGE_ITEM,
				   .kind = item->kind,
				   .size = item->size};
	int err;

	m.length = item->text ? strlen(item->text) : 0;
	if (m.size > DATA_MOST || m.length >= TEXT_MOST)
		return error_set(e, ERROR_SYSTEM, ENAMETOOLONG, "'%.200s...' is too long",
				 item->text ? item->text : "");
	if (m.size)
		memcpy(m.data, item->data, m.size);
	if (m.length)
		memcpy(m.text, item->text, m.length);
	err = opener_send_message(&m, item->fd);
	return err ? error_set(e, ERROR_SYSTEM, -err, "'%s', which was opened as user id %u, "
			       "cannot be handed over: %s", item->text ? item->text : "",
			       (unsigned)geteuid(), strerror(-err)) : 0;
}

/* The child logs through the parent: standard error would keep a caller's pipe open. */
static void pass_on_line(enum log_level level, const char *line)
{
	struct opener_message m = { .type = MESSAGE_LOG, .kind = level };

	m.length = strnlen(line, TEXT_MOST - 1);
	memcpy(m.text, line, m.length);
	opener_send_message(&m, -1);
}

static int detach_from_parent(int line)
{
	CLEANUP(cleanup_close) int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(line, LINE) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		return -errno;
	bounded_close_descriptors();
	null = -1;
	log_set_sink(pass_on_line);
	return 0;
}

static void opener_work_in_child(const struct rights *rights, const struct opener *opener,
				 pid_t parent, int line)
{
	struct opener_message end = { .type = MESSAGE_END };
	struct error e = { 0 };

	if (detach_from_parent(line) < 0)
		_exit(1);
	end.err = rights_become(rights, &e);
	/* a change of ids clears PDEATHSIG */
	if (!end.err && child_ends_with_parent(parent) < 0)
		_exit(1);
	if (!end.err)
		end.err = opener->work(opener->context, &e);
	end.status = e.status;
	end.length = strnlen(e.text, sizeof(e.text) - 1);
	memcpy(end.text, e.text, end.length);
	_exit(opener_send_message(&end, -1) ? 1 : 0);
}

/* ---- The parent ---- */

/* The state of the opener in the parent. */
struct watch {
	const struct rights *rights;
	const struct opener *opener;
	struct steps *steps;
	pid_t child;
	int line;
	unsigned seen;     /* of the steps */
	long long seen_at; /* time of the last step or message */
};

/*
 * Checks a packet of `n` bytes. The child parses the user's files, such as an index, and
 * may be compromised: its messages are input.
 */
static bool unpack(struct opener_message *m, const unsigned char *packet, size_t n)
{
	const size_t head = offsetof(struct opener_message, data);

	if (n < head)
		return false;
	memcpy(m, packet, head);
	if (m->size > DATA_MOST || m->length >= TEXT_MOST || n != head + m->size + m->length)
		return false;
	memcpy(m->data, packet + head, m->size);
	memcpy(m->text, packet + head + m->size, m->length);
	m->text[m->length] = '\0';
	return true;
}

static int refuse_message(struct error *e)
{
	return error_set(e, ERROR_SYSTEM, EBADMSG,
			 "the process that opens files as the user has sent a malformed message");
}

/* 1 and a message, whose descriptor is the caller's; 0: the child has closed its end. */
static int opener_receive(int line, struct opener_message *m, int *fd, struct error *e)
{
	static unsigned char packet[sizeof(struct opener_message)];
	struct iovec whole = { packet, sizeof(packet) };
	struct msghdr header = { .msg_iov = &whole, .msg_iovlen = 1 };
	struct fd_passing_room room;
	ssize_t n;

	fd_passing_prepare(&header, &room);
	n = recvmsg(line, &header, MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return 0;
	*fd = fd_passing_extract(&header);
	if (header.msg_flags & MSG_CTRUNC)
		return error_set(e, ERROR_SYSTEM, EMFILE,
				 "a file cannot be handed over: this process may not hold more "
				 "files open; raise the limit with `ulimit -n`");
	if (!unpack(m, packet, (size_t)n))
		return refuse_message(e);
	return 1;
}

static int receive_item(const struct watch *w, const struct opener_message *m, int fd,
			struct error *e)
{
	const struct opener_item item = { .kind = m->kind, .data = m->data, .size = m->size,
					  .text = m->text, .fd = fd };

	return w->opener->receive(w->opener->context, &item, e);
}

static int receive_end(const struct opener_message *m, struct error *e)
{
	enum { ERRNO_MOST = 4095 };

	if (m->err == 0)
		return 0;
	if (m->err > 0 || m->err < -ERRNO_MOST || m->status < ERROR_USAGE ||
	    m->status > ERROR_MOUNT)
		return refuse_message(e);
	return error_set(e, m->status, -m->err, "%s", m->text);
}

/* 1: more messages follow; 0: the opener succeeded; or a negative errno and *e. */
static int receive_message(const struct watch *w, const struct opener_message *m, int fd,
			   struct error *e)
{
	int err;

	switch (m->type) {
	case MESSAGE_LOG:
		log_write((enum log_level)m->kind, "%s", m->text);
		return 1;
	case MESSAGE_ITEM:
		err = receive_item(w, m, fd, e);
		return err ? err : 1;
	case MESSAGE_END:
	default:
		return receive_end(m, e);
	}
}

/* The child closed its end without a result: the user may have killed it. */
static int refuse_end(struct watch *w, struct error *e)
{
	int status, ended = bounded_wait(w->child, &status, END_MS);

	if (ended == 1)
		w->child = -1;
	if (ended == 1 && WIFSIGNALED(status))
		return error_set(e, ERROR_SYSTEM, EINTR,
				 "the process that opens files as user id %u was ended by "
				 "signal %d (%s); try again", (unsigned)w->rights->uid,
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return error_set(e, ERROR_SYSTEM, EINTR,
			 "the process that opens files as user id %u ended before it had "
			 "opened them", (unsigned)w->rights->uid);
}

static int refuse_stall(const struct watch *w, struct error *e)
{
	w->steps->path[sizeof(w->steps->path) - 1] = '\0';
	if (!*w->steps->path)
		return error_set(e, ERROR_SYSTEM, ETIMEDOUT,
				 "the process that opens files as user id %u has not begun for "
				 "%d s; is it stopped?", (unsigned)w->rights->uid,
				 STALL_MS / 1000);
	return error_set(e, ERROR_SYSTEM, ETIMEDOUT,
			 "'%s' has not answered for %d s: the storage that it is on hangs; look "
			 "at it as user id %u, with ls(1), say, and mount when that returns",
			 w->steps->path, STALL_MS / 1000, (unsigned)w->rights->uid);
}

/* No step and no message for STALL_MS? */
static bool stalls(struct watch *w)
{
	unsigned count = atomic_load(&w->steps->count);

	if (count != w->seen) {
		w->seen = count;
		w->seen_at = bounded_now();
	}
	return bounded_now() - w->seen_at >= STALL_MS;
}

static int listen_to(struct watch *w, struct error *e)
{
	struct pollfd fds = { .fd = w->line, .events = POLLIN };
	static struct opener_message m;
	int go;

	do {
		int fd = -1; /* never closed here: see opener.h */

		if (poll(&fds, 1, PROBE_MS) <= 0) {
			if (stalls(w))
				return refuse_stall(w, e);
			go = 1;
			continue;
		}
		w->seen_at = bounded_now();
		go = opener_receive(w->line, &m, &fd, e);
		if (go == 0)
			return refuse_end(w, e);
		if (go > 0)
			go = receive_message(w, &m, fd, e);
	} while (go > 0);
	return go;
}

/* A child that hangs in the kernel is left behind. */
static void end_child(const struct watch *w, bool is_done)
{
	int status;

	if (w->child < 0 || (is_done && bounded_wait(w->child, &status, END_MS) != 0))
		return;
	kill(w->child, SIGKILL);
	bounded_wait(w->child, &status, END_MS);
}

static int start(struct watch *w, struct error *e)
{
	pid_t parent = getpid();
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set(e, ERROR_SYSTEM, errno, "socketpair: %s", strerror(errno));
	err = child_fork(&w->child, e);
	if (!err && w->child == 0) {
		steps_share(w->steps);
		opener_work_in_child(w->rights, w->opener, parent, ends[1]);
	}
	close(ends[1]);
	w->line = ends[0];
	return err;
}

int opener_run(const struct rights *rights, const struct opener *opener, struct error *e)
{
	struct watch w = { .rights = rights, .opener = opener, .child = -1, .line = -1,
			   .seen_at = bounded_now() };
	int err;

	w.steps = mmap(NULL, sizeof(*w.steps), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w.steps == MAP_FAILED)
		return error_no_memory(e, NULL);
	err = start(&w, e);
	if (!err) {
		err = listen_to(&w, e);
		end_child(&w, err == 0);
	}
	if (w.line >= 0)
		close(w.line);
	munmap(w.steps, sizeof(*w.steps));
	return err;
}
