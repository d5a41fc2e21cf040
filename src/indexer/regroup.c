#include "indexer/regroup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "indexer/maps_texts.h"
#include "indexer/notes.h"
#include "indexer/regroup_classes.h"
#include "indexer/regroup_names.h"
#include "tree/sum.h"
#include "util/filename.h"
#include "util/log.h"
#include "util/vec.h"

/* How well a file fits a key that has its name. */
enum { GRADE_FOLDER = 2, GRADE_SUFFIX = 1, GRADE_NONE = -1 };

/* A map, and what of it has been seen. */
struct map_state {
	const struct name_map *map;
	const char *path;
	int best;             /* grade */
	uint64_t files[4];    /* by grade */
	unsigned char *seen;  /* by item, a bit each */
	size_t missing;       /* once sealed: items without a file */
	uint64_t elsewhere;   /* files that lie in other folders than the keys say */
};

struct text {
	char *items; /* with a NUL behind it, once something was added */
	size_t count, room;
};

struct regroup {
	struct map_state *maps;
	size_t map_count;
	struct regroup_classes *classes;
	struct map_texts used; /* folders of classes */
	struct regroup_names names; /* of the shard in hand */
	uint64_t clash;             /* the one that two files get */
	uint64_t moved;
	struct text prefix; /* of a nested log: "a/b/" */
	struct text whole;  /* a path with its prefix */
	struct text path, target; /* that an entry gets */
};

/* A file that a map knows. */
struct match {
	const struct name_map_item *item;
	struct map_state *state;
	int grade;
};

static void text_cut(struct text *t, size_t size)
{
	t->count = size;
	if (t->items)
		t->items[size] = '\0';
}

/* Appends, and keeps a NUL behind it. */
static int text_add(struct text *t, const char *bytes, size_t n)
{
	if (vec_reserve(t, n + 1) < 0)
		return -ENOMEM;
	memcpy(t->items + t->count, bytes, n);
	t->count += n;
	t->items[t->count] = '\0';
	return 0;
}

static int saw_keys(struct regroup *r, const struct name_map *map)
{
	int err = 0;

	for (size_t i = 0; i < name_map_count(map) && !err; i++) {
		const struct name_map_item *item = name_map_get(map, i);

		if (!item->class_name)
			err = regroup_classes_saw(r->classes, item->key, item->label);
	}
	return err;
}

struct regroup *regroup_new(const struct view_map *maps, size_t n,
			    const struct class_list *classes)
{
	struct regroup *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->classes = regroup_classes_new(classes);
	r->maps = calloc(n ? n : 1, sizeof(*r->maps));
	if (!r->classes || !r->maps)
		goto failed;
	for (size_t i = 0; i < n; i++) {
		struct map_state *state = &r->maps[r->map_count++];

		state->map = maps[i].map;
		state->path = maps[i].path;
		state->best = GRADE_NONE;
		state->seen = calloc(name_map_count(state->map) / 8 + 1, 1);
		if (!state->seen || saw_keys(r, state->map) < 0)
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
		free(r->maps[i].seen);
	free(r->maps);
	regroup_classes_free(r->classes);
	map_texts_free(&r->used);
	vec_free(&r->names.items);
	vec_free(&r->prefix);
	vec_free(&r->whole);
	vec_free(&r->path);
	vec_free(&r->target);
	free(r);
}

/* Finding. */

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Does the file lie in a folder that the key has? One that has none lies anywhere. */
static bool folders_agree(const char *key, const char *path)
{
	const char *name = name_in(path), *begin;

	if (name == path || !strchr(key, '/'))
		return true;
	begin = name - 1;
	while (begin > path && begin[-1] != '/')
		begin--;
	return regroup_has_folder(key, begin, (size_t)(name - 1 - begin));
}

static int grade_of(const char *key, const char *path)
{
	int grade = 0;

	if (folders_agree(key, path))
		grade += GRADE_FOLDER;
	if (strcmp(name_in(key), name_in(path)) == 0 || regroup_has_image_suffix(path))
		grade += GRADE_SUFFIX;
	return grade;
}

static bool find_in(struct map_state *state, const char *path, struct match *out)
{
	const struct name_map_item *item = name_map_find(state->map, path);

	if (!item)
		return false;
	*out = (struct match){ item, state, grade_of(item->key, path) };
	return true;
}

/* "./a" and "/a" are a. */
static const char *skip_root(const char *path)
{
	while (*path == '/' || (path[0] == '.' && path[1] == '/'))
		path++;
	return path;
}

/* A path of the log in hand, from the root: valid until the next one. */
static const char *whole_path(struct regroup *r, const char *path)
{
	if (r->prefix.count == 0)
		return skip_root(path);
	text_cut(&r->whole, 0);
	if (text_add(&r->whole, r->prefix.items, r->prefix.count) < 0 ||
	    text_add(&r->whole, skip_root(path), strlen(skip_root(path))) < 0)
		return NULL;
	return skip_root(r->whole.items);
}

/* What may be moved: a nested packed file that could be read is a folder. */
static bool is_file(const struct entry *entry)
{
	return entry->kind == ENTRY_FILE || entry->kind == ENTRY_SYMLINK ||
	       entry->kind == ENTRY_HARDLINK ||
	       (entry->kind == ENTRY_NESTED && entries_failed(entry->nested));
}

/* The folder that a nested packed file is: "a/n01440764.tar" is "a/n01440764/". */
static int enter_nested(struct regroup *r, const char *path)
{
	const char *dot, *name;

	path = skip_root(path);
	name = name_in(path);
	dot = strrchr(name, '.');
	if (text_add(&r->prefix, path, dot && dot > name ? (size_t)(dot - path) :
							   strlen(path)) < 0)
		return -ENOMEM;
	return text_add(&r->prefix, "/", 1);
}

/* Looking. */

static int refuse_contradiction(const struct match *a, const struct match *b,
				const char *path, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s and %s say two labels of '%.200s'; "
			 "leave one of them out of -o names=",
			 a->state->path, b->state->path, path);
}

static bool same_label(const struct name_map_item *a, const struct name_map_item *b)
{
	if (!a->class_name || !b->class_name)
		return a->class_name == b->class_name && a->label == b->label;
	return strcmp(a->class_name, b->class_name) == 0;
}

static void count_file(const struct match *match)
{
	struct map_state *state = match->state;
	size_t i = (size_t)(match->item - name_map_get(state->map, 0));

	state->seen[i / 8] |= (unsigned char)(1u << i % 8);
	state->files[match->grade]++;
	if (match->grade > state->best)
		state->best = match->grade;
}

/* Several maps may know a file, if they agree. */
static int look_at_file(struct regroup *r, const char *path, struct error *e)
{
	struct match first = { NULL, NULL, 0 }, match;
	int err = 0;

	for (size_t i = 0; i < r->map_count && !err; i++) {
		if (!find_in(&r->maps[i], path, &match))
			continue;
		count_file(&match);
		if (!first.item)
			first = match;
		else if (!same_label(first.item, match.item))
			return refuse_contradiction(&first, &match, path, e);
		if (!match.item->class_name)
			err = regroup_classes_saw(r->classes, path, match.item->label);
	}
	return err;
}

static int look_at(struct regroup *r, const struct entry *entry, struct error *e)
{
	const char *path = whole_path(r, entry->path);

	if (!path || regroup_classes_saw_path(r->classes, path) < 0)
		return -ENOMEM;
	return is_file(entry) ? look_at_file(r, path, e) : 0;
}

/* Goes into nested logs, and on to those that follow. */
static int for_each_log(struct regroup *r, struct entries *entries,
			int (*run)(struct regroup *r, struct entries *log,
				   struct error *e),
			struct error *e)
{
	int err = 0;

	for (; entries && !err; entries = entries_next(entries)) {
		err = run(r, entries, e);
		for (size_t i = 0; i < entries_count(entries) && !err; i++) {
			const struct entry *entry = entries_get(entries, i);
			size_t size = r->prefix.count;

			if (entry->kind != ENTRY_NESTED || entries_failed(entry->nested))
				continue;
			err = enter_nested(r, entry->path);
			if (!err)
				err = for_each_log(r, entry->nested, run, e);
			text_cut(&r->prefix, size);
		}
	}
	return err;
}

static int look_at_log(struct regroup *r, struct entries *log, struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < entries_count(log) && !err; i++)
		err = look_at(r, entries_get(log, i), e);
	return err;
}

int regroup_look(struct regroup *r, struct entries *entries, struct error *e)
{
	int err = for_each_log(r, entries, look_at_log, e);

	return err == -ENOMEM ? error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory") : err;
}

/* Counts the names without a file; of those that come twice, the first stands for all. */
static size_t count_missing(const struct map_state *state, const char **example)
{
	size_t missing = 0;

	for (size_t i = 0; i < name_map_count(state->map); i++) {
		const struct name_map_item *item = name_map_get(state->map, i);
		const struct name_map_item *first;

		if (state->seen[i / 8] & 1u << i % 8)
			continue;
		first = name_map_find(state->map, name_in(item->key));
		if (first && first != item)
			continue;
		if (missing++ == 0)
			*example = item->key;
	}
	return missing;
}

static void report(struct map_state *state)
{
	const char *example = "";
	size_t count = name_map_count(state->map);

	state->missing = count_missing(state, &example);
	for (int grade = 0; grade < GRADE_FOLDER && state->best >= GRADE_FOLDER; grade++)
		state->elsewhere += state->files[grade];
	if (state->best == GRADE_NONE)
		log_warn(
			"%s: no file here has one of its %zu names (%.200s, for one), so "
			"nothing is moved by it",
			state->path, count, name_map_get(state->map, 0)->key);
	else if (state->missing)
		log_warn("%s: %zu of its %zu names have no file here (%.200s, for one)",
			 state->path, state->missing, count, example);
	if (state->elsewhere)
		log_warn("%s: %" PRIu64 " files have one of its names, but lie in other "
			 "folders than it says, and stay there", state->path,
			 state->elsewhere);
}

void regroup_seal(struct regroup *r)
{
	regroup_classes_seal(r->classes);
	for (size_t i = 0; i < r->map_count; i++)
		report(&r->maps[i]);
}

/* Moving. */

/* What a map says of the file at `path`, or NULL: it is not meant. */
static const struct name_map_item *item_of(const struct regroup *r, const char *path)
{
	for (size_t i = 0; i < r->map_count; i++) {
		struct map_state *state = &r->maps[i];
		struct match match;

		if (state->best == GRADE_NONE || !find_in(state, path, &match) ||
		    match.grade < state->best)
			continue;
		if (match.item->class_name ||
		    match.item->label >= 0) /* -1 is "no label" */
			return match.item;
	}
	return NULL;
}

/*
 * The class's folder that the file at `path` is moved into: 1, 0 if it stays, -ENOMEM.
 * The text lives as long as the regrouping.
 */
static int new_folder(struct regroup *r, const char *path, const char **out)
{
	const struct name_map_item *item = item_of(r, path);
	const char *name;

	if (!item)
		return 0;
	name = item->class_name;
	if (!name)
		name = regroup_classes_name(r->classes, item->label);
	*out = map_texts_keep(&r->used, name, strlen(name));
	if (!*out)
		return -ENOMEM;
	return !regroup_has_folder(path, *out, strlen(*out));
}

/* Puts a folder before the last component. */
static int insert_folder(struct text *out, const char *path, const char *folder)
{
	const char *name = name_in(path);

	if (text_add(out, path, (size_t)(name - path)) < 0 ||
	    text_add(out, folder, strlen(folder)) < 0 || text_add(out, "/", 1) < 0)
		return -ENOMEM;
	return text_add(out, name, strlen(name));
}

/*
 * Where a link at `path` leads to, by the texts alone: NULL if that is above the root, or
 * (*err) memory is out.
 */
static const char *follow(struct regroup *r, const char *path, const char *target,
			  int *err)
{
	const char *name = name_in(path), *end;
	struct text *out = &r->path;

	text_cut(out, 0);
	*err = text_add(out, path, (size_t)(name - path));
	for (; *target && !*err; target = end + (*end == '/')) {
		end = strchrnul(target, '/');
		if (end - target == 2 && memcmp(target, "..", 2) == 0) {
			if (out->count == 0)
				return NULL;
			while (--out->count && out->items[out->count - 1] != '/')
				;
			text_cut(out, out->count);
		} else if (end > target && (end - target > 1 || *target != '.')) {
			*err = text_add(out, target, (size_t)(end - target));
			if (!*err && *end)
				*err = text_add(out, "/", 1);
		}
	}
	return *err ? NULL : out->items;
}

/* A link that is moved goes one up first; then where the file that it means has gone. */
static int move_symlink(struct regroup *r, const char *path, bool moved,
			struct entry *entry)
{
	const char *target = entry->target, *end, *folder;
	int err, follows = 0;

	if (!target || *target == '/' || !*target)
		return 0;
	end = follow(r, path, target, &err);
	if (end && *name_in(target))
		follows = new_folder(r, end, &folder);
	if (err || follows < 0)
		return -ENOMEM;
	if (!follows && !moved)
		return 0;
	text_cut(&r->target, 0);
	if (moved)
		err = text_add(&r->target, "../", 3);
	if (!err && follows)
		err = insert_folder(&r->target, target, folder);
	else if (!err)
		err = text_add(&r->target, target, strlen(target));
	entry->target = r->target.items;
	return err;
}

static int move_hardlink(struct regroup *r, struct entry *entry)
{
	const char *target = whole_path(r, entry->target), *folder;
	int follows = target ? new_folder(r, target, &folder) : -ENOMEM;

	if (follows <= 0)
		return follows;
	text_cut(&r->target, 0);
	follows = insert_folder(&r->target, entry->target, folder);
	entry->target = r->target.items;
	return follows;
}

static int move_entry(void *context, struct entry *entry)
{
	struct regroup *r = context;
	const char *path, *folder;
	int err = 0, moved;
	uint64_t was;

	if (!is_file(entry))
		return 0;
	if (entry->kind == ENTRY_HARDLINK)
		err = move_hardlink(r, entry);
	path = whole_path(r, entry->path);
	if (err || !path)
		return -ENOMEM;
	was = sum_of(path, strlen(path));
	moved = new_folder(r, path, &folder);
	if (entry->kind == ENTRY_SYMLINK && moved >= 0)
		err = move_symlink(r, path, moved, entry);
	if (err || moved < 0)
		return err ? err : moved;
	if (!moved)
		return regroup_names_add(&r->names, path, was);
	text_cut(&r->path, 0);
	if (insert_folder(&r->path, entry->path, folder) < 0)
		return -ENOMEM;
	entry->path = r->path.items;
	r->moved++;
	path = whole_path(r, entry->path);
	return path ? regroup_names_add(&r->names, path, was) : -ENOMEM;
}

static int move_log(struct regroup *r, struct entries *log, struct error *e)
{
	(void)e;
	return entries_rewrite(log, move_entry, r);
}

/* Says which path two files get. */
static int refuse_clash(struct regroup *r, struct entries *log, struct error *e)
{
	for (size_t i = 0; i < entries_count(log); i++) {
		const char *path = whole_path(r, entries_get(log, i)->path);

		if (path && sum_of(path, strlen(path)) == r->clash)
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "two files would be '%.300s', one of them moved "
					 "there by -o names=; leave names= out, or the file "
					 "out of its map", path);
	}
	return 0;
}

int regroup_apply(struct regroup *r, struct entries *entries, struct error *e)
{
	int err = 0;

	r->names.items.count = 0;
	if (regroup_used(r))
		err = for_each_log(r, entries, move_log, NULL);
	if (err)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	return regroup_names_clash(&r->names, &r->clash) ?
		       for_each_log(r, entries, refuse_clash, e) : 0;
}

uint64_t regroup_moved(const struct regroup *r)
{
	return r->moved;
}

bool regroup_used(const struct regroup *r)
{
	for (size_t i = 0; i < r->map_count; i++)
		if (r->maps[i].best != GRADE_NONE)
			return true;
	return false;
}

static void note_map(const struct map_state *state, struct index_summary *summary)
{
	const char *name = filename_of(state->path);

	if (state->best == GRADE_NONE)
		note(summary, "names=%.80s: no file has one of its names", name);
	else if (state->missing)
		note(summary, "names=%.80s: %zu of its %zu names have no file", name,
		     state->missing, name_map_count(state->map));
	if (state->elsewhere)
		note(summary,
		     "names=%.80s: %" PRIu64 " files have its names, but lie in other "
		     "folders than it says",
		     name, state->elsewhere);
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
	for (size_t i = 0; i < r->map_count; i++)
		note_map(&r->maps[i], summary);
}
