/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_hints.c: labels under other names than those that are looked for. A hint that
 * somebody follows must give each image its own class, or there must be none.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/text.h"
#include "maps/maps_texts.h"
#include "names/label_words.h"
#include "samples/wds_reasons.h"

enum {
	PROBES = 64,     /* samples that are looked into */
	CANDIDATES = 16, /* items of a .json */
	SHOWN = 3,       /* hints in a sentence */
	NAME_MOST = 40,  /* bytes of a name in an option */
	NUMBER_MOST = 24,
	CLASS_MOST = 32, /* of what is no caption */
};

/* Each dot of a name becomes an underscore, and the last of these a dot again. */
#define WITHOUT_DOTS \
	"tar --sort=name --transform='s,\\.\\([^/]\\),_\\1,g;s,_\\([^_/]*\\)$,.\\1,' " \
	"-C DIRECTORY -cf NEW.tar ."

/* A member that labels=NAME could name, and its values in the first samples. */
struct wds_hints_candidate {
	char name[NAME_MOST + 1];
	uint32_t hashes[PROBES];
	size_t values;
	bool out; /* it cannot be one */
};

/* Can an option have such a value as it is? */
static bool is_takeable(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' &&
		    (i == 0 || !strchr("-.", name[i])))
			return false;
	return n > 0 && n <= NAME_MOST;
}

static void wds_hints_add_value(struct wds_hints_candidate *candidate,
				const struct wds_label *label)
{
	if (candidate->values == PROBES)
		return;
	candidate->hashes[candidate->values++] =
		label->kind == WDS_NAME ? (uint32_t)hash_bytes(label->name, strlen(label->name), 0) :
					  (uint32_t)hash_bytes(&label->number, sizeof(label->number), 0);
}

/* Several values, of which one comes again: what is another one each time is no class. */
static bool wds_hints_repeats(const struct wds_hints_candidate *candidate)
{
	bool again = false, other = false;

	for (size_t i = 1; i < candidate->values; i++)
		for (size_t k = 0; k < i; k++) {
			again |= candidate->hashes[i] == candidate->hashes[k];
			other |= candidate->hashes[i] != candidate->hashes[k];
		}
	return again && other;
}

static bool wds_hints_are_classes(const struct wds_hints_candidate *candidate)
{
	return !candidate->out &&
	       (name_hints_label(candidate->name) ||
		(!name_hints_other(candidate->name) && wds_hints_repeats(candidate)));
}

/* "labels=coarse.cls or labels=fine.cls": how many there are. */
static size_t list_hints(const struct wds_hints_candidate *candidates, size_t n,
			 const char *before, const char *between, char *out, size_t room)
{
	size_t count = 0;

	*out = '\0';
	for (size_t i = 0; i < n && count < SHOWN; i++) {
		if (!wds_hints_are_classes(&candidates[i]))
			continue;
		buffer_print(out, room, "%s%s%s", count++ ? between : "", before,
			     candidates[i].name);
	}
	return count;
}

/* Suffixes */

/* 1: the first labels are numbers, and half of the samples have one. 0, or an errno. */
static int probe_suffix(const struct wds_tar *tar, struct wds_hints_candidate *candidate)
{
	const struct wds_rule rule = { .kind = WDS_LABEL_NUMBER, .suffix = candidate->name };
	struct wds_walk walk = { .log = tar->log };
	struct wds_sample sample = { 0 };
	struct wds_label label;
	const char *why;
	uint64_t count = 0;
	int r, err = 0;

	while (!err && (r = wds_walk_next(&walk, &sample)) == 1) {
		if (!wds_label_member(&rule, &sample))
			continue;
		if (count++ < PROBES)
			err = wds_label_read(tar->window, &rule, &sample, &label, &why);
		if (!err)
			wds_hints_add_value(candidate, &label);
	}
	wds_sample_free(&sample);
	if (err || r < 0)
		return err == -EBADMSG ? 0 : err ? err : r;
	return wds_is_common(tar, count);
}

/* Members of the first pair that are numbers. */
static int find_suffix(const struct wds_tar *tar, const struct wds_sample *first,
		       struct wds_findings *out)
{
	struct wds_hints_candidate found[SHOWN];
	char names[SHOWN * (NAME_MOST + 8)], hints[SHOWN * (NAME_MOST + 16)];
	size_t n = 0;

	for (size_t i = 0; i < first->members.count && n < SHOWN; i++) {
		const struct wds_member *member = &first->members.items[i];
		int r;

		found[n] = (struct wds_hints_candidate){ .values = 0 };
		if (member->size > NUMBER_MOST ||
		    !is_takeable(member->suffix, strlen(member->suffix)))
			continue;
		snprintf(found[n].name, sizeof(found[n].name), "%s", member->suffix);
		r = probe_suffix(tar, &found[n]);
		if (r < 0)
			return r;
		n += r && wds_hints_are_classes(&found[n]);
	}
	if (!list_hints(found, n, ".", ", ", names, sizeof(names)))
		return 0;
	list_hints(found, n, "labels=", " or ", hints, sizeof(hints));
	wds_set_reason(out, WDS_OTHER_SUFFIX, "it has no .cls, but numbers in '%s'; %s takes "
		       "them for the labels", names, hints);
	out->sure = name_hints_label(found[0].name);
	return 0;
}

/* Items of a .json */

struct items {
	struct wds_hints_candidate candidates[CANDIDATES];
	size_t count, samples;
	const struct wds_sample *sample; /* the one that is looked into */
};

static struct wds_hints_candidate *candidate_of(struct items *items, const char *name,
						size_t n)
{
	struct wds_hints_candidate *candidate = items->candidates;

	for (; candidate < items->candidates + items->count; candidate++)
		if (strlen(candidate->name) == n && memcmp(candidate->name, name, n) == 0)
			return candidate;
	if (items->samples || items->count == CANDIDATES || !is_takeable(name, n))
		return NULL;
	*candidate = (struct wds_hints_candidate){ .values = 0 };
	memcpy(candidate->name, name, n);
	items->count++;
	return candidate;
}

static void see_item(void *context, const char *name, size_t n, const struct wds_label *label)
{
	struct items *items = context;
	struct wds_hints_candidate *candidate = candidate_of(items, name, n);

	if (!candidate)
		return;
	/* a member of that suffix would be taken in its place */
	candidate->out |= wds_sample_find(items->sample, candidate->name) != NULL;
	candidate->out |= label->kind == WDS_NAME && strlen(label->name) > CLASS_MOST;
	if (candidate->values == items->samples)
		wds_hints_add_value(candidate, label);
}

static int inspect_items(const struct wds_tar *tar, const struct wds_rule *rule,
			 struct items *items)
{
	struct wds_walk walk = { .log = tar->log };
	struct wds_sample sample = { 0 };
	int r, err = 0;

	items->sample = &sample;
	while (!err && items->samples < PROBES && (r = wds_walk_next(&walk, &sample)) == 1) {
		const struct wds_member *member = wds_label_member(rule, &sample);

		if (!member)
			continue;
		err = wds_label_items(tar->window, member, see_item, items);
		items->samples++;
	}
	for (size_t i = 0; i < items->count; i++)
		items->candidates[i].out |= items->candidates[i].values < items->samples;
	wds_sample_free(&sample);
	return err ? err : r < 0 ? r : 0;
}

static int wds_hints_find_item(const struct wds_tar *tar, const struct wds_rule *rule,
			       const struct wds_sample *first, struct wds_findings *out)
{
	const struct wds_member *member = wds_label_member(rule, first);
	char hints[SHOWN * (NAME_MOST + 16)];
	struct items items = { .count = 0 };
	const char *why = "";
	struct wds_label label;
	int broken, err;

	if (!member)
		return 0;
	broken = wds_label_read(tar->window, rule, first, &label, &why);
	err = broken < 0 && broken != -EBADMSG ? broken : inspect_items(tar, rule, &items);
	if (err || (!list_hints(items.candidates, items.count, "labels=", " or ", hints,
				sizeof(hints)) && !broken))
		return err;
	wds_set_reason(out, WDS_OTHER_ITEM, "no label or class that can be used is in '%.40s'"
		       "%s%.100s%s%s%s", member->path, broken ? ", which " : "",
		       broken ? why : "", *hints ? "; " : "", hints,
		       *hints ? " takes another item for it" : "");
	out->sure = broken;
	return 0;
}

/* Dots in keys */

/* The member with the same suffix but for its extension: "1.jpg" of "1.cls"; or NULL. */
static const struct wds_member *twin_of(const struct wds_sample *sample, size_t i)
{
	const char *suffix = sample->members.items[i].suffix;
	size_t n = (size_t)(wds_extension(suffix) - suffix);

	for (size_t k = 0; n && k < sample->members.count && k < WDS_MEMBERS_MOST; k++) {
		const char *other = sample->members.items[k].suffix;

		if (k != i && (size_t)(wds_extension(other) - other) == n &&
		    strncasecmp(other, suffix, n) == 0)
			return &sample->members.items[k];
	}
	return NULL;
}

/* A label that is beside one image of its own, and no other, by its suffix: "1.cls". */
static const struct wds_member *own_label(const struct wds_sample *sample, size_t *at,
					  const struct wds_member **twin)
{
	for (; *at < sample->members.count && *at < WDS_MEMBERS_MOST; ++*at) {
		const struct wds_member *member = &sample->members.items[*at];
		const char *extension = wds_extension(member->suffix);

		if ((strcasecmp(extension, "json") == 0 || name_hints_label(extension)) &&
		    (*twin = twin_of(sample, *at)))
			return member;
	}
	return NULL;
}

/* The part before the last dot of a suffix: suffixes without dots have the same, none. */
static bool same_part(const char *a, const char *b)
{
	size_t n = (size_t)(wds_extension(a) - a);

	return (size_t)(wds_extension(b) - b) == n && strncasecmp(a, b, n) == 0;
}

static int report_dots(const struct wds_tar *tar, const struct wds_sample *sample,
		       const struct wds_member *label, const struct wds_member *twin,
		       struct wds_findings *out)
{
	const struct wds_rule rule = { .kind = strcasecmp(wds_extension(label->suffix),
							  "json") == 0 ?
						       WDS_LABEL_JSON : WDS_LABEL_NUMBER,
				       .suffix = label->suffix };
	struct wds_label label_read;
	const char *why;
	int err = wds_label_read(tar->window, &rule, sample, &label_read, &why);

	if (err && err != -EBADMSG)
		return err;
	wds_set_reason(out, WDS_DOTS, "the first dot of '%.40s' ends its key for WebDataset, so "
		       "'%.30s' is the suffix of its label; pack it again without such dots: "
		       WITHOUT_DOTS, twin->path, label->suffix);
	out->sure = label_read.kind != WDS_NONE;
	return 0;
}

/* Labels of which each is for an image with the same dots: those of two samples differ. */
static int find_dots(const struct wds_tar *tar, struct wds_findings *out)
{
	struct wds_walk walk = { .log = tar->log };
	struct wds_sample sample = { 0 };
	char part[NAME_MOST] = "";
	int r, err = 0;

	while (!err && !out->reason && (r = wds_walk_next(&walk, &sample)) == 1) {
		const struct wds_member *label, *twin;

		for (size_t i = 0; !out->reason && (label = own_label(&sample, &i, &twin)); i++) {
			if (!*part)
				snprintf(part, sizeof(part), "%s", label->suffix);
			else if (!same_part(part, label->suffix))
				err = report_dots(tar, &sample, label, twin, out);
			if (err)
				break;
		}
	}
	wds_sample_free(&sample);
	return err ? err : r < 0 ? r : 0;
}

int wds_find_hints(const struct wds_tar *tar, struct wds_findings *out)
{
	struct wds_walk walk = { .log = tar->log };
	struct wds_sample sample = { 0 };
	int r = find_dots(tar, out);

	if (r || out->reason)
		return r;
	while ((r = wds_walk_next(&walk, &sample)) == 1 && sample.members.count == 1)
		;
	if (r == 1)
		r = find_suffix(tar, &sample, out);
	for (size_t i = 0; i < tar->rule_count && r == 0 && !out->reason; i++)
		if (tar->rules[i].kind == WDS_LABEL_JSON && wds_is_common(tar, tar->with[i]))
			r = wds_hints_find_item(tar, &tar->rules[i], &sample, out);
	wds_sample_free(&sample);
	return r < 0 ? r : 0;
}
