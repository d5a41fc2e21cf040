/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_reasons.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
	PROBES = 8,     /* labels that are looked into */
	KEY_SHOWN = 60, /* bytes of a key in a sentence */
};

void wds_set_reason(struct wds_findings *out, enum wds_reason reason, const char *format,
		    ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(out->sentence, sizeof(out->sentence), format, arguments);
	va_end(arguments);
	out->reason = reason;
	out->sure = true;
}

/* How many bytes of a key are shown. */
static int shown(size_t length)
{
	return length < KEY_SHOWN ? (int)length : KEY_SHOWN;
}

/* Labels */

/* 1: this is one; 0: it says nothing; or a negative errno. */
static int is_label(const struct wds_tar *tar, const struct wds_rule *rule,
		    const struct wds_sample *sample)
{
	struct wds_label label;
	const char *why;
	int err = wds_label_read(tar->window, rule, sample, &label, &why);

	if (err && err != -EBADMSG)
		return err;
	return label.kind != WDS_NONE;
}

int wds_probe(const struct wds_tar *tar, const struct wds_rule *rule, bool *found)
{
	struct wds_walk walk = { .log = tar->log };
	struct wds_sample sample = { 0 };
	struct wds_label label;
	int probes = 0, r = 0;
	const char *why;

	*found = false;
	while (!*found && probes < PROBES && (r = wds_walk_next(&walk, &sample)) == 1) {
		if (rule->suffix && !wds_label_member(rule, &sample))
			continue;
		r = wds_label_read(tar->window, rule, &sample, &label, &why);
		if (r < 0 && r != -EBADMSG)
			break;
		probes += r == 0; /* one that is broken, or null, says nothing of others */
		*found = label.kind != WDS_NONE;
	}
	wds_sample_free(&sample);
	return r < 0 && r != -EBADMSG ? r : 0;
}

bool wds_is_common(const struct wds_tar *tar, uint64_t count)
{
	return count && count >= tar->total - count;
}

/* Samples */

/* Does the walk come to another sample of this key? 1, 0 or a negative errno. */
static int key_repeats(struct wds_walk *walk, const struct wds_sample *of)
{
	struct wds_sample sample = { 0 };
	int r;

	while ((r = wds_walk_next(walk, &sample)) == 1)
		if (sample.key_length == of->key_length && sample.key != of->key &&
		    memcmp(sample.key, of->key, of->key_length) == 0)
			break;
	wds_sample_free(&sample);
	return r;
}

/* The first sample that is a label of this rule and nothing else: what it says is one? */
static int first_label_only(const struct wds_tar *tar, const struct wds_rule *rule,
			    struct wds_sample *sample)
{
	struct wds_walk walk = { .log = tar->log };
	int r;

	while ((r = wds_walk_next(&walk, sample)) == 1)
		if (sample->members.count == 1 && wds_label_member(rule, sample))
			return is_label(tar, rule, sample);
	return r;
}

/* Labels of which the first one is stored elsewhere than the rest of its key. */
static int find_separate_labels(const struct wds_tar *tar, const struct wds_rule *rule,
				struct wds_findings *out)
{
	struct wds_walk walk = { .log = tar->log };
	struct wds_sample sample = { 0 };
	int r = first_label_only(tar, rule, &sample);

	if (r == 1)
		r = key_repeats(&walk, &sample);
	if (r == 1)
		wds_set_reason(out, WDS_LABELS_APART, "the members of '%.*s' do not lie side by "
			   "side, so no sample has its label (%.20s); pack them again in "
			   "the order of their names: tar --sort=name -C DIRECTORY -cf NEW.tar .",
			   shown(sample.key_length), sample.key, rule->name);
	wds_sample_free(&sample);
	return r < 0 ? r : 0;
}

/* A rule that says the labels of some, but of less than half. */
static int find_few_labels(const struct wds_tar *tar, size_t i, struct wds_findings *out)
{
	const struct wds_rule *rule = &tar->rules[i];
	struct wds_walk walk = { .log = tar->log };
	struct wds_sample sample = { 0 };
	bool found;
	int r = wds_probe(tar, rule, &found);

	if (r || !found)
		return r;
	while ((r = wds_walk_next(&walk, &sample)) == 1)
		if (sample.members.count == 1 || !wds_label_member(rule, &sample))
			break;
	if (r == 1)
		wds_set_reason(out, WDS_FEW_LABELS, "only %" PRIu64 " of %" PRIu64 " samples have "
			   "a label in %.20s ('%.*s' has none); pack it again with one for "
			   "each", tar->with[i], tar->total, rule->name, shown(sample.key_length), sample.key);
	wds_sample_free(&sample);
	return r < 0 ? r : 0;
}

/* Names that are classes only where somebody asks for it. */
static void find_wnids(const struct wds_tar *tar, size_t i, struct wds_findings *out)
{
	if (tar->rules[i].suffix || !wds_is_common(tar, tar->with[i]) ||
	    !wds_is_common(tar, tar->total - tar->odd))
		return;
	wds_set_reason(out, WDS_WNIDS, "%" PRIu64 " of %" PRIu64 " samples have names that begin "
		   "with a wnid; view=class makes classes of them", tar->with[i], tar->total);
	out->sure = tar->with[i] == tar->total;
}

/* Labels that are in the tar, but not where they could be used. */
static int find_misplaced(const struct wds_tar *tar, struct wds_findings *out)
{
	int err = 0;

	for (size_t i = 0; i < tar->rule_count && !err && !out->reason; i++)
		if (tar->rules[i].suffix && tar->alone[i])
			err = find_separate_labels(tar, &tar->rules[i], out);
	for (size_t i = 0; i < tar->rule_count && !err && !out->reason; i++)
		if (tar->rules[i].suffix && tar->with[i] && !wds_is_common(tar, tar->with[i]))
			err = find_few_labels(tar, i, out);
	return err;
}

int wds_find_reason(const struct wds_tar *tar, struct wds_findings *out)
{
	int err = find_misplaced(tar, out);

	for (size_t i = 0; i < tar->rule_count && !err && !out->reason; i++)
		find_wnids(tar, i, out);
	if (!err && !out->reason && wds_is_common(tar, tar->pairs))
		err = wds_find_hints(tar, out);
	return err;
}
