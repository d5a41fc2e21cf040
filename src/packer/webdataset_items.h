/* SPDX-License-Identifier: GPL-3.0-or-later */
/* webdataset_items.h: makes files members of WebDataset samples; plan.h has the rules. */
#ifndef GRANARY_PACKER_WEBDATASET_ITEMS_H
#define GRANARY_PACKER_WEBDATASET_ITEMS_H

#include "packer/plan.h"

/*
 * Appends the members of all samples to plan->items, in order, and their classes to
 * plan->classes; an item's label is its class. 0, or a negative errno and a sentence.
 */
int webdataset_items_make(const struct pack_scan *scan, bool decode, struct plan *plan,
			  struct error *e);

/* Do two members belong to one sample? */
bool webdataset_items_same(const struct plan_item *a, const struct plan_item *b);

#endif
