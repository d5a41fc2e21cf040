/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_build.h: from a log of entries and its labels to samples. Private to samples/.
 *
 * Threads: one build belongs to one thread.
 */
#ifndef GRANARY_SAMPLES_WDS_BUILD_H
#define GRANARY_SAMPLES_WDS_BUILD_H

#include "base/vec.h"
#include "samples/wds_labels.h"
#include "samples/webdataset.h"

/* The label of a sample; of all that are walked, in their order. */
struct wds_record {
	int64_t number;   /* of a name: where it begins in the texts */
	bool named, used; /* used: it has one */
	uint8_t split;    /* as wds_splits_add says it */
};

struct wds_records {
	VEC(struct wds_record) items;
	VEC(char) texts;
};

/* Something that is said once for all samples of a shard that share it. */
struct wds_complaint {
	uint64_t count;
	char why[128];   /* of the first */
	char first[256]; /* what it is */
};

void wds_complaint_add(struct wds_complaint *complaint, const char *path, size_t n,
		       const char *why);

/*
 * Puts the samples into scan->samples, and a new log with what is left in the place of
 * scan->entries. 0, or a negative errno; then scan->entries is as it was.
 */
int wds_build(struct scan *scan, const struct webdataset_config *config,
	      struct wds_window *window, const struct wds_rule *rule,
	      const struct wds_records *records, struct wds_findings *findings);

#endif
