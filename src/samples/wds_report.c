/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "names/split_words.h"

enum { COUNT_BYTES = 48 };

struct set {
	const struct wds_findings *const *shards;
	size_t n;
	struct findings *findings;
};

/* " (3 such shards)", or nothing where there is but one. */
static const char *count_text(size_t count, char out[COUNT_BYTES])
{
	out[0] = '\0';
	if (count > 1)
		snprintf(out, COUNT_BYTES, " (%zu such shards)", count);
	return out;
}

/* Of the first shard with this reason. */
static void report_reason(const struct set *set, enum wds_reason reason)
{
	const struct wds_findings *first = NULL;
	char text[COUNT_BYTES];
	bool sure = false;
	size_t count = 0;

	for (size_t i = 0; i < set->n; i++) {
		if (set->shards[i]->reason != reason)
			continue;
		sure |= set->shards[i]->sure;
		first = first ? first : set->shards[i];
		count++;
	}
	if (!first)
		return;
	findings_add(set->findings, sure ? FINDING_LEFT_OUT : FINDING_USUAL,
		     "'%s' is shown as it is stored: %s%s", filename_of(first->label),
		     first->sentence, count_text(count, text));
}

static bool same_split(const struct wds_findings *a, const struct wds_findings *b)
{
	return strcmp(a->split ? a->split : "", b->split ? b->split : "") == 0;
}

/* Of which no warning has said more. */
static bool is_unlabelled(const struct wds_findings *shard)
{
	return shard->samples && !shard->taken && !shard->sure;
}

static const struct wds_findings *labelled_in_split(const struct set *set,
						    const struct wds_findings *shard)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->shards[i]->taken && same_split(set->shards[i], shard))
			return set->shards[i];
	return NULL;
}

static bool is_any_converted(const struct set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->shards[i]->taken)
			return true;
	return false;
}

/* Shards without labels, where others of their split have some. */
static void report_unlabelled_shards(const struct set *set)
{
	const struct wds_findings *first = NULL, *other = NULL;
	bool is_any = is_any_converted(set); /* or it would be asked for each shard */
	char text[COUNT_BYTES];
	size_t count = 0;

	for (size_t i = 0; is_any && i < set->n; i++) {
		const struct wds_findings *shard = set->shards[i], *beside;

		if (!is_unlabelled(shard) || !(beside = labelled_in_split(set, shard)))
			continue;
		first = first ? first : shard;
		other = other ? other : beside;
		count++;
	}
	if (!first)
		return;
	findings_add(set->findings, FINDING_LEFT_OUT,
		     "'%s' has no labels, but '%s' has: its samples are shown as they "
		     "are stored, where ImageFolder finds none of them%s; pack it again "
		     "with labels, or mount it alone", filename_of(first->label),
		     filename_of(other->label), count_text(count, text));
}

/* The same, where none of its split has any. */
static void note_unlabelled_split(const struct set *set)
{
	bool taken = is_any_converted(set);

	for (size_t i = 0; i < set->n; i++) {
		const struct wds_findings *shard = set->shards[i];

		if (!is_unlabelled(shard) || !shard->split ||
		    (taken && labelled_in_split(set, shard)) ||
		    (!taken && !shard->paired))
			continue;
		findings_add(set->findings, FINDING_USUAL,
			     "'%s' has no labels, and no other of '%s' has: its samples "
			     "are in no class there", filename_of(shard->label),
			     shard->split);
		return;
	}
}

/* Members that WebDataset skips, of all shards that are shown by class. */
static void report_skipped(const struct set *set)
{
	const struct wds_findings *first = NULL;
	uint64_t count = 0;

	for (size_t i = 0; i < set->n; i++) {
		if (!first && set->shards[i]->skipped)
			first = set->shards[i];
		count += set->shards[i]->skipped;
	}
	if (!first)
		return;
	findings_add(set->findings, FINDING_LEFT_OUT,
		     "'%s': '%s' is not shown by class, as WebDataset skips such names (%"
		     PRIu64 " in all); view=tree shows them", filename_of(first->label),
		     first->first_skipped, count);
}

/* Samples of several images, of all shards that are shown by class. */
static void report_several(const struct set *set)
{
	const struct wds_findings *first = NULL;
	const char *remedy;
	uint64_t count = 0;

	for (size_t i = 0; i < set->n; i++) {
		if (!first && set->shards[i]->several)
			first = set->shards[i];
		count += set->shards[i]->several;
	}
	if (!first)
		return;
	remedy = first->one_is_plain ? "sidecars=hide leaves one" :
				       "its is_valid_file can choose";
	findings_add(set->findings, FINDING_CHOSEN,
		     "'%s': sample '%s' has several images (%s), and ImageFolder takes "
		     "each for a sample (%" PRIu64 " such samples); %s",
		     filename_of(first->label), first->first_several, first->images,
		     count, remedy);
}

/* Samples of several splits by their .json, where no shard's name says one. */
static void say_item_splits(const struct set *set)
{
	const char *first = NULL, *other = NULL;
	const struct wds_findings *shard = NULL;

	for (size_t i = 0; i < set->n && !other; i++) {
		shard = set->shards[i];
		if (!shard->taken || !*shard->item_split)
			continue;
		if (*shard->other_split) {
			first = shard->item_split;
			other = shard->other_split;
		} else if (!shard->split && first &&
			   !split_is_same(first, strlen(first), shard->item_split,
					  strlen(shard->item_split))) {
			other = shard->item_split;
		} else if (!shard->split) {
			first = shard->item_split;
		}
	}
	if (!other)
		return;
	findings_add(set->findings, FINDING_CHOSEN,
		     "'%s': the .json of a sample says the split '%s', and that of another "
		     "one '%s': this is not used, and samples of all splits lie in one "
		     "directory of a class; pack each split into a shard with the split in its name",
		     filename_of(shard->label), other, first);
}

void wds_report(const struct wds_findings *const *shards, size_t n,
		struct findings *findings)
{
	const struct set set = { shards, n, findings };

	for (enum wds_reason reason = WDS_NO_REASON + 1; reason < WDS_REASONS; reason++)
		report_reason(&set, reason);
	report_unlabelled_shards(&set);
	note_unlabelled_split(&set);
	report_skipped(&set);
	report_several(&set);
	say_item_splits(&set);
}
