/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page_cache.h: fills the kernel's page cache, and drops from it. Private to fuse/.
 *
 * A store waits while a read of the same page is under way. So only threads that do
 * nothing else may call the sink, and a file that is being read is refused. That makes
 * waits rare, not impossible: a read may have been sent, and not been received.
 *
 * Threads: the sink by prefetch threads, the others by any.
 */
#ifndef GRANARY_FUSE_PAGE_CACHE_H
#define GRANARY_FUSE_PAGE_CACHE_H

#include "fuse/ops.h"
#include "fuse/slots.h"
#include "prefetch/prefetch.h"

struct push;

/* NULL: out of memory. Both arguments must outlive the result. */
struct push *push_new(struct fuse_session *fuse, const struct served *served);
void push_free(struct push *push);

const struct prefetch_sink *push_sink(const struct push *push);

/* Call these around each read of a file; `push` may be NULL. */
void push_read_begins(struct push *push, uint32_t node);
void push_read_ends(struct push *push, uint32_t node);

/*
 * The process ends without a successor: stops stores and drops, and waits for those under
 * way, if need be by answering the reads in `slots`, and requests not received yet, with
 * an error. For signal handlers; `push` may be NULL.
 */
void push_end(struct push *push, struct slots *slots, int connection);

#endif
