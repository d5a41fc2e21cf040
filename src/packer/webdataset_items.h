/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * webdataset_items.h: files as members of WebDataset samples; the rules are plan.h's.
 */
#ifndef GRANARY_PACKER_WEBDATASET_ITEMS_H
#define GRANARY_PACKER_WEBDATASET_ITEMS_H

#include "packer/plan.h"

/*
 * Appends the members of all samples to plan->items, in order and sample by sample, and
 * plan->classes; the items' label is their class. 0, or a negative errno and a sentence.
 */
int samples_make(const struct scan *scan, bool decode, struct plan *plan, struct error *e);

/* Do two items belong to one sample? Both are members of one. */
bool samples_same(const struct plan_item *a, const struct plan_item *b);

#endif
