/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page_cache.h: bytes into the kernel's page cache, and out of it, before or after somebody
 * reads them. Private to fuse/.
 *
 * A store waits for the page while a read of it is under way, for as long as that takes:
 * so only threads that do nothing else may call the sink, and a file that is being
 * read is refused, which makes that rare. It cannot be made impossible: a read may have
 * been sent that nobody has received yet.
 *
 * Threads: the sink by prefetch threads, the others by any.
 */
#ifndef GRANARY_FUSE_PAGE_CACHE_H
#define GRANARY_FUSE_PAGE_CACHE_H

#include "fuse/ops.h"
#include "fuse/slots.h"
#include "prefetch/prefetch.h"

struct push;

/* NULL: out of memory. Both must outlive it. */
struct push *push_new(struct fuse_session *fuse, const struct served *served);
void push_free(struct push *push);

const struct prefetch_sink *push_sink(const struct push *push);

/* Around each read of a file; `push` may be NULL. */
void push_read_begins(struct push *push, uint32_t node);
void push_read_ends(struct push *push, uint32_t node);

/*
 * The process is going to end, and nobody will follow it: from now on nothing is stored
 * or dropped, and what is under way is waited for, if need be by giving up the reads in
 * `slots` and all that is not received yet, which is answered with an error. For signal
 * handlers; `push` may be NULL.
 */
void push_end(struct push *push, struct slots *slots, int connection);

#endif
