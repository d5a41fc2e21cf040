/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_rivals.h: what else of a shard's samples may be their labels, and whether it
 * contradicts the labels that are taken.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_SAMPLES_WDS_RIVALS_H
#define GRANARY_SAMPLES_WDS_RIVALS_H

#include "base/vec.h"
#include "build/findings.h"
#include "samples/wds_labels.h"

/* A label and the text of the rival beside it. */
struct wds_rival_pair {
	int64_t label;
	uint32_t text; /* its hash */
};

struct wds_rivals {
	char item[WDS_ITEM_BYTES]; /* of the .json, "label2"; "": there is none */
	VEC(struct wds_rival_pair) pairs;
	size_t compact_at;          /* of pairs */
	char differs[64];           /* the key of the first where the two differ */
};

/*
 * Notes a sample's label, which was read by that rule, and the one that its .json says
 * beside a .cls (NULL: it was not read). 0 or -ENOMEM.
 */
int wds_rivals_add(struct wds_rivals *rivals, const struct wds_rule *rule,
		   const struct wds_sample *sample, const struct wds_label *label,
		   const struct wds_label *json);

void wds_rivals_report(struct wds_rivals *rivals, struct findings *findings);
void wds_rivals_free(struct wds_rivals *rivals);

#endif
