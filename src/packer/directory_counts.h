/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * directory_counts.h: counts the files of a plan in each directory at the top. In the
 * layout "jsc" these directories are the splits, whose tables are created before their
 * rows come.
 */
#ifndef GRANARY_PACKER_DIRECTORY_COUNTS_H
#define GRANARY_PACKER_DIRECTORY_COUNTS_H

#include "base/vec.h"
#include "packer/plan.h"
#include "packer/writer.h"

struct directory_counts {
	VEC(struct writer_split) list; /* in the order of the plan */
	struct arena names;
};

/*
 * 0 or -ENOMEM; call directory_counts_free in any case. Files at the top are in no split.
 */
int directory_counts_make(struct directory_counts *splits, const struct plan_item *items,
		       size_t count);
void directory_counts_free(struct directory_counts *splits);

#endif
