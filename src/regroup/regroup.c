/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "regroup/regroup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "build/paths.h"
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
		struct regroup_map *map = &r->maps[r->map_count++];

		map->map = maps[i].map;
		map->path = maps[i].path;
		map->best = GRADE_NONE;
		map->keys = calloc(name_map_count(map->map), sizeof(*map->keys));
		if (!map->keys || add_keys(r, map->map) < 0)
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
	for (size_t i = 0; i < r->map_count; i++)
		free(r->maps[i].keys);
	free(r->maps);
	regroup_classes_free(r->classes);
	arena_free(&r->arena);
	map_texts_free(&r->used);
	map_texts_free(&r->directory_paths);
	vec_free(&r->files);
	vec_free(&r->shards);
	vec_free(&r->claims);
	vec_free(&r->directories);
	vec_free(&r->text);
	vec_free(&r->target);
	free(r);
}

/* Paths */

/* "./a" and "/a" are a. */
static const char *skip_root(const char *path)
{
	while (*path == '/' || (path[0] == '.' && path[1] == '/'))
		path++;
	return path;
}

/* A path of a nested log, from the root. NULL: out of memory. */
static const char *make_whole(struct regroup *r, const char *prefix, const char *path)
{
	path = skip_root(path);
	return *prefix ? arena_print(&r->arena, "%s%s", prefix, path) : path;
}

int regroup_insert(struct text *out, const char *path, const char *directory)
{
	const char *name = filename_of(path);

	return text_print(out, "%.*s%s%s%s", (int)(name - path), path, directory ?
			  directory : "", directory ? "/" : "", name);
}

const char *regroup_new_path(struct regroup *r, const char *path, const char *directory)
{
	text_cut(&r->text, 0);
	return regroup_insert(&r->text, path, directory) < 0 ? NULL : r->text.items;
}

/* Cuts the last component of "a/b/". */
static void leave_directory(struct text *path)
{
	size_t n = path->count - 1;

	while (n && path->items[n - 1] != '/')
		n--;
	text_cut(path, n);
}

/* Where a relative link at `path` leads, by the texts alone; NULL: above the root. */
static int follow_link(struct regroup *r, const char *path, const char *target,
		       const char **out)
{
	struct text *end = &r->text;
	size_t n;
	int err;

	text_cut(end, 0);
	err = text_append(end, path, (size_t)(filename_of(path) - path));
	while (*target && !err) {
		const char *next = path_next(target, &n);

		if (n == 2 && memcmp(target, "..", 2) == 0) {
			if (end->count == 0)
				return 0;
			leave_directory(end);
		} else if (!path_is_dot(target, n)) {
			err = text_print(end, "%.*s%s", (int)n, target, *next ? "/" : "");
		}
		target = next;
	}
	if (!err)
		*out = arena_copy(&r->arena, end->items, end->count);
	return err || !*out ? -ENOMEM : 0;
}

/* Finding. */

static int grade_of(const char *key, const char *path)
{
	int grade = 0;

	if (map_directories_agree(key, path))
		grade += GRADE_DIRECTORY;
	if (strcmp(filename_of(key), filename_of(path)) == 0 ||
	    name_has_image_suffix(path, SUFFIX_LOADED))
		grade += GRADE_SUFFIX;
	return grade;
}

bool regroup_find(struct regroup_map *map, const char *path, struct regroup_match *out)
{
	const struct name_map_item *item = name_map_find(map->map, path);

	if (!item)
		return false;
	*out = (struct regroup_match){ item, map,
				       &map->keys[item - name_map_get(map->map, 0)],
				       grade_of(item->key, path) };
	return true;
}

static bool is_key(const struct name_map_item *item, const char *path)
{
	return strcmp(skip_root(item->key), path) == 0;
}

/* Some file has the very path that this one's key is. */
static bool is_another(const struct regroup_match *match, const char *path)
{
	return match->key->exact && !is_key(match->item, path);
}

bool regroup_is_in_other_directory(const struct regroup_match *match, const char *path)
{
	int best = match->map->best, grade = match->grade;

	return (best >= GRADE_DIRECTORY && grade < GRADE_DIRECTORY) ||
	       (grade >= best && is_another(match, path));
}

bool regroup_is_meant(const struct regroup_match *match, const char *path)
{
	if (match->map->best == GRADE_NONE || match->grade < match->map->best ||
	    is_another(match, path))
		return false;
	return match->item->class_name || match->item->label >= 0; /* -1 is "no label" */
}

/* Collecting. */

static int regroup_refuse_contradiction(const struct regroup_match *a,
					const struct regroup_match *b, const char *path,
					struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s and %s say two labels of '%.200s'; "
			 "leave one of them out of -o names=",
			 a->map->path, b->map->path, path);
}

static bool regroup_same_label(const struct name_map_item *a,
			       const struct name_map_item *b)
{
	if (!a->class_name || !b->class_name)
		return a->class_name == b->class_name && a->label == b->label;
	return strcmp(a->class_name, b->class_name) == 0;
}

static void note_match(const struct regroup_match *match, const char *path)
{
	match->key->seen = true;
	match->key->exact |= is_key(match->item, path);
	if (match->grade <= match->map->best)
		return;
	match->map->best = match->grade;
	match->map->example = path;
}

/* Several maps may know a file, if they agree. */
static int collect_file(struct regroup *r, const char *path, struct error *e)
{
	struct regroup_match first = { .item = NULL }, match;
	int err = 0;

	for (size_t i = 0; i < r->map_count && !err; i++) {
		if (!regroup_find(&r->maps[i], path, &match))
			continue;
		note_match(&match, path);
		if (!first.item)
			first = match;
		else if (!regroup_same_label(first.item, match.item))
			return regroup_refuse_contradiction(&first, &match, path, e);
		if (!match.item->class_name)
			err = regroup_classes_add(r->classes, path, match.item->label);
	}
	return err;
}

/* May an entry be moved? A nested packed file that could be read is a directory. */
static bool is_file(const struct entry *entry)
{
	return entry->kind == ENTRY_FILE || entry->kind == ENTRY_SYMLINK ||
	       entry->kind == ENTRY_HARDLINK ||
	       (entry->kind == ENTRY_NESTED && entries_failed(entry->nested));
}

static bool is_relative_link(const struct entry *entry)
{
	return entry->kind == ENTRY_SYMLINK && entry->target && *entry->target &&
	       *entry->target != '/';
}

static int collect_entry(struct regroup *r, const struct entry *entry, const char *prefix,
			 struct error *e)
{
	struct regroup_file file = { .path = make_whole(r, prefix, entry->path) };
	int err = file.path ? regroup_classes_add_path(r->classes, file.path) : -ENOMEM;

	if (err || !is_file(entry))
		return err;
	if (entry->kind == ENTRY_HARDLINK) {
		file.end = make_whole(r, prefix, entry->target);
		err = file.end ? 0 : -ENOMEM;
	} else if (is_relative_link(entry) && *filename_of(entry->target)) {
		err = follow_link(r, file.path, entry->target, &file.end);
	}
	if (!err)
		err = vec_push(&r->files, file);
	return err ? err : collect_file(r, file.path, e);
}

/* Goes into nested logs, and on to those that follow, until one fails. */
static int visit_logs(struct regroup *r, struct entries *log, const char *prefix,
		      int (*visit)(struct regroup *r, struct entries *log,
				   const char *prefix, struct error *e),
		      struct error *e)
{
	int err = 0;

	for (; log && !err; log = entries_next(log)) {
		err = visit(r, log, prefix, e);
		for (size_t i = 0; i < entries_count(log) && !err; i++) {
			const struct entry *entry = entries_get(log, i);
			const char *path = skip_root(entry->path), *inner;

			if (entry->kind != ENTRY_NESTED || entries_failed(entry->nested))
				continue;
			/* the directory that "a/n01440764.tar" is: "a/n01440764/" */
			inner = arena_print(&r->arena, "%s%.*s/", prefix,
					    (int)(suffix_of(path) - path), path);
			err = inner ? visit_logs(r, entry->nested, inner, visit, e) : -ENOMEM;
		}
	}
	return err;
}

static int collect_log(struct regroup *r, struct entries *log, const char *prefix,
		       struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < entries_count(log) && !err; i++)
		err = collect_entry(r, entries_get(log, i), prefix, e);
	return err;
}

int regroup_collect(struct regroup *r, struct entries *entries, const char *split,
		    struct error *e)
{
	struct regroup_shard shard = { .split = split };
	int err = visit_logs(r, entries, "", collect_log, e);

	shard.files = r->files.count;
	if (!err)
		err = vec_push(&r->shards, shard);
	return err == -ENOMEM ? error_no_memory(e, NULL) : err;
}

/* Reporting. */

/* Counts the names without a file; of those that come twice, the first stands for all. */
static size_t count_missing(const struct regroup_map *map, const char **example)
{
	size_t missing = 0;

	for (size_t i = 0; i < name_map_count(map->map); i++) {
		const struct name_map_item *item = name_map_get(map->map, i);
		const struct name_map_item *first;

		if (map->keys[i].seen)
			continue;
		first = name_map_find(map->map, filename_of(item->key));
		if (first && first != item)
			continue;
		if (missing++ == 0)
			*example = item->key;
	}
	return missing;
}

static void report_map(const struct regroup *r, const struct regroup_map *map)
{
	const char *example = "", *name = filename_of(map->path);
	size_t count = name_map_count(map->map), missing = count_missing(map, &example);

	if (map->best == GRADE_NONE)
		findings_add(r->findings, FINDING_UNUSED,
			     "names=%s: no file here has one of its %zu names (%.200s, "
			     "for one), so nothing is moved by it", name, count,
			     name_map_get(map->map, 0)->key);
	else if (missing)
		findings_add(r->findings, FINDING_LEFT_OUT,
			     "names=%s: %zu of its %zu names have no file here (%.200s, "
			     "for one)", name, missing, count, example);
	if (map->elsewhere)
		findings_add(r->findings, FINDING_LEFT_OUT,
			     "names=%s: %" PRIu64 " files have one of its names, but lie "
			     "in other directories than it says, and stay there", name,
			     map->elsewhere);
}

static int refuse_shift(const struct regroup *r, struct error *e)
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

static void regroup_report(struct regroup *r)
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

int regroup_seal(struct regroup *r, struct error *e)
{
	int err;

	regroup_classes_seal(r->classes);
	err = regroup_check(r, e);
	if (!err)
		err = refuse_shift(r, e);
	if (!err)
		regroup_report(r);
	return err == -ENOMEM ? error_no_memory(e, NULL) : err;
}

/* Applying. */

/* A link that is moved goes one up first; then where the file that it means has gone. */
static int edit_entry(void *context, struct entry *entry)
{
	struct regroup *r = context;
	const struct regroup_file *file;
	bool up;
	int err = 0;

	if (!is_file(entry))
		return 0;
	file = &r->files.items[r->applied++];
	up = file->directory && is_relative_link(entry);
	text_cut(&r->target, 0);
	if (file->directory && !(entry->path = regroup_new_path(r, entry->path,
								file->directory)))
		return -ENOMEM;
	if (!up && !file->end_directory)
		return 0;
	if (up)
		err = text_append(&r->target, "../", 3);
	if (!err)
		err = regroup_insert(&r->target, entry->target, file->end_directory);
	entry->target = r->target.items;
	return err;
}

static int apply_log(struct regroup *r, struct entries *log, const char *prefix,
		     struct error *e)
{
	return entries_rewrite(log, edit_entry, r);
}

int regroup_apply(struct regroup *r, struct entries *entries, struct error *e)
{
	return regroup_used(r) && visit_logs(r, entries, "", apply_log, NULL) < 0 ?
		       error_no_memory(e, NULL) : 0;
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
