/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_labels.h: what the labels of WebDataset's samples say.
 *
 * Threads: a reader belongs to one thread.
 */
#ifndef GRANARY_SAMPLES_WDS_LABELS_H
#define GRANARY_SAMPLES_WDS_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "samples/wds_samples.h"
#include "samples/wds_splits.h"
#include "samples/wds_window.h"

enum wds_label_kind {
	WDS_LABEL_NUMBER, /* a member that is a number in ASCII: .cls */
	WDS_LABEL_TEXT,   /* the same, or a class's name: what labels= says */
	WDS_LABEL_JSON,   /* an item of an object: .json */
	WDS_LABEL_PICKLE, /* a pickled int: output.pyd */
	WDS_LABEL_KEY,    /* no member: the key's own name begins with a wnid */
};

/* Where the label of a sample is. */
struct wds_rule {
	enum wds_label_kind kind;
	const char *suffix; /* of the member */
	const char *item;   /* of a JSON object; NULL: "label", then "class" */
	const char *name;   /* for people: ".cls" */
};

/* The members that may be labels, in order; `labels` (labels=NAME) may be NULL. At most
   WDS_RULES_MOST of them: how many. */
enum { WDS_RULES_MOST = 4 };
size_t wds_rules(const char *labels, struct wds_rule *out);

enum {
	WDS_CLASS_BYTES = 256,
	WDS_ITEM_BYTES = 40, /* of an item's name */
};

struct wds_label {
	enum { WDS_NONE, WDS_NUMBER, WDS_NAME } kind;
	int64_t number;
	char name[WDS_CLASS_BYTES];
	struct wds_split split;      /* that a .json says beside it */
	char rival[WDS_ITEM_BYTES]; /* an item of the .json that may be a label, too; "": none */
	uint32_t rival_hash;         /* of its text; 0: it has none */
};

/* The member that holds the label; NULL: none, or the key itself. */
const struct wds_member *wds_label_member(const struct wds_rule *rule,
					  const struct wds_sample *sample);

/* Does the key's own name begin with a wnid that is not that of its directory? */
bool wds_key_is_label(const struct wds_sample *sample);

/*
 * Reads a label: 0 and WDS_NONE where the sample has none; 0; -EBADMSG where it cannot be
 * understood, and *why says so (out->kind is WDS_NAME where a .json has a text that no
 * class can be called); or another negative errno.
 */
int wds_label_read(struct wds_window *window, const struct wds_rule *rule,
		   const struct wds_sample *sample, struct wds_label *out,
		   const char **why);

/*
 * Calls `visit` for each item of a .json but "label" and "class": what labels=NAME would
 * take. A .json that is none has no items. 0, or a negative errno.
 */
typedef void wds_visit_item(void *context, const char *name, size_t n,
			    const struct wds_label *label);
int wds_label_items(struct wds_window *window, const struct wds_member *member,
		    wds_visit_item *visit, void *context);

#endif
