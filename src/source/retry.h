/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * retry.h: reads from storage with temporary failures. Private to source/.
 *
 * Network storage fails for moments: another server takes over, a client is evicted and
 * connects again. A read that fails with such an error is repeated after a pause, four
 * times within about a second. A file with a stale descriptor (ESTALE) is opened again;
 * if it still is the same file, the new descriptor replaces the old one.
 *
 * If all attempts fail, the source counts as failing: for some seconds after each failure
 * its reads get one attempt, so that a dead shard does not hold the threads that other
 * shards need. A successful read ends this state.
 *
 * Threads: retry_pread may be called by any number of threads at once.
 */
#ifndef GRANARY_SOURCE_RETRY_H
#define GRANARY_SOURCE_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;

/*
 * The operation `pread` of a local file: the error is the storage's own. A file that has
 * become shorter is -EIO at once. The descriptor may be another open file afterwards; it
 * stays the same number.
 */
int retry_pread(const struct source *source, void *buffer, size_t length,
		uint64_t *offset, bool again);

#endif
