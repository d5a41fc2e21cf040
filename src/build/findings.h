/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * findings.h: what `granary info` has to say besides where names and labels come from.
 *
 * A scan adds what it has chosen, what else was possible and what it leaves out to its list.
 * The lists of all scans are told once, in their order, by the log and by `granary info`,
 * in the same words.
 *
 * Threads: one list belongs to one thread at a time.
 */
#ifndef GRANARY_BUILD_FINDINGS_H
#define GRANARY_BUILD_FINDINGS_H

#include "base/vec.h"
#include "index/index.h"

/* Adds a line to the summary's notes. "..." marks the end of the room. */
void note(struct index_summary *summary, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

enum { FINDINGS_MOST = 10 }; /* of one packed file; the rest is counted */

struct findings {
	VEC(char *) items;
	uint64_t more;
};

/* A sentence, with the option that chooses otherwise. */
void findings_add(struct findings *findings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void findings_free(struct findings *findings);

/* Says them to the log, of the packed file that `label` names. */
void findings_log(const struct findings *findings, const char *label);

/* Adds them to the summary's notes; `label` NULL: there is one packed file alone. */
void findings_note(const struct findings *findings, const char *label,
		   struct index_summary *summary);

#endif
