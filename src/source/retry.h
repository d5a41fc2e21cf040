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

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/local_file.h"

/* What is known of the storage under one source. */
struct retry {
	char *place; /* the file's absolute path, to open it again; owned; or NULL */
	_Atomic int64_t failing_until; /* milliseconds; 0: it does not fail */
	_Atomic unsigned reopenings;
	_Atomic bool streaming; /* what is read is kept by the reader, not by the kernel, */
	_Atomic bool ours;      /* though it was there before: then it is there for us */
};

/* `fd`: the source's descriptor. */
void retry_init(struct retry *retry, int fd);
void retry_free(struct retry *retry);

/*
 * Reads exactly `length` bytes: 0, or a negative errno, which is the storage's own.
 * A file that has become shorter than `info` says is -EIO at once. *offset moves on,
 * and so says where it failed. `fd` may be another open file afterwards; it stays the
 * same number.
 */
int retry_pread(struct retry *retry, int fd, const struct source_info *info,
		void *buffer, size_t length, uint64_t *offset);

/*
 * Opens what is at this place if it still is the same file: 0 and a descriptor, -EXDEV
 * where it is another one, or why it cannot be opened. A process that may open nothing
 * has another one do that (source_open_by).
 */
typedef int retry_opener(const char *place, const struct source_info *info, int *fd);
retry_opener retry_open;
void retry_open_by(retry_opener *opener);

#endif
