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

struct page_cache;

/*
 * `mountpoint`: where the kernel can be made to look files up, or NULL. All arguments must
 * outlive the result. NULL: out of memory.
 */
struct page_cache *page_cache_new(struct fuse_session *fuse, const struct served *served,
				  const char *mountpoint);
void page_cache_free(struct page_cache *push);

const struct prefetch_sink *page_cache_sink(const struct page_cache *push);

/* Call these around each read of a file; `push` may be NULL. */
void page_cache_read_begins(struct page_cache *push, uint32_t node);
void page_cache_read_ends(struct page_cache *push, uint32_t node);

/*
 * The process ends without a successor: stops stores and drops, and waits for those under
 * way, if need be by answering the reads in `slots`, and requests not received yet, with
 * an error. For signal handlers; `push` may be NULL.
 */
void page_cache_stop(struct page_cache *push, struct slots *slots, int connection);

#endif
