/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * extract.h: writes what was selected of a dataset into a directory.
 */
#ifndef GRANARY_TOOL_EXTRACT_H
#define GRANARY_TOOL_EXTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "landing.h"
#include "select.h"

struct extract_options {
	const char *destination;   /* for messages */
	enum landing_existing existing;
	bool keep_going;           /* after a failure */
	bool quiet;                /* no progress */
	unsigned threads;
};

struct extract_report {
	uint64_t files, directories, symlinks, links; /* made now */
	uint64_t bytes;
	uint64_t skipped;     /* were there already */
	uint64_t failed;      /* each has been said */
	uint64_t damaged;     /* of these: what is packed is not what it should be */
	uint64_t xattrs_left; /* extended attributes that could not be set */
	int signal;           /* that has ended it; 0: none */
};

/*
 * In a child without rights, whose parent is an outpost (outpost.h), of as many channels as
 * threads. By one thread, which takes TERM, INT and HUP meanwhile: the first ends the work, with
 * nothing temporary left, and is then in the report; one that comes later ends the process.
 * 0, or a negative errno and a sentence.
 */
int extract_run(const struct dataset *dataset, const struct selection *selection,
		const struct extract_options *options, struct extract_report *report,
		struct error *e);

#endif
