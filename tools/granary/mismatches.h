/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mismatches.h: findings of granary verify, printed at once.
 */
#ifndef GRANARY_TOOL_FINDINGS_H
#define GRANARY_TOOL_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "os/lock.h"

enum problem {
	PROBLEM_CHECKSUM,  /* of the index */
	PROBLEM_UNDECODED, /* stored bytes cannot be decoded */
	PROBLEM_READ,      /* the storage failed */
	PROBLEM_CUT_OFF,   /* a packed file is shorter than it was */
	PROBLEM_CHANGED,   /* it is longer, or begins or ends otherwise */
	PROBLEM_INDEX,     /* the index is damaged */
	PROBLEM_HEADER,    /* a header of a packed file differs from the index */
	PROBLEM_MISSING,   /* in the directory or the manifest, and not packed */
	PROBLEM_EXTRA,     /* packed, and not in the directory */
	PROBLEM_KIND,      /* differs from the directory's, as the next two */
	PROBLEM_SIZE,
	PROBLEM_BYTES,
	PROBLEM_MANIFEST,  /* its SHA-256 differs from the manifest */
	PROBLEM_COUNT
};

/* `source` NULL: no place is known. */
struct mismatch {
	enum problem problem;
	const char *path;   /* in the tree; of a packed file itself, its own */
	const char *detail; /* the rest of the sentence */
	const char *source; /* the packed file, */
	uint64_t offset;    /* and where in it; bytes */
};

struct mismatches {
	struct json *json;  /* an open array; NULL: print lines of text */
	struct lock lock;
	uint64_t counts[PROBLEM_COUNT]; /* lock */
};

void mismatches_add(struct mismatches *findings, const struct mismatch *finding);

/* All findings; those that are read errors. */
uint64_t mismatches_count(const struct mismatches *findings);
uint64_t mismatches_unreadable(const struct mismatches *findings);

#endif
