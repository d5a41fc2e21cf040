/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_kit.h: a view's samples from one line of text, and its paths as another. */
#ifndef GRANARY_TESTS_UNIT_INDEXER_VIEW_KIT_H
#define GRANARY_TESTS_UNIT_INDEXER_VIEW_KIT_H

#include "unit.h"

#include "view/view.h"

enum { SHARDS_MOST = 4 };

struct run {
	struct view *view;
	struct samples *shards[SHARDS_MOST];
	struct entries *logs[SHARDS_MOST];
	size_t count;
	struct findings *findings;
	int err; /* of view_seal */
	struct error why;
};

extern const struct source_owner kit_owner;

/*
 * Groups apart by spaces, shards by `|`, each
 *
 *	SPLIT:NAME:LABELS:ROWS[:LABEL,LABEL,...[:NAME,NAME,...[:CLASS,CLASS,...]]]
 *
 * LABELS may be empty (none). A LABEL that is no number is the class of its sample, and
 * one that begins with @ that of the group. A NAME may be empty (none). CLASS is what
 * labels are called from 0 on, - where it is nothing. Labels and names are repeated as
 * often as it takes.
 */
struct run kit_run_with(const char *script, const struct view_config *config);
struct run kit_run(const char *script, enum view_kind kind);
void kit_end(struct run *run);

/* The caller frees it. */
char *kit_paths(const struct run *run);

#endif
