/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * findings.h: sentences for a dataset's user: bytes that are not shown, the reading that
 * was chosen of several, options without effect; each with the option that chooses
 * otherwise.
 *
 * Each scan has a list of its own. The lists are joined, sorted, and equal sentences of
 * several files become one with their number. Then the log and the index have the same
 * lines: `granary info` and the log of each mount show those of the index.
 *
 * Threads: one list belongs to one thread at a time.
 */
#ifndef GRANARY_BUILD_FINDINGS_H
#define GRANARY_BUILD_FINDINGS_H

#include <stdint.h>

#include "base/vec.h"

/* In the order in which they are told. */
enum finding_kind {
	FINDING_LEFT_OUT, /* not shown, or not where its user looks for it */
	FINDING_CHOSEN,	  /* one of several readings */
	FINDING_UNUSED,	  /* an option without effect */
	FINDING_USUAL,	  /* as most users expect it: the log has it as information */
};

enum {
	FINDINGS_MOST = 10,		 /* of one packed file; more are counted */
	FINDINGS_BYTES_MOST = 16 * 1024, /* of all lines in an index */
};

struct finding;
struct image;

struct findings {
	const char *file; /* before each sentence; NULL: they are of the whole dataset */
	VEC(struct finding) items;
	uint64_t more;
};

/* A sentence. `findings` may be NULL: nobody asks. */
void findings_add(struct findings *findings, enum finding_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void findings_free(struct findings *findings);

/* Moves all of `from` behind those of `to`, or drops them (NULL), and frees it. `from->file`
   must live as long as `to`. */
void findings_join(struct findings *to, struct findings *from);

/*
 * Sorts them, joins equal sentences, and tells each as a line: to the log, and to the index,
 * unless `image` is NULL. Those beyond FINDINGS_BYTES_MOST are counted. 0 or -ENOMEM.
 */
int findings_publish(struct findings *findings, struct image *image);

#endif
