/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * retry.h: reading from storage that fails now and then. Private to source/.
 *
 * Storage on a network fails for moments: a server is replaced by another, a client
 * is cut off and let in again. A read that fails with such an error is tried again
 * after a pause, four times within about a second. A file whose descriptor has gone
 * stale is opened again, and if it still is the same file, takes the descriptor's
 * place.
 *
 * Where that does not help, the source counts as failing: for some seconds after
 * each failure its reads are tried once, so that a dead shard does not hold the
 * threads that other shards need. A read that succeeds ends that.
 *
 * Threads: retry_pread may be called by any number of threads at once.
 */
#ifndef GRANARY_SOURCE_RETRY_H
#define GRANARY_SOURCE_RETRY_H

#include <stddef.h>
#include <stdint.h>

struct source;

/*
 * The operation `pread` of a local file: the error is the storage's own. A file that has
 * become shorter is -EIO at once. The descriptor may be another open file afterwards; it
 * stays the same number.
 */
int retry_pread(const struct source *source, void *buffer, size_t length,
		uint64_t *offset);

#endif
