/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "regroup/regroup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "names/image_suffixes.h"
#include "regroup/regroup_parts.h"

static int add_keys(struct regroup *r, const struct name_map *map)
{
	int err = 0;

	for (size_t i = 0; i < name_map_count(map) && !err; i++) {
		const struct name_map_item *item = name_map_get(map, i);

		if (!item->class_name)
			err = regroup_classes_add(r->classes, item->key, item->label);
	}
	return err;
}

/* The memory of which items of the maps were used. */
static int new_state(struct map_state *state)
{
	size_t n = name_map_count(state->map);

	state->best = GRADE_NONE;
	state->seen = calloc(n / 8 + 1, 1);
	state->exact = calloc(n / 8 + 1, 1);
	state->claims = calloc(n, sizeof(*state->claims));
	return state->seen && state->exact && state->claims ? 0 : -ENOMEM;
}

struct regroup *regroup_new(const struct view_map *maps, size_t n,
			    const struct class_list *classes, struct findings *findings)
{
	struct regroup *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->findings = findings;
	r->classes = regroup_classes_new(classes);
	r->maps = calloc(n ? n : 1, sizeof(*r->maps));
	if (!r->classes || !r->maps)
		goto failed;
	for (size_t i = 0; i < n; i++) {
		struct map_state *state = &r->maps[r->map_count++];

		state->map = maps[i].map;
		state->path = maps[i].path;
		if (new_state(state) < 0 || add_keys(r, state->map) < 0)
			goto failed;
	}
	return r;
failed:
	regroup_free(r);
	return NULL;
}

void regroup_free(struct regroup *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->map_count; i++) {
		free(r->maps[i].seen);
		free(r->maps[i].exact);
		free(r->maps[i].claims);
	}
	free(r->maps);
	regroup_classes_free(r->classes);
	map_texts_free(&r->used);
	map_texts_free(&r->kept);
	vec_free(&r->claims);
	vec_free(&r->folders);
	idmap_free(&r->folder_ids);
	vec_free(&r->names.items);
	vec_free(&r->prefix);
	vec_free(&r->whole);
	vec_free(&r->path);
	vec_free(&r->target);
	free(r);
}

/* Finding. */

static int grade_of(const char *key, const char *path)
{
	int grade = 0;

	if (map_folders_agree(key, path))
		grade += GRADE_FOLDER;
	if (strcmp(filename_of(key), filename_of(path)) == 0 || 
	    name_has_image_suffix(path, SUFFIX_LOADED))
		grade += GRADE_SUFFIX;
	return grade;
}

bool regroup_find(struct map_state *state, const char *path, struct match *out)
{
	const struct name_map_item *item = name_map_find(state->map, path);

	if (!item)
		return false;
	*out = (struct match){ item, state, grade_of(item->key, path) };
	return true;
}

static void set_bit(unsigned char *bits, size_t i)
{
	bits[i / 8] |= (unsigned char)(1u << i % 8);
}

static bool has_bit(const unsigned char *bits, size_t i)
{
	return bits[i / 8] & 1u << i % 8;
}

size_t regroup_item_number(const struct match *match)
{
	return (size_t)(match->item - name_map_get(match->state->map, 0));
}

static bool is_key(const struct name_map_item *item, const char *path)
{
	return strcmp(regroup_skip_root(item->key), path) == 0;
}

/* Some file has the very path that this one's key is. */
static bool is_another(const struct match *match, const char *path)
{
	return has_bit(match->state->exact, regroup_item_number(match)) &&
	       !is_key(match->item, path);
}

bool regroup_is_in_other_folder(const struct match *match, const char *path)
{
	int best = match->state->best, grade = match->grade;

	return (best >= GRADE_FOLDER && grade < GRADE_FOLDER) ||
	       (grade >= best && is_another(match, path));
}

bool regroup_match(struct map_state *state, const char *path, struct match *out)
{
	if (state->best == GRADE_NONE || !regroup_find(state, path, out) ||
	    out->grade < state->best || is_another(out, path))
		return false;
	return out->item->class_name || out->item->label >= 0; /* -1 is "no label" */
}

/* Looking. */

static int regroup_refuse_contradiction(const struct match *a, const struct match *b,
					const char *path, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s and %s say two labels of '%.200s'; "
			 "leave one of them out of -o names=",
			 a->state->path, b->state->path, path);
}

static bool regroup_same_label(const struct name_map_item *a,
			       const struct name_map_item *b)
{
	if (!a->class_name || !b->class_name)
		return a->class_name == b->class_name && a->label == b->label;
	return strcmp(a->class_name, b->class_name) == 0;
}

static void count_file(const struct match *match, const char *path,
		       const struct entry *entry)
{
	struct map_state *state = match->state;
	size_t i = regroup_item_number(match);

	set_bit(state->seen, i);
	if (is_key(match->item, path))
		set_bit(state->exact, i);
	if (match->grade <= state->best)
		return;
	state->best = match->grade;
	state->example = entry->path;
}

/* Several maps may know a file, if they agree. */
static int collect_file(struct regroup *r, const char *path, const struct entry *entry,
			struct error *e)
{
	struct match first = { NULL, NULL, 0 }, match;
	int err = 0;

	for (size_t i = 0; i < r->map_count && !err; i++) {
		if (!regroup_find(&r->maps[i], path, &match))
			continue;
		count_file(&match, path, entry);
		if (!first.item)
			first = match;
		else if (!regroup_same_label(first.item, match.item))
			return regroup_refuse_contradiction(&first, &match, path, e);
		if (!match.item->class_name)
			err = regroup_classes_add(r->classes, path, match.item->label);
	}
	return err;
}

static int regroup_collect_entry(struct regroup *r, const struct entry *entry,
				 struct error *e)
{
	const char *path = regroup_whole_path(r, entry->path);

	if (!path || regroup_classes_add_path(r->classes, path) < 0)
		return -ENOMEM;
	return regroup_is_file(entry) ? collect_file(r, path, entry, e) : 0;
}

static int collect_log(struct regroup *r, struct entries *log, struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < entries_count(log) && !err; i++)
		err = regroup_collect_entry(r, entries_get(log, i), e);
	return err;
}

int regroup_collect(struct regroup *r, struct entries *entries, struct error *e)
{
	int err = regroup_for_each_log(r, entries, collect_log, e);

	return err == -ENOMEM ? error_no_memory(e, NULL) : err;
}

/* Counts the names without a file; of those that come twice, the first stands for all. */
static size_t count_missing(const struct map_state *state, const char **example)
{
	size_t missing = 0;

	for (size_t i = 0; i < name_map_count(state->map); i++) {
		const struct name_map_item *item = name_map_get(state->map, i);
		const struct name_map_item *first;

		if (has_bit(state->seen, i))
			continue;
		first = name_map_find(state->map, filename_of(item->key));
		if (first && first != item)
			continue;
		if (missing++ == 0)
			*example = item->key;
	}
	return missing;
}

static void report_map(const struct regroup *r, struct map_state *state)
{
	const char *example = "", *name = filename_of(state->path);
	size_t count = name_map_count(state->map), missing = count_missing(state, &example);

	if (state->best == GRADE_NONE)
		findings_add(r->findings, FINDING_UNUSED,
			     "names=%s: no file here has one of its %zu names (%.200s, "
			     "for one), so nothing is moved by it", name, count,
			     name_map_get(state->map, 0)->key);
	else if (missing)
		findings_add(r->findings, FINDING_LEFT_OUT,
			     "names=%s: %zu of its %zu names have no file here (%.200s, "
			     "for one)", name, missing, count, example);
	if (state->elsewhere)
		findings_add(r->findings, FINDING_LEFT_OUT,
			     "names=%s: %" PRIu64 " files have one of its names, but lie "
			     "in other folders than it says, and stay there", name,
			     state->elsewhere);
}

void regroup_seal(struct regroup *r)
{
	regroup_classes_seal(r->classes);
}

int regroup_refuse_shift(const struct regroup *r, struct error *e)
{
	int64_t label;

	if (!regroup_classes_shifted(r->classes) ||
	    !regroup_classes_nameless(r->classes, &label))
		return 0;
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "the list of classes= is read as the names of the labels from 0 on, "
			 "and by names= no file has label 0, and label %" PRId64 " has no name: "
			 "the list may begin with the name of label 1; write lines with "
			 "their labels (1: NAME)", label);
}

void regroup_report(struct regroup *r)
{
	int64_t label;

	if (regroup_classes_shifted(r->classes))
		findings_add(r->findings, FINDING_CHOSEN,
			     "no file has the label 0 by names=, and the list of classes= is "
			     "taken to begin with its name: lines with their labels "
			     "(1: NAME) leave no doubt");
	for (size_t i = 0; i < r->map_count; i++)
		report_map(r, &r->maps[i]);
	if (regroup_classes_nameless(r->classes, &label))
		findings_add(r->findings, FINDING_LEFT_OUT,
			     "the list of classes= has no name for label %" PRId64 ", which "
			     "files have by names=: such classes keep their numbers; is it "
			     "the list of another dataset?", label);
	regroup_report_leftovers(r);
	regroup_report_splits(r);
}

bool regroup_used(const struct regroup *r)
{
	for (size_t i = 0; i < r->map_count; i++)
		if (r->maps[i].best != GRADE_NONE)
			return true;
	return false;
}

void regroup_describe(const struct regroup *r, struct index_summary *summary)
{
	if (!regroup_used(r))
		return;
	summary->classes = r->used.items.count;
	snprintf(summary->view, sizeof(summary->view),
		 "class (names= says which class files "
		 "have: %" PRIu64 " were moved below it); view=tree: as they are stored",
		 r->moved);
	snprintf(summary->labels, sizeof(summary->labels),
		 "the maps of names=; classes are "
		 "called by %s",
		 regroup_classes_source(r->classes));
}
