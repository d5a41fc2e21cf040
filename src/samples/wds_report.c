/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_report.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "names/split_words.h"

enum { COUNT_BYTES = 48 };

struct set {
	const struct wds_shard *shards;
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
		if (set->shards[i].findings->reason != reason)
			continue;
		sure |= set->shards[i].findings->sure;
		first = first ? first : set->shards[i].findings;
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
		if (set->shards[i].findings->taken && same_split(set->shards[i].findings, shard))
			return set->shards[i].findings;
	return NULL;
}

static bool is_any_converted(const struct set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->shards[i].findings->taken)
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
		const struct wds_findings *shard = set->shards[i].findings, *beside;

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
		const struct wds_findings *shard = set->shards[i].findings;

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

/* The first shard where a count is not 0, and the sum of all. */
static const struct wds_findings *find_counted(const struct set *set, size_t member,
					       uint64_t *sum)
{
	const struct wds_findings *first = NULL;

	*sum = 0;
	for (size_t i = 0; i < set->n; i++) {
		const struct wds_findings *shard = set->shards[i].findings;
		uint64_t count = *(const uint64_t *)(const void *)((const char *)shard + member);

		first = first || !count ? first : shard;
		*sum += count;
	}
	return first;
}

/* Members that WebDataset skips, of all shards that are shown by class. */
static void report_skipped(const struct set *set)
{
	uint64_t sum;
	const struct wds_findings *first =
		find_counted(set, offsetof(struct wds_findings, skipped), &sum);

	if (first)
		findings_add(set->findings, FINDING_LEFT_OUT,
			     "'%s': '%s' is not shown by class, as WebDataset skips such names (%"
			     PRIu64 " in all); view=tree shows them", filename_of(first->label),
			     first->first_skipped, sum);
}

/* Samples of several images, of all shards that are shown by class. */
static void report_several(const struct set *set)
{
	uint64_t sum;
	const struct wds_findings *first =
		find_counted(set, offsetof(struct wds_findings, several), &sum);

	if (first)
		findings_add(set->findings, FINDING_CHOSEN,
			     "'%s': sample '%s' has several images (%s), and ImageFolder takes "
			     "each for a sample (%" PRIu64 " such samples); %s",
			     filename_of(first->label), first->first_several, first->images, sum,
			     first->one_is_plain ? "sidecars=hide leaves one" :
						   "its is_valid_file can choose");
}

static const char *const split_sources[] = {
	[WDS_SPLIT_OF_MEMBER] = "a member", [WDS_SPLIT_OF_JSON] = "the .json",
	[WDS_SPLIT_OF_KEY] = "the key",
};

/* The first split that samples say, and the first that differs from it, with its shard. */
struct split_pair {
	const char *first, *other;
	enum wds_split_source source; /* of the other */
	const struct wds_findings *shard;
};

/* A split in samples, against the name of their shard, counts within that shard. */
static void find_splits(const struct set *set, struct split_pair *out)
{
	for (size_t i = 0; i < set->n && !out->other; i++) {
		const struct wds_findings *shard = set->shards[i].findings;
		const struct row_splits *said = &shard->splits.said;
		bool second = said->count > 1;

		if (!shard->taken || said->count == 0 || (shard->split && !second))
			continue;
		if (second || !out->first)
			out->first = said->words[0];
		else if (split_is_same(out->first, strlen(out->first), said->words[0],
				       strlen(said->words[0])))
			continue;
		if (out->first != said->words[second])
			out->other = said->words[second];
		out->source = shard->splits.sources[second];
		out->shard = shard;
	}
}

static void report_splits(const struct set *set)
{
	struct split_pair pair = { .first = NULL };

	find_splits(set, &pair);
	if (!pair.other)
		return;
	if (!pair.shard->splits.used)
		findings_add(set->findings, FINDING_CHOSEN,
			     "'%s': %s of a sample says the split '%s', and that of another "
			     "one '%s': this is not used, and samples of all splits lie in one "
			     "directory of a class; pack each split into a shard with the split "
			     "in its name", filename_of(pair.shard->label),
			     split_sources[pair.source], pair.other, pair.first);
	else if (pair.source == WDS_SPLIT_OF_KEY)
		findings_add(set->findings, FINDING_CHOSEN,
			     "'%s': the keys of the samples say their splits ('%s' and '%s'), "
			     "which are directories; view=tree of one file shows it as it is "
			     "stored", filename_of(pair.shard->label), pair.first, pair.other);
}

void wds_report(const struct wds_shard *shards, size_t n,
		struct findings *findings)
{
	const struct set set = { shards, n, findings };

	for (enum wds_reason reason = WDS_NO_REASON + 1; reason < WDS_REASONS; reason++)
		report_reason(&set, reason);
	report_unlabelled_shards(&set);
	note_unlabelled_split(&set);
	report_skipped(&set);
	report_several(&set);
	report_splits(&set);
}
