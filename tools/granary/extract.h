/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * extract.h: writes the selected files of a dataset into a directory.
 */
#ifndef GRANARY_TOOL_EXTRACT_H
#define GRANARY_TOOL_EXTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "safe_output.h"
#include "select.h"

struct extract_options {
	const char *destination;   /* for messages */
	enum existing_policy existing;
	bool keep_going;           /* after a failure */
	bool quiet;                /* no progress */
	unsigned threads;
};

struct extract_report {
	uint64_t files, directories, symlinks, links; /* made by this run */
	uint64_t bytes;
	uint64_t skipped;     /* existed already */
	uint64_t failed;      /* each has been reported */
	uint64_t damaged;     /* of these: the packed bytes are damaged */
	uint64_t xattrs_left; /* extended attributes that were not set */
	int signal;           /* that stopped the work; 0: none */
};

/*
 * Runs in a child without rights; the parent makes the files (extract_files.h) with as
 * many channels as threads. Call it from one thread. Catches TERM, INT and HUP: the first
 * stops the work, leaves nothing temporary, and is in the report; a later one ends the
 * process. 0, or a negative errno and *e.
 */
int extract_run(const struct dataset *dataset, const struct selection *selection,
		const struct extract_options *options, struct extract_report *report,
		struct error *e);

#endif
