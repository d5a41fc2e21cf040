/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mismatches.h: what granary verify has found wrong, said as it is found.
 *
 * Threads: finding_add by any number at once; the others by one.
 */
#ifndef GRANARY_TOOL_FINDINGS_H
#define GRANARY_TOOL_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "os/lock.h"

enum problem {
	PROBLEM_CHECKSUM,  /* of the index */
	PROBLEM_UNDECODED, /* what is stored makes no sense */
	PROBLEM_READ,      /* the storage said no */
	PROBLEM_CUT_OFF,   /* a packed file is shorter than it was */
	PROBLEM_CHANGED,   /* it is longer, or begins or ends otherwise */
	PROBLEM_INDEX,     /* the index leads nowhere */
	PROBLEM_HEADER,    /* a packed file says another thing of what is in it than it did */
	PROBLEM_MISSING,   /* in the directory or the manifest, and not packed */
	PROBLEM_EXTRA,     /* packed, and not in the directory */
	PROBLEM_KIND,      /* of the directory's, and so are the next */
	PROBLEM_SIZE,
	PROBLEM_BYTES,
	PROBLEM_MANIFEST,  /* another SHA-256 than the manifest has */
	PROBLEM_COUNT
};

/* `source` may be NULL: then there is no place to name. */
struct finding {
	enum problem problem;
	const char *path;   /* in the tree; of a packed file itself, its own */
	const char *detail; /* the rest of the sentence */
	const char *source; /* the packed file, */
	uint64_t offset;    /* and where in it; bytes */
};

struct findings {
	struct json *json;  /* NULL: lines of text; otherwise within an array */
	struct lock lock;
	uint64_t counts[PROBLEM_COUNT]; /* lock */
};

void finding_add(struct findings *findings, const struct finding *finding);

/* How many there are in all; those that are the storage's fault alone. */
uint64_t findings_count(const struct findings *findings);
uint64_t findings_unreadable(const struct findings *findings);

#endif
