/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_run.h: one scan of a file by a format, and what came of it.
 */
#ifndef GRANARY_TESTS_SCAN_RUN_H
#define GRANARY_TESTS_SCAN_RUN_H

#include "unit.h"

#include "build/findings.h"
#include "format/format.h"

enum { RUN_SOURCE = 3 }; /* its number */

struct run {
	struct source *source;
	struct entries *entries;
	struct samples *samples;
	struct error e;
	struct scan scan;
	struct findings findings; /* told by run_end */
	struct row_options rows;
	uint64_t position, passed; /* bytes and entries that it said it has passed */
	int err;
};

/*
 * Scans the file from byte `base` on; `labels` is labels=NAME, or NULL, `arrays` view=arrays.
 * run_end in any case.
 */
void run_scan(struct run *run, const char *format, const char *path, uint64_t base,
	      const char *labels, bool arrays);
void run_end(struct run *run);

/* The output of `print` for each entry, a line each; the caller frees it. */
char *run_list_entries(const struct run *run, void (*print)(FILE *out, const struct run *run,
						       const struct entry *entry));

#endif
