/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_rivals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/unique.h"

static int rivals_by_label(const void *left, const void *right)
{
	const struct wds_rival_pair *a = left, *b = right;

	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	return (a->text > b->text) - (a->text < b->text);
}

static int rivals_by_text(const void *left, const void *right)
{
	const struct wds_rival_pair *a = left, *b = right;

	return (a->text > b->text) - (a->text < b->text);
}

/* The .json of a sample whose label is in its .cls. */
static void compare_json(struct wds_rivals *rivals, const struct wds_sample *sample,
			 const struct wds_label *label, const struct wds_label *json)
{
	if (json->kind == WDS_NUMBER && label->kind == WDS_NUMBER &&
	    json->number != label->number && !*rivals->differs)
		snprintf(rivals->differs, sizeof(rivals->differs), "%.*s",
			 sample->key_length < 60 ? (int)sample->key_length : 60, sample->key);
}

int wds_rivals_add(struct wds_rivals *rivals, const struct wds_rule *rule,
		   const struct wds_sample *sample, const struct wds_label *label,
		   const struct wds_label *json)
{
	const struct wds_rival_pair pair = { label->number, label->rival_hash };
	size_t n = rivals->pairs.count;

	if (rule->kind == WDS_LABEL_NUMBER) {
		if (json)
			compare_json(rivals, sample, label, json);
		return 0;
	}
	if (!*rivals->item)
		memcpy(rivals->item, label->rival, sizeof(rivals->item));
	if (label->kind != WDS_NUMBER || !pair.text || strcmp(label->rival, rivals->item) != 0 ||
	    (n && rivals_by_label(&rivals->pairs.items[n - 1], &pair) == 0))
		return 0;
	if (!rivals->compact_at)
		rivals->compact_at = UNIQUE_COMPACT_AT;
	rivals->pairs.count = unique_compact(rivals->pairs.items, n, sizeof(pair),
					     rivals_by_label, &rivals->compact_at);
	return vec_push(&rivals->pairs, pair);
}

/* Has a label two texts, or a text two labels? */
static bool contradict(struct wds_rivals *rivals)
{
	struct wds_rival_pair *items = rivals->pairs.items;
	size_t n = unique_sort(items, rivals->pairs.count, sizeof(*items), rivals_by_label);

	for (size_t i = 1; i < n; i++)
		if (items[i - 1].label == items[i].label)
			return true;
	return unique_sort(items, n, sizeof(*items), rivals_by_text) < n;
}

void wds_rivals_report(struct wds_rivals *rivals, struct findings *findings)
{
	if (*rivals->differs)
		findings_add(findings, FINDING_CHOSEN,
			     "the label in the .json of sample '%s' is another one than that in "
			     "its .cls, which is taken; labels=label takes that of the .json",
			     rivals->differs);
	if (!*rivals->item)
		return;
	if (rivals->pairs.count && contradict(rivals))
		findings_add(findings, FINDING_CHOSEN,
			     "one label has several texts in '%s' of the .json, or one text "
			     "several labels: one of the two is wrong; labels=%s takes the texts",
			     rivals->item, rivals->item);
	else
		findings_add(findings, FINDING_CHOSEN,
			     "'%s' of the .json could be the label, too: labels=%s takes it",
			     rivals->item, rivals->item);
}

void wds_rivals_free(struct wds_rivals *rivals)
{
	vec_free(&rivals->pairs);
}
