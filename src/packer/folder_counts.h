/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder_counts.h: counts the files of a plan in each folder at the top. In the layout
 * "jsc" these folders are the splits, whose tables are created before their rows come.
 */
#ifndef GRANARY_PACKER_FOLDER_COUNTS_H
#define GRANARY_PACKER_FOLDER_COUNTS_H

#include "base/vec.h"
#include "packer/plan.h"
#include "packer/writer.h"

struct folder_counts {
	VEC(struct writer_split) list; /* in the order of the plan */
	struct arena names;
};

/* 0 or -ENOMEM; call folder_counts_free in any case. Files at the top are in no split. */
int folder_counts_make(struct folder_counts *splits, const struct plan_item *items,
		       size_t count);
void folder_counts_free(struct folder_counts *splits);

#endif
