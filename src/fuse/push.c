#include "fuse/push.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { COUNTERS = 4096 };

struct push {
	struct fuse_session *fuse;
	const struct served *served;
	struct prefetch_sink sink;
	/* reads under way, by the file's number: two files may share a counter */
	_Atomic unsigned reads[COUNTERS];
};

static int store(void *context, uint32_t node, uint64_t offset, const void *bytes,
		 size_t length)
{
	struct push *push = context;
	struct fuse_bufvec pieces = FUSE_BUFVEC_INIT(length);

	if (atomic_load(&push->reads[node % COUNTERS]) > 0)
		return -EBUSY;
	pieces.buf[0].mem = (void *)(uintptr_t)bytes; /* only read from */
	return fuse_lowlevel_notify_store(push->fuse, ops_inode(push->served, node),
					  (off_t)offset, &pieces, 0);
}

static int drop(void *context, uint32_t node)
{
	struct push *push = context;

	if (atomic_load(&push->reads[node % COUNTERS]) > 0)
		return -EBUSY;
	return fuse_lowlevel_notify_inval_inode(push->fuse, ops_inode(push->served, node), 0,
						0);
}

struct push *push_new(struct fuse_session *fuse, const struct served *served)
{
	struct push *push = calloc(1, sizeof(*push));

	if (push) {
		push->fuse = fuse;
		push->served = served;
		push->sink = (struct prefetch_sink){ push, store, drop };
	}
	return push;
}

void push_free(struct push *push)
{
	free(push);
}

const struct prefetch_sink *push_sink(const struct push *push)
{
	return &push->sink;
}

void push_read_begins(struct push *push, uint32_t node)
{
	if (push)
		atomic_fetch_add(&push->reads[node % COUNTERS], 1);
}

void push_read_ends(struct push *push, uint32_t node)
{
	if (push)
		atomic_fetch_sub(&push->reads[node % COUNTERS], 1);
}
