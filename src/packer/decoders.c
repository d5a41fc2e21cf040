/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/decoders.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/bounded.h"
#include "os/child.h"
#include "os/lock.h"
#include "os/sandbox.h"

enum { WORKERS_MOST = 64, LINE = STDIN_FILENO };

static const char crashed[] = "crashes the library that decodes such images";

enum request_kind { GET_SIZE, GET_PIXELS };

/* Both ends are one program. Bytes follow: the image file, or its pixels. */
struct decoders_request {
	enum request_kind kind;
	size_t length;
};

struct answer {
	bool is_image;
	int err;
	unsigned damage; /* index in pixels_damages; PIXELS_DAMAGES: none */
	uint64_t size;
};

struct decoders_worker {
	pid_t process;
	int line;  /* -1: it has died */
	bool busy; /* lock */
};

struct decoders {
	struct lock lock;
	struct wakeup idle;
	unsigned count;
	struct decoders_worker workers[];
};

/* ---- Bytes ---------------------------------------------------------------- */

static bool decoders_read_all(int fd, void *bytes, size_t length)
{
	char *at = bytes;

	while (length) {
		ssize_t n = read(fd, at, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

/* MSG_NOSIGNAL: a dead peer is an error, not a SIGPIPE. */
static bool decoders_write_all(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length) {
		struct iovec part = { (void *)(uintptr_t)at, length };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
		ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		length -= (size_t)n;
	}
	return true;
}

/* ---- A worker --------------------------------------------------------------- */

static unsigned decoders_number_of(const char *damage)
{
	unsigned i = 0;

	while (i < PIXELS_DAMAGES && pixels_damages[i] != damage)
		i++;
	return i;
}

static bool send_size(const void *bytes, size_t length)
{
	struct answer answer = { .size = 0 };
	const char *damage = NULL;

	answer.is_image = pixels_measure(bytes, length, &answer.size, &damage);
	answer.damage = decoders_number_of(damage);
	return decoders_write_all(LINE, &answer, sizeof(answer));
}

static bool send_pixels(const void *bytes, size_t length)
{
	struct answer answer = { .size = 0 };
	struct pixels pixels = { 0 };
	const char *damage = NULL;
	bool told;

	answer.err = pixels_decode(bytes, length, &pixels, &damage);
	answer.damage = decoders_number_of(damage);
	answer.size = answer.err ? 0 : pixels.size;
	told = decoders_write_all(LINE, &answer, sizeof(answer)) &&
	       decoders_write_all(LINE, pixels.bytes, answer.size);
	pixels_free(&pixels);
	return told;
}

/* Serves requests until the packer closes the socket or a request is invalid. */
static void serve_packer(void)
{
	struct decoders_request q;
	bool told = true;

	while (told && decoders_read_all(LINE, &q, sizeof(q))) {
		void *bytes = malloc(q.length ? q.length : 1);

		told = bytes && decoders_read_all(LINE, bytes, q.length) &&
		       (q.kind == GET_PIXELS ? send_pixels : send_size)(bytes, q.length);
		free(bytes);
	}
}

/* Keeps no descriptor but the socket. Signals end the packer, not a worker. */
static _Noreturn void be_worker(int line)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct error e;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (null < 0 || dup2(line, LINE) < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(1);
	bounded_close_descriptors();
	if (sandbox_enter(&e) < 0)
		_exit(1);
	serve_packer();
	_exit(0);
}

/* ---- The packer ------------------------------------------------------------- */

static int start_worker(struct decoders_worker *worker, struct error *e)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set(e, ERROR_SYSTEM, errno, "socketpair: %s", strerror(errno));
	err = child_fork(&worker->process, e);
	if (!err && worker->process == 0)
		be_worker(ends[1]);
	close(ends[1]);
	if (err)
		close(ends[0]);
	else
		worker->line = ends[0];
	return err;
}

int decoders_start(struct decoders **out, unsigned count, struct error *e)
{
	struct decoders *d = calloc(1, sizeof(*d) + WORKERS_MOST * sizeof(d->workers[0]));
	int err = 0;

	if (!d)
		return error_no_memory(e, NULL);
	d->lock = (struct lock)LOCK_INIT;
	d->idle = (struct wakeup)WAKEUP_INIT;
	while (d->count < count && d->count < WORKERS_MOST && !err) {
		err = start_worker(&d->workers[d->count], e);
		d->count += !err;
	}
	if (err) {
		decoders_stop(d);
		return err;
	}
	*out = d;
	return 0;
}

void decoders_stop(struct decoders *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < d->count; i++) {
		if (d->workers[i].line >= 0)
			close(d->workers[i].line);
		child_end(d->workers[i].process);
	}
	free(d);
}

static int find_idle(const struct decoders *d, bool *any)
{
	*any = false;
	for (unsigned i = 0; i < d->count; i++) {
		if (d->workers[i].line >= 0 && !d->workers[i].busy)
			return (int)i;
		*any |= d->workers[i].line >= 0;
	}
	return -1;
}

/* Waits for an idle worker: its number, or -1 if all died. */
static int claim_worker(struct decoders *d)
{
	bool any;
	int i;

	LOCK_GUARD(&d->lock);
	while ((i = find_idle(d, &any)) < 0 && any)
		wakeup_wait(&d->idle, &d->lock);
	if (i >= 0)
		d->workers[i].busy = true;
	return i;
}

static void release_worker(struct decoders *d, int i, bool lives)
{
	LOCK_GUARD(&d->lock);
	if (i < 0)
		return;
	d->workers[i].busy = false;
	if (!lives) {
		close(d->workers[i].line);
		d->workers[i].line = -1;
	}
	wakeup_all(&d->idle);
}

static void set_damage(const struct answer *answer, const char **damage)
{
	if (answer->damage < PIXELS_DAMAGES)
		*damage = pixels_damages[answer->damage];
}

/* Sends a request to worker `i`: does the worker still live? */
static bool query(const struct decoders *d, int i, enum request_kind kind,
		  const void *bytes, size_t length, struct answer *answer)
{
	const struct decoders_request request = { kind, length };
	int line = i < 0 ? -1 : d->workers[i].line;

	return line >= 0 && decoders_write_all(line, &request, sizeof(request)) &&
	       decoders_write_all(line, bytes, length) &&
	       decoders_read_all(line, answer, sizeof(*answer));
}

bool decoders_measure(struct decoders *d, const void *bytes, size_t length, uint64_t *size,
		      const char **damage)
{
	struct answer answer;
	int i = claim_worker(d);
	bool lives = query(d, i, GET_SIZE, bytes, length, &answer);

	release_worker(d, i, lives);
	if (!lives) {
		*damage = crashed;
		return false;
	}
	set_damage(&answer, damage);
	*size = answer.size;
	return answer.is_image;
}

/* A worker may not return more bytes than it announced when it measured. */
static bool read_pixels(int line, uint64_t most, const struct answer *answer,
			struct pixels *out)
{
	if (answer->size > most)
		return false;
	out->size = (size_t)answer->size;
	out->bytes = malloc(out->size ? out->size : 1);
	return out->bytes && decoders_read_all(line, out->bytes, out->size);
}

int decoders_decode(struct decoders *d, const void *bytes, size_t length, uint64_t most,
		    struct pixels *out, const char **damage)
{
	struct answer answer;
	int i = claim_worker(d);
	bool lives = query(d, i, GET_PIXELS, bytes, length, &answer);

	*out = (struct pixels){ 0 };
	if (lives && !answer.err)
		lives = read_pixels(d->workers[i].line, most, &answer, out);
	release_worker(d, i, lives);
	if (lives && !answer.err)
		return 0;
	pixels_free(out);
	*damage = crashed;
	if (lives)
		set_damage(&answer, damage);
	return -EBADMSG;
}
