/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_splits.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "names/column_titles.h"
#include "names/split_words.h"
#include "samples/webdataset.h"
#include "samples/wds_labels.h"

uint8_t wds_splits_add(struct wds_splits *splits, const struct wds_split *split)
{
	size_t n = strlen(split->text), before = splits->said.count;
	bool word = split_is_word(split->text, n);
	char text[WDS_SPLIT_BYTES];
	int k;

	for (size_t i = 0; i <= n; i++)
		text[i] = word ? (char)tolower((unsigned char)split->text[i]) : split->text[i];
	k = n ? row_splits_number(&splits->said, text, n) : -1;
	splits->partial |= !split->sure || k < 0;
	if (splits->said.count > before)
		splits->sources[k] = split->source;
	return k < 0 ? 0 : (uint8_t)k;
}

bool wds_split_of_key(const struct wds_sample *sample, struct wds_split *out)
{
	const char *name = sample->key, *end = name + sample->key_length;
	char key[256], split[SPLIT_BYTES];

	*out = (struct wds_split){ .sure = true, .source = WDS_SPLIT_OF_KEY };
	for (const char *c = name; c < end; c++) {
		if (*c != '/')
			continue;
		/* a directory: "data/train/0" */
		if (split_is_word(name, (size_t)(c - name)))
			snprintf(out->text, sizeof(out->text), "%.*s", (int)(c - name), name);
		name = c + 1;
	}
	snprintf(key, sizeof(key), "%.*s", (int)(end - name < 255 ? end - name : 255), name);
	if (!*out->text && split_of_path(key, split))
		snprintf(out->text, sizeof(out->text), "%s", split);
	return *out->text;
}

const char *wds_split_suffix(const struct wds_sample *sample)
{
	for (size_t i = 0; i < sample->members.count; i++) {
		const char *suffix = sample->members.items[i].suffix, *end = strchr(suffix, '.');

		if (title_is_split(suffix, end ? (size_t)(end - suffix) : strlen(suffix)) &&
		    (!end || strcasecmp(end, ".txt") == 0 || strcasecmp(end, ".cls") == 0))
			return suffix;
	}
	return NULL;
}

int wds_split_of_member(struct wds_window *window, const struct wds_sample *sample,
			const char *suffix, struct wds_split *out)
{
	const struct wds_rule rule = { .kind = WDS_LABEL_TEXT, .suffix = suffix };
	struct wds_label label;
	const char *why;
	int err = wds_label_read(window, &rule, sample, &label, &why);

	*out = (struct wds_split){ .source = WDS_SPLIT_OF_MEMBER };
	if (!err && label.kind == WDS_NAME) {
		out->sure = strlen(label.name) < SPLIT_BYTES && split_names_directory(label.name);
		snprintf(out->text, sizeof(out->text), "%.30s", label.name);
	} else if (!err && label.kind == WDS_NUMBER) {
		snprintf(out->text, sizeof(out->text), "%" PRId64, label.number);
	}
	return err == -EBADMSG ? 0 : err;
}

/* Do all samples with labels say one, and not all of them the same? */
static bool are_usable(const struct wds_shard *shards, size_t n)
{
	struct row_splits all = { .count = 0 };

	for (size_t i = 0; i < n; i++) {
		const struct wds_findings *findings = shards[i].findings;
		const struct row_splits *said = &findings->splits.said;

		if (!findings->taken)
			continue;
		if (findings->split || findings->splits.partial || said->count == 0 ||
		    samples_group_count(shards[i].scan->samples) != 1)
			return false;
		for (size_t k = 0; k < said->count; k++)
			if (row_splits_number(&all, said->words[k], strlen(said->words[k])) < 0)
				return false;
	}
	return all.count > 1;
}

int wds_splits_apply(const struct wds_shard *shards, size_t n)
{
	const char *names[ROW_SPLITS_MOST];
	int err = 0;

	if (!are_usable(shards, n))
		return 0;
	for (size_t i = 0; i < n && !err; i++) {
		struct wds_splits *splits = &shards[i].findings->splits;

		if (!shards[i].findings->taken)
			continue;
		for (size_t k = 0; k < splits->said.count; k++)
			names[k] = splits->said.words[k];
		splits->used = true;
		err = samples_part(shards[i].scan->samples, splits->files.items, names,
				   splits->said.count);
	}
	return err;
}

void wds_splits_free(struct wds_splits *splits)
{
	vec_free(&splits->files);
}
