/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_files.h: the files of a trace, by the digests of their hashes, and their paths.
 *
 * At most four million files and 256 MiB of paths; those beyond are not known.
 *
 * Threads: one.
 */
#ifndef GRANARY_REPORT_TRACE_FILES_H
#define GRANARY_REPORT_TRACE_FILES_H

#include <stdint.h>

#include "base/idmap.h"
#include "base/pyjson.h"
#include "base/vec.h"

enum { NO_FILE = UINT32_MAX };

struct trace_file {
	uint64_t digest;
	uint32_t path;  /* where in the text, + 1; 0: unknown */
	uint32_t epoch; /* the last one that it was seen in, */
	uint64_t seen;  /* and at which access: epochs.h */
	uint32_t shard; /* its number + 1 among those of figures.h */
};

struct trace_files {
	struct idmap map;
	VEC(struct trace_file) files;
	VEC(char) text;
};

void trace_files_free(struct trace_files *files);

/* The number of a file, which is added if it is new; or NO_FILE. */
uint32_t trace_files_find(struct trace_files *files, uint64_t digest);

/* Keeps the path of a file. */
void trace_files_name(struct trace_files *files, uint64_t digest,
		      const struct pyjson_value *path);

/* "" if it is not known. */
const char *trace_files_path(const struct trace_files *files, uint32_t file);

#endif
