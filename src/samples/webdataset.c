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

enum { JSONS_MOST = 16 }; /* that are read beside other labels */

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
	unsigned jsons;              /* that were read beside other labels, */
	bool jsons_split;            /* and one said a split */
	struct wds_rivals rivals;
};

/* Counting members and samples */

static int see_other(void *context, struct entries *log, const struct entry *entry)
{
	struct webdataset_scan *shard = context;

	if (entry->kind == ENTRY_HARDLINK || entry->kind == ENTRY_NESTED)
		shard->other = true;
	return 0;
}

/* Calls `look` for each sample, until it says 1 (enough), or something is wrong. */
static int each_sample(struct webdataset_scan *shard,
		       int (*look)(struct webdataset_scan *shard,
				   const struct wds_sample *sample))
{
	struct wds_walk walk = { .log = shard->scan->entries, .other = see_other,
				 .context = shard };
	struct wds_sample sample = { 0 };
	int r;

	while ((r = wds_walk_next(&walk, &sample)) == 1) {
		r = look(shard, &sample);
		if (r)
			break;
	}
	wds_sample_free(&sample);
	return r < 0 ? r : 0;
}

static bool is_in_one_piece(const struct wds_member *member)
{
	return member->whole || member->coded;
}

static int count_sample(struct webdataset_scan *shard, const struct wds_sample *sample)
{
	struct wds_tar *tar = &shard->tar;
	struct wds_split split;

	/* a large member of a zip that is decoded as a source of its own */
	for (size_t i = 0; i < sample->members.count; i++)
		shard->other |= sample->members.items[i].size &&
				is_in_one_piece(&sample->members.items[i]) &&
				sample->members.items[i].source != shard->scan->source_number;
	tar->total++;
	tar->pairs += sample->members.count > 1;
	tar->odd += sample->odd != NULL;
	tar->in_splits += wds_split_of_key(sample, &split);
	if (!tar->split_suffix)
		tar->split_suffix = wds_split_suffix(sample);
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
static int choose_rule(struct webdataset_scan *shard)
{
	for (size_t i = 0; i < shard->tar.rule_count && !shard->rule; i++) {
		const struct wds_rule *rule = &shard->tar.rules[i];
		bool found = true;
		int err = 0;

		if (!wds_is_common(&shard->tar, shard->tar.with[i]) ||
		    (rule->kind == WDS_LABEL_KEY && !shard->config->classes))
			continue;
		if (rule->kind == WDS_LABEL_JSON)
			err = wds_probe(&shard->tar, rule, &found);
		if (err)
			return err;
		if (found)
			shard->rule = rule;
	}
	return 0;
}

/* Reading all labels */

static int webdataset_add_record(struct webdataset_scan *shard,
				const struct wds_label *label, uint8_t split)
{
	struct wds_record record = { .number = label->number, .split = split,
				     .used = label->kind != WDS_NONE,
				     .named = label->kind == WDS_NAME };
	size_t n = strlen(label->name) + 1;

	if (record.named) {
		size_t at = shard->records.texts.count;

		if (vec_reserve(&shard->records.texts, n) < 0)
			return -ENOMEM;
		memcpy(shard->records.texts.items + at, label->name, n);
		shard->records.texts.count += n;
		record.number = (int64_t)at;
	}
	shard->used += record.used;
	return vec_push(&shard->records.items, record);
}

/* The split of the sample, by the surest source; `json` is NULL, or the split in its .json. */
static int find_split(struct webdataset_scan *shard, const struct wds_sample *sample,
		      const struct wds_label *json, struct wds_split *out)
{
	const struct wds_tar *tar = &shard->tar;
	const char *path = wds_plain_path(sample->key);
	struct wds_split key;
	int err;

	*out = (struct wds_split){ .sure = false };
	if (split_is_word(path, strcspn(path, "/")))
		return 0; /* its directory is that of a split */
	if (tar->split_suffix) {
		err = wds_split_of_member(tar->window, sample, tar->split_suffix, out);
		if (err)
			return err;
	}
	if (!out->sure && json && *json->split.text)
		*out = json->split;
	if (!out->sure && wds_is_common(tar, tar->in_splits) && wds_split_of_key(sample, &key))
		*out = key;
	return 0;
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
		if (!is_in_one_piece(&sample->members.items[i]) &&
		    &sample->members.items[i] != label)
			return "has a sparse member";
	if (label && sample->members.count == 1)
		return "is nothing but a label";
	return NULL;
}

/* The .json beside another label: of the first samples, and of all if it says splits. */
static int read_json(struct webdataset_scan *shard, const struct wds_sample *sample,
		     struct wds_label *out, const struct wds_label **json)
{
	static const struct wds_rule rule = { WDS_LABEL_JSON, "json", NULL, ".json" };
	const char *why;
	int err;

	if ((shard->jsons >= JSONS_MOST && !shard->jsons_split) ||
	    !wds_label_member(&rule, sample))
		return 0;
	shard->jsons++;
	err = wds_label_read(shard->tar.window, &rule, sample, out, &why);
	if (err == -EBADMSG)
		out->kind = WDS_NONE;
	else if (err)
		return err;
	shard->jsons_split |= *out->split.text != '\0';
	*json = out;
	return 0;
}

/* Of a sample that has a label: what else it says. */
static int read_others(struct webdataset_scan *shard, const struct wds_sample *sample,
		       const struct wds_label *label, uint8_t *split)
{
	struct wds_label other;
	const struct wds_label *json = shard->rule->kind == WDS_LABEL_JSON ? label : NULL;
	struct wds_split found;
	int err = json ? 0 : read_json(shard, sample, &other, &json);

	if (!err && !shard->config->labels)
		err = wds_rivals_add(&shard->rivals, shard->rule, sample, label, json);
	if (!err)
		err = find_split(shard, sample, json, &found);
	if (!err)
		*split = wds_splits_add(&shard->findings->splits, &found);
	return err;
}

static int read_label(struct webdataset_scan *shard, const struct wds_sample *sample)
{
	const struct wds_rule *rule = shard->rule;
	const struct wds_member *member = wds_label_member(rule, sample);
	const char *odd = oddity(rule, sample), *why = NULL;
	struct wds_label label = { .kind = WDS_NONE };
	uint8_t split = 0;
	int err = 0;

	if (odd)
		wds_complaint_add(&shard->odd, sample->key, sample->key_length, odd);
	else
		err = wds_label_read(shard->tar.window, rule, sample, &label, &why);
	if (err == -EBADMSG && member) {
		wds_complaint_add(&shard->broken, member->path, strlen(member->path), why);
		label.kind = WDS_NONE;
		err = 0;
	} else if (!err && !odd && label.kind == WDS_NONE) {
		wds_complaint_add(&shard->missing, sample->key, sample->key_length, "");
	}
	if (!err && label.kind != WDS_NONE)
		err = read_others(shard, sample, &label, &split);
	return err ? err : webdataset_add_record(shard, &label, split);
}

/* Findings */

static void webdataset_report(struct webdataset_scan *shard)
{
	const struct wds_rule *rule = shard->rule;
	struct findings *findings = shard->scan->findings;

	wds_rivals_report(&shard->rivals, findings);
	if (shard->broken.count)
		findings_add(findings, FINDING_LEFT_OUT,
			     "the label '%s' %s: without a class, its sample is shown as "
			     "it is stored (%" PRIu64 " such labels)", shard->broken.first,
			     shard->broken.why, shard->broken.count);
	if (shard->missing.count && rule->suffix)
		findings_add(findings, FINDING_LEFT_OUT,
			     "sample '%s' has no label in %s, and is shown as it is "
			     "stored (%" PRIu64 " such samples)", shard->missing.first,
			     rule->name, shard->missing.count);
	if (shard->odd.count)
		findings_add(findings, FINDING_LEFT_OUT,
			     "sample '%s' %s, and is shown as it is stored (%" PRIu64 " "
			     "such samples)", shard->odd.first, shard->odd.why,
			     shard->odd.count);
}

/* Where classes were asked for, a tree instead is no answer. */
static int refuse_tree(const struct webdataset_scan *shard, struct error *e)
{
	enum wds_reason reason = shard->findings->reason;

	if ((reason != WDS_LABELS_APART && reason != WDS_FEW_LABELS) ||
	    (!shard->config->classes && !shard->config->labels))
		return 0;
	return error_set(e, ERROR_DATASET, EBADMSG, "'%s': %s; view=tree shows it as it is "
			 "stored", shard->scan->label, shard->findings->sentence);
}

/* More labels are broken than not: a tree is better than a part of a dataset. */
static int webdataset_reject(const struct webdataset_scan *shard, struct error *e)
{
	const struct wds_complaint *first =
		shard->broken.count ? &shard->broken :
		shard->missing.count ? &shard->missing : &shard->odd;

	shard->findings->reason = WDS_FEW_LABELS;
	shard->findings->sure = true;
	snprintf(shard->findings->sentence, sizeof(shard->findings->sentence),
		 "%" PRIu64 " of %" PRIu64 " samples have no label in %.20s that can be used "
		 "(the first: '%.60s' %s)", shard->tar.total - shard->used, shard->tar.total,
		 shard->rule->name, first->first, *first->why ? first->why : "has none");
	return refuse_tree(shard, e);
}

static int webdataset_refuse_labels(const struct webdataset_scan *shard, struct error *e)
{
	const char *name = wds_plain_suffix(shard->config->labels);

	return error_set(e, ERROR_DATASET, EINVAL,
			 "'%s': too few samples have a '.%s', or a .json with '%s', as "
			 "labels=%s says; without that option it is shown as it is",
			 shard->scan->label, name, name, shard->config->labels);
}

/* No rule says the labels. */
static int webdataset_keep_tree(const struct webdataset_scan *shard, struct error *e)
{
	int err = wds_find_reason(&shard->tar, shard->findings);

	if (err)
		return err;
	if (shard->findings->reason && shard->findings->paired)
		snprintf(shard->scan->detail, sizeof(shard->scan->detail),
			 "WebDataset, no labels are taken");
	if (shard->config->labels && shard->findings->reason != WDS_LABELS_APART)
		return webdataset_refuse_labels(shard, e);
	return refuse_tree(shard, e);
}

static int convert_shard(struct webdataset_scan *shard, struct error *e)
{
	int err = each_sample(shard, count_sample);

	if (err || shard->other || shard->tar.total == 0)
		return err;
	shard->findings->samples = shard->tar.total;
	shard->findings->paired = wds_is_common(&shard->tar, shard->tar.pairs);
	err = choose_rule(shard);
	if (err)
		return err;
	if (!shard->rule)
		return webdataset_keep_tree(shard, e);
	err = each_sample(shard, read_label);
	if (err)
		return err;
	if (shard->used < shard->tar.total - shard->used)
		return shard->rule->suffix ? webdataset_reject(shard, e) : 0;
	webdataset_report(shard);
	shard->findings->taken = true;
	snprintf(shard->scan->detail, sizeof(shard->scan->detail),
		 "WebDataset, labels from %s", shard->rule->name);
	return wds_build(shard->scan, shard->config, shard->tar.window, shard->rule,
			 &shard->records, shard->findings);
}

int webdataset_make_samples(struct scan *scan, const struct webdataset_config *config,
			    struct error *e)
{
	struct wds_findings unasked, *findings = config->findings ? config->findings :
								    &unasked;
	struct webdataset_scan shard = {
		.scan = scan, .config = config, .findings = findings,
		.tar.log = scan->entries, .tar.window = calloc(1, sizeof(struct wds_window)),
	};
	int err = -ENOMEM;

	*findings = (struct wds_findings){ .label = scan->label, .split = config->split };
	shard.tar.rule_count = wds_rules(config->labels, shard.tar.rules);
	e->text[0] = '\0';
	if (shard.tar.window) {
		shard.tar.window->source = scan->source;
		err = convert_shard(&shard, e);
	}
	if (err && !e->text[0])
		err = err == -ENOMEM ? format_no_memory(scan->label, e) :
				       format_unreadable(scan->label, err, e);
	free(shard.tar.window);
	vec_free(&shard.records.items);
	vec_free(&shard.records.texts);
	wds_rivals_free(&shard.rivals);
	if (findings == &unasked)
		wds_splits_free(&unasked.splits);
	return err;
}
