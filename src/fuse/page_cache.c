/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/page_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuse/kernel_inodes.h"
#include "fuse/list_all.h"
#include "os/bounded.h"

enum {
	COUNTERS = 4096,
	END_STEP_MS = 1,
	END_GIVE_UP = 100,  /* steps until reads get an error, */
	END_MOST = 5000,    /* and until nothing helps */
};

struct page_cache {
	struct fuse_session *fuse;
	const struct served *served;
	const char *mountpoint;
	struct prefetch_sink sink;
	/* reads under way, by the file's number: two files may share a counter */
	_Atomic unsigned reads[COUNTERS];
	_Atomic unsigned under_way; /* stores and drops, */
	_Atomic bool ending;        /* of which there are to be no more */
};

/*
 * The count is raised first: the thread that ends the pushes sees this call, or this call
 * sees that end.
 */
static bool page_cache_begin(struct page_cache *push, uint32_t node)
{
	atomic_fetch_add(&push->under_way, 1);
	if (!atomic_load(&push->ending) && atomic_load(&push->reads[node % COUNTERS]) == 0)
		return true;
	atomic_fetch_sub(&push->under_way, 1);
	return false;
}

static int page_cache_end(struct page_cache *push, int result)
{
	atomic_fetch_sub(&push->under_way, 1);
	return result;
}

static int store(void *context, uint32_t node, uint64_t offset, const void *bytes,
		 size_t length)
{
	struct page_cache *push = context;
	struct fuse_bufvec pieces = FUSE_BUFVEC_INIT(length);

	if (!page_cache_begin(push, node))
		return -EBUSY;
	pieces.buf[0].mem = (void *)(uintptr_t)bytes; /* only read from */
	return page_cache_end(push,
			      fuse_lowlevel_notify_store(push->fuse,
							 ops_inode(push->served, node),
							 (off_t)offset, &pieces, 0));
}

static int drop(void *context, uint32_t node, uint64_t from)
{
	struct page_cache *push = context;

	if (!page_cache_begin(push, node))
		return -EBUSY;
	return page_cache_end(push,
			      fuse_lowlevel_notify_inval_inode(push->fuse,
							       ops_inode(push->served,
									 node),
							       (off_t)from, 0));
}

static bool knows(void *context, uint32_t node)
{
	const struct page_cache *push = context;

	return inodes_has(push->served->inodes, node);
}

static void look_up(void *context)
{
	const struct page_cache *push = context;

	if (push->mountpoint)
		list_all_directories(push->served, push->mountpoint);
}

struct page_cache *page_cache_new(struct fuse_session *fuse, const struct served *served,
				  const char *mountpoint)
{
	struct page_cache *push = calloc(1, sizeof(*push));

	if (push) {
		push->fuse = fuse;
		push->served = served;
		push->mountpoint = mountpoint;
		push->sink = (struct prefetch_sink){ push, store, drop, knows, look_up };
	}
	return push;
}

void page_cache_free(struct page_cache *push)
{
	free(push);
}

const struct prefetch_sink *page_cache_sink(const struct page_cache *push)
{
	return &push->sink;
}

void page_cache_read_begins(struct page_cache *push, uint32_t node)
{
	if (push)
		atomic_fetch_add(&push->reads[node % COUNTERS], 1);
}

void page_cache_read_ends(struct page_cache *push, uint32_t node)
{
	if (push)
		atomic_fetch_sub(&push->reads[node % COUNTERS], 1);
}

/* The kernel no longer knows a request that was answered meanwhile. */
static void page_cache_refuse(const struct fuse_in_header *request, int connection)
{
	struct fuse_out_header answer = { .len = sizeof(answer), .error = -ENOTCONN,
					  .unique = request->unique };

	if (slots_needs_answer(request) && write(connection, &answer, sizeof(answer)) < 0)
		return;
}

static void fail_reads(struct slots *slots, int connection)
{
	for (unsigned i = 0; i < slots_count(slots); i++) {
		const struct fuse_in_header *request = slots_request(slots, i);

		if (request && request->opcode == FUSE_READ)
			page_cache_refuse(request, connection);
	}
}

/* If every thread has a read that hangs, no thread receives requests. */
static void fail_pending_reads(int connection)
{
	static union {
		struct fuse_in_header request;
		char bytes[SLOTS_REQUEST_MOST];
	} pending;

	fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) | O_NONBLOCK);
	while (read(connection, &pending, sizeof(pending)) >= (ssize_t)sizeof(pending.request))
		page_cache_refuse(&pending.request, connection);
}

/*
 * A thread that waits for a page in the kernel cannot be killed, and holds the connection
 * open. Readers would wait for ever.
 */
void page_cache_stop(struct page_cache *push, struct slots *slots, int connection)
{
	if (!push)
		return;
	atomic_store(&push->ending, true);
	for (int i = 0; i < END_MOST && atomic_load(&push->under_way) > 0; i++) {
		if (i >= END_GIVE_UP) {
			fail_reads(slots, connection);
			fail_pending_reads(connection);
		}
		bounded_pause(END_STEP_MS);
	}
}
