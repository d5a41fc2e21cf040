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
	char item[WDS_SPLIT_BYTES]; /* of the .json, "label2"; "": there is none */
	VEC(struct wds_rival_pair) pairs;
	size_t compact_at;          /* of pairs */
	unsigned compared;          /* samples whose .cls was compared with their .json */
	char differs[64];           /* the key of the first where the two differ */
};

/*
 * Notes a sample's label, which was read by that rule; of the first samples, what a .json
 * says beside a .cls, of which label->split is filled in. 0 or a negative errno.
 */
int wds_rivals_add(struct wds_rivals *rivals, struct wds_window *window,
		   const struct wds_rule *rule, const struct wds_sample *sample,
		   struct wds_label *label);

void wds_rivals_report(struct wds_rivals *rivals, struct findings *findings);
void wds_rivals_free(struct wds_rivals *rivals);

#endif
