/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * server.c: the request loop.
 *
 * The loop stands on fuse_session_receive_buf and fuse_session_process_buf: each thread
 * receives a request, answers it, and receives the next. A read that waits for storage
 * keeps its thread, so there are more threads than processors. If storage hangs, `ls` and
 * `df` must not hang: the last thread that receives parks reads for the others. No
 * clone_fd: requests that are read through a clone are lost with the process that read
 * them.
 */
#include "fuse/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "fuse/control.h"
#include "fuse/cpus.h"
#include "fuse/page_cache.h"
#include "fuse/request_events.h"
#include "fuse/spin.h"
#include "os/bounded.h"
#include "os/lock.h"
#include "os/memory.h"
#include "os/pool.h"
#include "os/process.h"
#include "os/processors.h"
#include "prefetch/prefetch.h"
#include "stats/stats.h"

enum {
	PATH_BYTES = 1024,
	ALONE_AFTER = 32,      /* requests in a row that wait for nothing, */
	ALONE_AGAIN = 4096,    /* and so many where one thread was too few */
	SUSPECTS_MS = 5000,    /* for all suspects together; other requests wait */
};

struct server {
	const struct served *served;
	struct fuse_session *fuse;
	struct slots *slots;
	unsigned threads;       /* those that started; other slots stay empty */
	_Atomic unsigned next_thread; /* gives each its slot, */
	unsigned last_slot;     /* and this one to the last; set before the threads start */
	int suspect;            /* lock: the slot of the suspect, or -1 */
	struct wakeup suspect_done;
	struct lock lock;
	unsigned receiving;     /* lock: threads that wait for the kernel */
	unsigned *parked;       /* lock: a ring of slots, with room for all */
	unsigned parked_room;   /* set before the threads start */
	unsigned parked_first;  /* lock */
	unsigned parked_count;  /* lock */
	bool alone;             /* lock: one thread receives, the others sleep */
	int quick;              /* lock: requests in a row that wait for nothing */
	unsigned resting;       /* lock: threads that neither receive nor answer */
	unsigned calls;         /* lock: how often all of them were called */
	struct wakeup called;
	struct spin spin;       /* of the thread that receives alone */
};

/* Crashes. */

static struct slots *crash_slots;
static _Thread_local volatile sig_atomic_t current_slot = -1;
static struct sigaction actions_before[NSIG];

/*
 * A signal that another process sent. The kernel fills in the sender of kill(2) and
 * tgkill(2); a sender of sigqueue(3) may claim to be this process.
 */
static bool is_queueable(const siginfo_t *info)
{
	if (info->si_code > 0)
		return false;
	return (info->si_code != SI_USER && info->si_code != SI_TKILL) ||
	       info->si_pid != getpid();
}

/*
 * Tells the supervisor which request the thread was handling. A signal from another
 * process is a kill and no crash: no request is its cause, and the mount's user must not
 * use up the limit of crashes with it.
 */
static void handle_crash(int number, siginfo_t *info, void *context)
{
	if (is_queueable(info))
		kill(getpid(), SIGKILL);
	prefetch_note_crash();
	slots_crashed(crash_slots, current_slot, number);
	sigaction(number, &actions_before[number], NULL);
	/* a fault is raised again on return; a sent signal has to be sent again */
	if (info->si_code <= 0)
		raise(number);
}

static void watch_crashes(struct slots *slots)
{
	struct sigaction action = { .sa_sigaction = handle_crash,
				    .sa_flags = SA_SIGINFO };

	crash_slots = slots;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < PROCESS_FAULTS; i++)
		sigaction(process_faults[i], &action, &actions_before[process_faults[i]]);
}

/* Requests. */

static const char *server_name_of(uint32_t opcode)
{
	switch (opcode) {
	case FUSE_READ:
		return "reading it";
	case FUSE_LOOKUP:
		return "looking it up";
	case FUSE_READDIR:
	case FUSE_READDIRPLUS:
		return "listing it";
	default:
		return "a request about it";
	}
}

/* Logs the path, as far as the request tells it. */
static void log_condemned(const struct server *server, const struct fuse_in_header *request)
{
	const struct dataset *dataset = server->served->dataset;
	uint32_t node = request->nodeid == FUSE_ROOT_ID ? dataset_root(dataset) :
			(uint32_t)(request->nodeid - 1);
	bool named = request->opcode == FUSE_LOOKUP;
	char path[PATH_BYTES];

	tree_path(dataset_tree(dataset), node, path, sizeof(path));
	log_error(
		"%s%s%.255s: servers died of %s: that is answered with an error, for good "
		"where they crashed, for a minute where they were killed again and again",
		*path || named ? path : "/", *path && named ? "/" : "",
		named ? (const char *)(request + 1) : "",
		server_name_of(request->opcode));
}

static void server_refuse(const struct server *server, unsigned slot)
{
	const struct fuse_in_header *request = slots_request(server->slots, slot);
	struct fuse_out_header answer = { .len = sizeof(answer), .error = -EIO,
					  .unique = request->unique };

	stats_add(COUNTER_requests_condemned, 1);
	if (slots_first_refusal(server->slots, slot))
		log_condemned(server, request);
	if (write(fuse_session_fd(server->fuse), &answer, sizeof(answer)) < 0)
		log_debug("an error could not be sent: %s", strerror(errno));
}

/* Answers, and records how long the reader has waited. */
static void server_answer(struct server *server, const struct fuse_in_header *request,
			  const struct fuse_buf *buf)
{
	enum histogram histogram = request_histogram(request->opcode);
	bool reader = slots_needs_answer(request) && !control_is_request(request);
	uint64_t begin = stats_clock(), nodeid = request->nodeid, took;

	if (!reader) {
		fuse_session_process_buf(server->fuse, buf);
		return;
	}
	stats_add(COUNTER_requests_under_way, 1);
	fuse_session_process_buf(server->fuse, buf);
	took = stats_add_duration(histogram, begin, true);
	request_event(server->served, histogram, nodeid, begin, took);
	stats_add(COUNTER_requests_under_way, (uint64_t)-1);
}

static void handle(struct server *server, unsigned slot)
{
	struct fuse_in_header *request = slots_request(server->slots, slot);
	struct fuse_buf buf = { .mem = request };

	if (!request)
		return;
	buf.size = request->len;
	current_slot = (int)slot;
	slots_begin(server->slots, slot);
	if (slots_needs_answer(request) &&
	    slots_is_condemned(server->slots, slot, bounded_now() / 1000))
		server_refuse(server, slot);
	else
		server_answer(server, request, &buf);
	current_slot = -1;
	slots_done(server->slots, slot);
}

/* Receivers and readers. */

/* The file of a read. */
static uint32_t read_node(const struct server *server, unsigned slot)
{
	return (uint32_t)(slots_request(server->slots, slot)->nodeid - 1);
}

/*
 * Under the lock, or before threads start. From now on the file's pages may be locked for
 * long, so no byte may be stored there.
 */
static void push_parked(struct server *server, unsigned slot)
{
	unsigned at = server->parked_first + server->parked_count++;

	page_cache_read_begins(server->served->push, read_node(server, slot));
	server->parked[at % server->parked_room] = slot;
}

static void handle_parked(struct server *server, unsigned slot)
{
	uint32_t node = read_node(server, slot);

	handle(server, slot);
	page_cache_read_ends(server->served->push, node);
}

static unsigned pop_parked(struct server *server)
{
	unsigned slot = server->parked[server->parked_first];

	server->parked_first = (server->parked_first + 1) % server->parked_room;
	server->parked_count--;
	return slot;
}

/*
 * Python's loaders send only ioctls once a dataset is warm. An ioctl waits for nothing,
 * and one thread answers it sooner than several threads that are woken in turn. So one
 * thread receives, and may poll, while the others sleep. They are woken at the first
 * request of another kind, before it is handled.
 */
static bool is_quick(const struct fuse_in_header *request)
{
	return request->opcode == FUSE_IOCTL || request->opcode == FUSE_FORGET ||
	       request->opcode == FUSE_BATCH_FORGET;
}

/* Under the lock. A woken thread counts as a receiver from now on. */
static void call_all(struct server *server)
{
	server->quick = 0;
	server->alone = false;
	if (server->resting == 0)
		return;
	server->receiving += server->resting;
	server->resting = 0;
	server->calls++;
	wakeup_all(&server->called);
}

/* Under the lock. */
static void wait_for_call(struct server *server)
{
	unsigned calls = server->calls;

	server->resting++;
	while (server->calls == calls)
		wakeup_wait(&server->called, &server->lock);
}

/* Under the lock. */
static void count_quick(struct server *server, const struct fuse_in_header *request,
			bool alone)
{
	if (!is_quick(request)) {
		call_all(server);
	} else if (alone && spin_is_overloaded(&server->spin)) {
		call_all(server);
		server->quick = ALONE_AFTER - ALONE_AGAIN;
	} else if (server->quick < ALONE_AFTER) {
		server->quick++;
	} else {
		server->alone = spin_is_on(&server->spin);
	}
}

/* A slot with a parked request, or -1: receive a request; `alone`: poll for it. */
static int unpark_or_receive(struct server *server, bool *alone)
{
	LOCK_GUARD(&server->lock);
	*alone = false;
	if (server->parked_count > 0 && (server->receiving > 0 || server->threads == 1))
		return (int)pop_parked(server);
	if (server->alone && server->receiving > 0) {
		wait_for_call(server);
		return -1;
	}
	server->receiving++;
	*alone = server->alone;
	return -1;
}

/* Under the lock. */
static bool park(struct server *server, unsigned slot)
{
	int parked = slots_park(server->slots, slot);

	if (parked < 0)
		return false;
	push_parked(server, (unsigned)parked);
	stats_add(COUNTER_requests_parked, 1);
	return true;
}

/* Only reads wait for storage; those of .granaryfs do not. */
static bool may_wait(const struct fuse_in_header *request)
{
	return request->opcode == FUSE_READ && !control_is_request(request);
}

/* True: another thread handles the request, and the caller receives the next one. */
static bool queue_request(struct server *server, unsigned slot, bool alone)
{
	const struct fuse_in_header *request = slots_request(server->slots, slot);

	LOCK_GUARD(&server->lock);
	server->receiving--;
	if (request)
		count_quick(server, request, alone);
	return request && may_wait(request) && server->receiving == 0 &&
	       server->threads > 1 && park(server, slot);
}

static void wait_for_request(const struct server *server)
{
	struct pollfd connection = { .fd = fuse_session_fd(server->fuse), .events = POLLIN };

	poll(&connection, 1, -1);
}

/* 1: there is a request; 0: none this time; -1: the connection has ended. */
static int server_receive(struct server *server, unsigned slot, bool alone)
{
	struct fuse_buf buf = { .mem = slots_receive(server->slots, slot) };
	int n;

	if (alone)
		spin_wait(&server->spin, fuse_session_fd(server->fuse));
	n = fuse_session_receive_buf(server->fuse, &buf);
	if (alone)
		spin_received(&server->spin);
	if (n == -ENOMEM) /* only this thread's: the others go on */
		bounded_pause(10);
	if (n == -EAGAIN) /* a connection passed in as non-blocking */
		wait_for_request(server);
	if (n == -ENOMEM || n == -EINTR || n == -EAGAIN)
		return 0;
	return n > 0 ? 1 : -1;
}

static void answer_legacy(struct server *server, unsigned slot)
{
	const struct fuse_in_header *request = slots_request(server->slots, slot);

	if (request && slots_needs_answer(request))
		handle(server, slot);
	else if (request)
		slots_done(server->slots, slot);
}

static unsigned slot_of_next(struct server *server)
{
	unsigned last = server->threads - 1;
	unsigned slot = atomic_fetch_add(&server->next_thread, 1);

	if (slot == last)
		return server->last_slot;
	return slot == server->last_slot ? last : slot;
}

static void serve_requests(void *argument)
{
	struct server *server = argument;
	unsigned slot = slot_of_next(server);

	/*
	 * if the supervisor dies while this process is stopped, the main thread's
	 * PDEATHSIG has to be handled; each thread may request its own
	 */
	prctl(PR_SET_PDEATHSIG, SIGCONT);
	answer_legacy(server, slot);
	while (!fuse_session_exited(server->fuse)) {
		bool alone;
		int parked = unpark_or_receive(server, &alone);
		int received = parked < 0 ? server_receive(server, slot, alone) : 0;

		if (parked >= 0) {
			handle_parked(server, (unsigned)parked);
			continue;
		}
		if (received < 0)
			break;
		if (!queue_request(server, slot, alone) && received > 0)
			handle(server, slot);
	}
	ops_thread_end();
	/*
	 * the connection has ended: the first thread that sees this ends the process,
	 * even if the others wait
	 */
	slots_set_ended(server->slots);
	LOCK_GUARD(&server->lock);
	call_all(server);
}

/*
 * If every thread began with a read, and storage hung, no thread would receive. So two
 * threads begin without one: the last may come late, since it may still have a suspect.
 */
static void reserve_two_threads(struct server *server)
{
	unsigned last = server->threads - 1;

	for (unsigned i = last; i > 0 && i + 1 >= last; i--) {
		const struct fuse_in_header *request = slots_request(server->slots, i);

		if ((int)i != server->suspect && request && may_wait(request))
			slots_park(server->slots, i);
	}
}

/* The thread that still has a suspect gets its slot, or one that is empty. */
static void choose_last_slot(struct server *server)
{
	server->last_slot = server->threads - 1;
	for (unsigned i = 0; server->suspect >= 0 && i < server->threads; i++) {
		if ((int)i == server->suspect || !slots_request(server->slots, i))
			server->last_slot = i;
		if ((int)i == server->suspect)
			return;
	}
}

/* Parks again the requests that were parked, and those in slots without a thread. */
static void inherit(struct server *server)
{
	LOCK_GUARD(&server->lock);
	reserve_two_threads(server);
	choose_last_slot(server);
	for (unsigned i = 0; i < slots_count(server->slots); i++) {
		if ((int)i == server->suspect || !slots_request(server->slots, i))
			continue;
		stats_add(COUNTER_requests_replayed, 1);
		if (i >= server->threads)
			push_parked(server, i);
	}
}

/* Suspects. */

/* In a thread. */
static void handle_suspect(void *argument)
{
	struct server *server = argument;
	unsigned slot = (unsigned)server->suspect;

	if (may_wait(slots_request(server->slots, slot))) {
		page_cache_read_begins(server->served->push, read_node(server, slot));
		handle_parked(server, slot);
	} else {
		answer_legacy(server, slot);
	}
	LOCK_GUARD(&server->lock);
	server->suspect = -1;
	wakeup_all(&server->suspect_done);
}

/* Is the suspect answered before `end`? */
static bool is_handled_by(struct server *server, long long end)
{
	LOCK_GUARD(&server->lock);
	while (server->suspect >= 0) {
		long long left = end - bounded_now();

		if (left <= 0)
			return false;
		wakeup_wait_for(&server->suspect_done, &server->lock, (unsigned)left);
	}
	return true;
}

static int server_find_suspect(const struct server *server)
{
	for (unsigned i = 0; i < slots_count(server->slots); i++) {
		if (slots_is_suspect(server->slots, i))
			return (int)i;
	}
	return -1;
}

/*
 * Handles suspects, the possible causes of kills, one after the other, while no other
 * request is handled. A suspect that takes long keeps its thread, and is cleared.
 */
static int handle_suspects(struct server *server, struct pool *pool)
{
	unsigned idle = slots_idle_required(server->slots);
	bool in_time = true;
	int err = 0, slot;
	long long end;

	if (idle) {
		slots_idle_begins(server->slots);
		bounded_pause(idle);
		slots_alone_ends(server->slots);
	}
	end = bounded_now() + SUSPECTS_MS; /* that was none of their time */
	while (!err && in_time && (slot = server_find_suspect(server)) >= 0) {
		stats_add(COUNTER_requests_replayed, 1);
		server->suspect = slot; /* no thread is looking */
		slots_alone_begins(server->slots, (unsigned)slot);
		err = pool_add(pool, handle_suspect, server);
		in_time = !err && is_handled_by(server, end);
		if (!in_time)
			slots_clear_suspect(server->slots, (unsigned)slot);
		slots_alone_ends(server->slots);
		in_time = in_time && bounded_now() < end;
	}
	return err;
}

static int run_threads(struct server *server)
{
	struct pool *pool;
	int err = pool_start(&pool, slots_threads(server->slots));

	if (err)
		return err;
	server->threads = pool_threads(pool);
	if (server->threads < slots_threads(server->slots))
		log_warn("only %u of %u threads can be had; reading may be slow",
			 server->threads, slots_threads(server->slots));
	err = handle_suspects(server, pool);
	inherit(server);
	for (unsigned i = 0; i < server->threads && !err; i++)
		err = pool_add(pool, serve_requests, server);
	if (err)
		return err; /* the threads that run end with the process */
	slots_set_ready(server->slots);
	pool_finish(pool);
	return 0;
}

int server_run(const struct served *served, struct fuse_session *fuse,
	       struct slots *slots)
{
	struct server server = { .served = served, .fuse = fuse, .slots = slots,
				 .lock = LOCK_INIT, .called = WAKEUP_INIT,
				 .suspect = -1, .suspect_done = WAKEUP_INIT,
				 .parked_room = slots_count(slots) };
	int err;

	server.parked = calloc(server.parked_room, sizeof(*server.parked));
	if (!server.parked)
		return -ENOMEM;
	watch_crashes(slots);
	memory_return_freed();
	stats_set(COUNTER_requests_under_way, 0); /* those of the server before */
	spin_init(&server.spin, served->config->spin, processors_count());
	err = run_threads(&server);
	free(server.parked);
	return err;
}
