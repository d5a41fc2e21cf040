/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stream_jobs.h: windows that hold a compressed stream, scanned in the stream.
 *
 * Private to indexer/. Threads: the job's.
 */
#ifndef GRANARY_INDEXER_STREAM_JOBS_H
#define GRANARY_INDEXER_STREAM_JOBS_H

#include "indexer/jobs.h"

/*
 * If the job's window, which begins with the `n` bytes at `head`, is a stream of a format
 * that can be read in it: the job becomes one on that stream, and gets its format. 0, also
 * where it is none, or an error.
 */
int stream_job_enter(struct job *job, const unsigned char *head, size_t n, struct error *e);

/* The scan's open_stream. */
const struct source *stream_job_open_member(struct scan *scan, bool deflate, uint64_t base,
					    uint64_t length, uint32_t *number);

/* If the file beside the job's that may have its labels is a stream: decodes it. */
int stream_job_open_labels(struct job *job, struct error *e);

/*
 * Ends the scan of a job: decodes the rest of its stream, if it has one. `err` and *e are
 * those of the scan; returns those of the stream where they say more.
 */
int stream_job_end(struct job *job, int err, struct error *e);

/* Puts the stream before what is said of the format for `granary info`. */
void stream_job_describe(struct job *job);

/* For the progress: bytes of a shard's stream that were decoded since the last call; 0 of
   jobs inside it. */
uint64_t stream_job_passed(struct job *job);

/* The streams for the builder, in the order of their numbers. 0 or -ENOMEM. */
int stream_jobs_record(const struct indexer *indexer, struct stream_record **out);

void stream_jobs_free(struct indexer *indexer);

#endif
