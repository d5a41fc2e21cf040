/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/webdataset.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/findings.h"
#include "names/split_words.h"
#include "samples/wds_build.h"
#include "samples/wds_labels.h"
#include "samples/wds_reasons.h"
#include "samples/wds_rivals.h"
#include "samples/wds_samples.h"

struct webdataset_scan {
	struct scan *scan;
	const struct webdataset_config *config;
	struct wds_findings *findings;
	struct wds_tar tar;
	uint64_t used;               /* samples with a label */
	bool other;                  /* it holds what no WebDataset holds */
	const struct wds_rule *rule; /* the one that counts, once it is chosen */
	struct wds_records records;
	struct wds_complaint broken, missing, odd;
	struct wds_rivals rivals;
};

/* Counting members and samples */

static int see_other(void *context, struct entries *log, const struct entry *entry)
{
	struct webdataset_scan *take = context;

	if (entry->kind == ENTRY_HARDLINK || entry->kind == ENTRY_NESTED)
		take->other = true;
	return 0;
}

/* Calls `look` for each sample, until it says 1 (enough), or something is wrong. */
static int each_sample(struct webdataset_scan *take,
		       int (*look)(struct webdataset_scan *take,
				   const struct wds_sample *sample))
{
	struct wds_walk walk = { .log = take->scan->entries, .other = see_other,
				 .context = take };
	struct wds_sample sample = { 0 };
	int r;

	while ((r = wds_walk_next(&walk, &sample)) == 1) {
		r = look(take, &sample);
		if (r)
			break;
	}
	wds_sample_free(&sample);
	return r < 0 ? r : 0;
}

static int count_sample(struct webdataset_scan *take, const struct wds_sample *sample)
{
	struct wds_tar *tar = &take->tar;

	tar->total++;
	tar->pairs += sample->members.count > 1;
	tar->odd += sample->odd != NULL;
	for (size_t i = 0; i < tar->rule_count; i++) {
		const struct wds_rule *rule = &tar->rules[i];
		bool has = rule->suffix ? wds_label_member(rule, sample) != NULL :
					  wds_key_is_label(sample);

		if (rule->suffix && sample->members.count == 1)
			tar->alone[i] += has;
		else
			tar->with[i] += has;
	}
	return 0;
}

/* The first rule that may say the labels of half of the samples, or NULL. */
static int choose_rule(struct webdataset_scan *take)
{
	for (size_t i = 0; i < take->tar.rule_count && !take->rule; i++) {
		const struct wds_rule *rule = &take->tar.rules[i];
		bool found = true;
		int err = 0;

		if (!wds_is_common(&take->tar, take->tar.with[i]) ||
		    (rule->kind == WDS_LABEL_KEY && !take->config->classes))
			continue;
		if (rule->kind == WDS_LABEL_JSON)
			err = wds_probe(&take->tar, rule, &found);
		if (err)
			return err;
		if (found)
			take->rule = rule;
	}
	return 0;
}

/* Reading all labels */

static int webdataset_add_record(struct webdataset_scan *take,
				 const struct wds_label *label)
{
	struct wds_record record = { .number = label->number,
				     .used = label->kind != WDS_NONE,
				     .named = label->kind == WDS_NAME };
	size_t n = strlen(label->name) + 1;

	if (record.named) {
		size_t at = take->records.texts.count;

		if (vec_reserve(&take->records.texts, n) < 0)
			return -ENOMEM;
		memcpy(take->records.texts.items + at, label->name, n);
		take->records.texts.count += n;
		record.number = (int64_t)at;
	}
	take->used += record.used;
	return vec_push(&take->records.items, record);
}

static void note_split(struct wds_findings *findings, const char *split)
{
	if (!*findings->item_split)
		snprintf(findings->item_split, WDS_SPLIT_BYTES, "%s", split);
	else if (*split && !*findings->other_split &&
		 !split_is_same(split, strlen(split), findings->item_split,
				strlen(findings->item_split)))
		snprintf(findings->other_split, WDS_SPLIT_BYTES, "%s", split);
}

static bool leads_up(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += n + (path[n] == '/');
	}
	return false;
}

/* Why a sample cannot be shown in a class, or NULL. */
static const char *oddity(const struct wds_rule *rule, const struct wds_sample *sample)
{
	const struct wds_member *label = wds_label_member(rule, sample);

	if (sample->odd)
		return sample->odd;
	if (leads_up(sample->members.items[0].path))
		return "leads up, by '..'";
	for (size_t i = 0; i < sample->members.count; i++)
		if (!sample->members.items[i].whole && &sample->members.items[i] != label)
			return "has a sparse member";
	if (label && sample->members.count == 1)
		return "is nothing but a label";
	return NULL;
}

static int read_label(struct webdataset_scan *take, const struct wds_sample *sample)
{
	const struct wds_rule *rule = take->rule;
	const struct wds_member *member = wds_label_member(rule, sample);
	const char *odd = oddity(rule, sample), *why = NULL;
	struct wds_label label = { .kind = WDS_NONE };
	int err = 0;

	if (odd)
		wds_complaint_add(&take->odd, sample->key, sample->key_length, odd);
	else
		err = wds_label_read(take->tar.window, rule, sample, &label, &why);
	if (err == -EBADMSG && member) {
		wds_complaint_add(&take->broken, member->path, strlen(member->path), why);
		label.kind = WDS_NONE;
		err = 0;
	} else if (!err && !odd && label.kind == WDS_NONE) {
		wds_complaint_add(&take->missing, sample->key, sample->key_length, "");
	}
	if (!err && !take->config->labels && label.kind != WDS_NONE)
		err = wds_rivals_add(&take->rivals, take->tar.window, rule, sample, &label);
	if (!split_is_word(sample->key, strcspn(sample->key, "/")))
		note_split(take->findings, label.split);
	return err ? err : webdataset_add_record(take, &label);
}

/* Findings */

static void webdataset_report(struct webdataset_scan *take)
{
	const struct wds_rule *rule = take->rule;
	struct findings *findings = take->scan->findings;

	wds_rivals_report(&take->rivals, findings);
	if (take->broken.count)
		findings_add(findings, FINDING_LEFT_OUT,
			     "the label '%s' %s: without a class, its sample is shown as "
			     "it is stored (%" PRIu64 " such labels)", take->broken.first,
			     take->broken.why, take->broken.count);
	if (take->missing.count && rule->suffix)
		findings_add(findings, FINDING_LEFT_OUT,
			     "sample '%s' has no label in %s, and is shown as it is "
			     "stored (%" PRIu64 " such samples)", take->missing.first,
			     rule->name, take->missing.count);
	if (take->odd.count)
		findings_add(findings, FINDING_LEFT_OUT,
			     "sample '%s' %s, and is shown as it is stored (%" PRIu64 " "
			     "such samples)", take->odd.first, take->odd.why,
			     take->odd.count);
}

/* Where classes were asked for, a tree instead is no answer. */
static int refuse_tree(const struct webdataset_scan *take, struct error *e)
{
	enum wds_reason reason = take->findings->reason;

	if ((reason != WDS_LABELS_APART && reason != WDS_FEW_LABELS) ||
	    (!take->config->classes && !take->config->labels))
		return 0;
	return error_set(e, ERROR_DATASET, EBADMSG, "'%s': %s; view=tree shows it as it is "
			 "stored", take->scan->label, take->findings->sentence);
}

/* More labels are broken than not: a tree is better than a part of a dataset. */
static int webdataset_reject(const struct webdataset_scan *take, struct error *e)
{
	const struct wds_complaint *first =
		take->broken.count ? &take->broken :
		take->missing.count ? &take->missing : &take->odd;

	take->findings->reason = WDS_FEW_LABELS;
	take->findings->sure = true;
	snprintf(take->findings->sentence, sizeof(take->findings->sentence),
		 "%" PRIu64 " of %" PRIu64 " samples have no label in %.20s that can be used "
		 "(the first: '%.60s' %s)", take->tar.total - take->used, take->tar.total,
		 take->rule->name, first->first, *first->why ? first->why : "has none");
	return refuse_tree(take, e);
}

static int webdataset_refuse_labels(const struct webdataset_scan *take, struct error *e)
{
	const char *name = wds_plain_suffix(take->config->labels);

	return error_set(e, ERROR_DATASET, EINVAL,
			 "'%s': too few samples have a '.%s', or a .json with '%s', as "
			 "labels=%s says; without that option it is shown as it is",
			 take->scan->label, name, name, take->config->labels);
}

/* No rule says the labels. */
static int webdataset_keep_tree(const struct webdataset_scan *take, struct error *e)
{
	int err = wds_find_reason(&take->tar, take->findings);

	if (err)
		return err;
	if (take->findings->reason && take->findings->paired)
		snprintf(take->scan->detail, sizeof(take->scan->detail),
			 "WebDataset, no labels are taken");
	if (take->config->labels && take->findings->reason != WDS_LABELS_APART)
		return webdataset_refuse_labels(take, e);
	return refuse_tree(take, e);
}

static int convert_shard(struct webdataset_scan *take, struct error *e)
{
	int err = each_sample(take, count_sample);

	if (err || take->other || take->tar.total == 0)
		return err;
	take->findings->samples = take->tar.total;
	take->findings->paired = wds_is_common(&take->tar, take->tar.pairs);
	err = choose_rule(take);
	if (err)
		return err;
	if (!take->rule)
		return webdataset_keep_tree(take, e);
	err = each_sample(take, read_label);
	if (err)
		return err;
	if (take->used < take->tar.total - take->used)
		return take->rule->suffix ? webdataset_reject(take, e) : 0;
	webdataset_report(take);
	take->findings->taken = true;
	snprintf(take->scan->detail, sizeof(take->scan->detail),
		 "WebDataset, labels from %s", take->rule->name);
	return wds_build(take->scan, take->config, take->tar.window, take->rule,
			 &take->records, take->findings);
}

int webdataset_make_samples(struct scan *scan, const struct webdataset_config *config,
			    struct error *e)
{
	struct wds_findings unasked, *findings = config->findings ? config->findings :
								    &unasked;
	struct webdataset_scan take = { .scan = scan, .config = config,
					.findings = findings,
			     .tar.log = scan->entries, .tar.window = calloc(1, sizeof(*take.tar.window)) };
	int err = -ENOMEM;

	*findings = (struct wds_findings){ .label = scan->label, .split = config->split };
	take.tar.rule_count = wds_rules(config->labels, take.tar.rules);
	e->text[0] = '\0';
	if (take.tar.window) {
		take.tar.window->source = scan->source;
		err = convert_shard(&take, e);
	}
	if (err && !e->text[0])
		err = err == -ENOMEM ? format_no_memory(scan->label, e) :
				       format_unreadable(scan->label, err, e);
	free(take.tar.window);
	vec_free(&take.records.items);
	vec_free(&take.records.texts);
	wds_rivals_free(&take.rivals);
	return err;
}
