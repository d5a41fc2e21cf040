/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * webdataset.h: shards of WebDataset become samples with classes.
 *
 * A tar or zip whose members are samples with labels (samples/wds_samples.h, wds_labels.h) is
 * taken apart: each member of a labelled sample becomes a sample of its class, under the
 * name that it had. What is in no labelled sample stays in the log, but for what WebDataset
 * itself skips (`__x__/`). One without labels stays as it is, and so does one with hard
 * links, with packed files inside, or with compressed members of more than 64 MiB.
 *
 * Threads: shards may be taken by several threads at once, each by one.
 */
#ifndef GRANARY_SAMPLES_WEBDATASET_H
#define GRANARY_SAMPLES_WEBDATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "format/format.h"
#include "samples/wds_labels.h"
#include "samples/wds_splits.h"

/* Why labels of a shard are not used. */
enum wds_reason {
	WDS_NO_REASON,
	WDS_LABELS_APART,  /* they do not lie beside their images */
	WDS_FEW_LABELS,    /* most samples have none that can be used */
	WDS_WNIDS,         /* they are wnids in the names */
	WDS_DOTS,          /* keys have dots, so several samples are one */
	WDS_OTHER_SUFFIX,  /* they may be members with a suffix of their own, */
	WDS_OTHER_ITEM,    /* or an item of the .json */
	WDS_REASONS
};

enum { WDS_SENTENCE_BYTES = 480 };

/* The findings of a shard: those of a set are merged into one (wds_report.h). */
struct wds_findings {
	const char *label;      /* for messages: the scan's */
	const char *split;      /* the config's */
	uint64_t samples;       /* 0: it is no tar or zip, or none that was looked at */
	bool paired;            /* most of them have several members, labels or none */
	bool taken;             /* they have become samples of classes */
	enum wds_reason reason; /* why not, where it is known, */
	bool sure;              /* and beyond doubt */
	char sentence[WDS_SENTENCE_BYTES]; /* about the reason, the shard's name before it */
	uint64_t skipped;       /* members that are not shown, as WebDataset skips them */
	char first_skipped[64];
	uint64_t several;       /* samples of several images: of the first of them */
	char first_several[64]; /* its key, */
	char images[64];        /* ".jpg, .seg.png", */
	bool one_is_plain;      /* and whether sidecars=hide leaves one of them */
	struct wds_splits splits; /* that its samples say; wds_splits_free */
};

/* A source: what its scan has left, and what it is as a shard. */
struct wds_shard {
	const struct scan *scan;
	struct wds_findings *findings;
};

struct webdataset_config {
	bool classes;        /* view=class: a wnid in a name is a label, too, and labels
				that cannot be read are an error */
	int sidecars;        /* SIDECARS_ of place/format_options.h */
	const char *labels;  /* labels=NAME: a suffix, or an item of the .json; or NULL */
	const char *split;   /* of this shard (names/split_words.h); NULL: none */
	struct wds_findings *findings; /* filled in; NULL: nobody asks */
};

/*
 * Looks at the entries of a tar or zip that has been scanned, and makes samples of them if it
 * holds any. scan->entries is then another log, with what remains. 0, or a negative errno
 * and a sentence.
 */
int webdataset_make_samples(struct scan *scan, const struct webdataset_config *config,
			    struct error *e);

#endif
