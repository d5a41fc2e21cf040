/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * survey.h: reads every file of a dataset, by several threads, in the order of storage.
 *
 * Small files that are stored together, undecoded, come from one read of the packed file;
 * the kernel drops the pages that it fetched. Files and their blocks are compared with
 * the index's checksums, if it has any. Memory: a MiB a thread, and 16 bytes a file.
 *
 * Threads: survey_run by one; it calls `ops` from threads of its own.
 */
#ifndef GRANARY_DATASET_SURVEY_H
#define GRANARY_DATASET_SURVEY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dataset/dataset.h"

enum { SURVEY_THREADS_MOST = 64 };

struct survey_file {
	uint32_t node;
	uint64_t size;
	uint64_t sum; /* of its bytes (index/checksum.h), if the read succeeded */
	const struct read_fault *fault; /* NULL: none */
};

/* `worker` is below SURVEY_THREADS_MOST; a file is one worker's, from first to last. */
struct survey_ops {
	/*
	 * A file's bytes, piece after piece; each piece begins and ends at a block of
	 * BLOCK_BYTES (index/block_sums.h). Not called for an empty file. May be NULL.
	 */
	void (*bytes)(void *context, unsigned worker, uint32_t node, uint64_t offset,
		      const void *bytes, size_t length);

	/* Each file once, after its bytes. False: ends the survey. */
	bool (*file)(void *context, unsigned worker, const struct survey_file *file);
};

/* Progress; may be read by another thread. */
struct survey_progress {
	_Atomic uint64_t files, bytes;
	_Atomic uint64_t all_files, all_bytes;
};

struct survey_config {
	unsigned threads; /* 0: by the processors */
	const struct survey_ops *ops;
	void *context;
	struct survey_progress *progress;
};

/* 0, also if files are damaged; -ENOMEM or -EAGAIN: the survey failed. */
int survey_run(struct dataset *dataset, const struct survey_config *config);

#endif
