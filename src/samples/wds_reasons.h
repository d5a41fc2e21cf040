/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_reasons.h: why the labels of a tar are not used. Private to samples/.
 *
 * Threads: as the log of entries that is walked.
 */
#ifndef GRANARY_SAMPLES_WDS_REASONS_H
#define GRANARY_SAMPLES_WDS_REASONS_H

#include "samples/wds_labels.h"
#include "samples/webdataset.h"

/* Counts of a tar's samples, and the members that may be their labels. */
struct wds_tar {
	struct entries *log;
	struct wds_window *window;
	struct wds_rule rules[WDS_RULES_MOST];
	size_t rule_count;
	uint64_t total;                 /* samples */
	uint64_t pairs;                 /* of several members */
	uint64_t in_splits;             /* whose key says a split */
	const char *split_suffix;       /* of members that say splits; NULL: there are none */
	uint64_t odd;                   /* that no class can have (wds_sample.odd) */
	uint64_t with[WDS_RULES_MOST];  /* to which a rule may apply */
	uint64_t alone[WDS_RULES_MOST]; /* that are its label, and nothing else */
};

/* Does one of the first labels that a rule names say something? Captions are JSON, too. */
int wds_probe(const struct wds_tar *tar, const struct wds_rule *rule, bool *found);

/* Do half of the samples have it? */
bool wds_is_common(const struct wds_tar *tar, uint64_t count);

/*
 * No rule says the labels of this tar: finds out why, and fills in reason and sentence,
 * if there is anything to say. 0 or a negative errno.
 */
int wds_find_reason(const struct wds_tar *tar, struct wds_findings *out);

/*
 * The same where labels may be under another name: in members of another suffix, in another
 * item of the .json, or behind a dot in the key.
 */
int wds_find_hints(const struct wds_tar *tar, struct wds_findings *out);

/* The reason, of which the sentence leaves no doubt: out->sure may be changed. */
void wds_set_reason(struct wds_findings *out, enum wds_reason reason, const char *format,
		    ...) __attribute__((format(printf, 3, 4)));

#endif
