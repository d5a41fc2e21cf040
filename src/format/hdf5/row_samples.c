/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows as samples: in splits, with labels and names.
 *
 * Rows at the end of a split that were never written are left out: a script made room for
 * them, and their labels say nothing.
 */
#include "format/hdf5/row_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "build/findings.h"
#include "format/hdf5/emit.h"
#include "format/hdf5/fuel.h"
#include "format/hdf5/labels.h"
#include "format/hdf5/split_arrays.h"
#include "names/image_suffixes.h"
#include "names/split_words.h"

enum { NAME_ROOM = HDF5_WORD_BYTES + 16 };

/* Rows that are being appended, and what says something of them. */
struct appending {
	struct hdf5_row_set *set;
	struct hdf5_walk *walk;
	struct hdf5_labels labels;
	struct hdf5_splits splits;
	bool named;
	struct hdf5_dataset names; /* open if named */
	struct hdf5_words words;
	uint64_t unwritten;        /* rows that are left out */
	uint64_t empty;            /* rows that are shown, and were never written, too */
	char name[NAME_ROOM];
};

/* Names of files */

static int row_samples_open_names(struct appending *a)
{
	size_t item = a->set->binding->files;
	struct hdf5_walk *walk;
	int err;

	if (item == RULE_NONE)
		return 0;
	walk = a->set->group->tables.items[item].walk;
	err = hdf5_group_open(a->set->group, item, &a->names);
	if (err)
		return err;
	a->named = true;
	walk->beside = a->set->group->catalogue.items.items[item].name;
	err = hdf5_words_open(walk, &a->names, &a->words);
	walk->beside = NULL;
	return err;
}

/* Could a file have this name, within a directory? */
static bool row_samples_is_name(const char *name)
{
	if (!*name || *name == '/')
		return false;
	for (const char *at = name; *at; at += strspn(at, "/")) {
		size_t n = strcspn(at, "/");

		if ((n == 1 && *at == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		at += n;
	}
	return name[strlen(name) - 1] != '/';
}

/* Arrays of strings of fixed size cut names, and with them what the name ends in. */
static int name_row(struct appending *a, uint64_t number, struct sample *sample)
{
	const char *name = NULL;
	int err = hdf5_words_get(&a->words, number, &name);
	bool known;

	if (err || !row_samples_is_name(name))
		return err;
	known = name_has_image_suffix(name, SUFFIX_IMAGE | SUFFIX_ARRAY);
	snprintf(a->name, sizeof(a->name), "%s%s%s", name, known ? "" : ".",
		 known ? "" : a->set->extension);
	sample->name = a->name;
	return hdf5_charge_paths(a->walk, 1, strlen(a->name));
}

/* Rows */

static int row_samples_add_sample(struct appending *a, uint64_t row, bool labelled,
				  struct sample *sample)
{
	int err = labelled ? hdf5_labels_get(&a->labels, row, sample) : 0;

	if (!err && a->named)
		err = name_row(a, row, sample);
	if (err)
		return err;
	if (samples_add(a->walk->scan->samples, sample) < 0)
		return hdf5_out_of_memory(a->walk);
	hdf5_advance(a->walk, sample->body.length);
	return 0;
}

/* Rows without contents, once one behind them turns out to have some. */
static int add_held(struct appending *a, const struct hdf5_split *split, uint64_t first,
		    uint64_t end, bool labelled)
{
	int err = 0;

	for (uint64_t i = first; i < end && !err; i++) {
		struct sample sample = { 0 };
		bool written;

		if (split && !hdf5_split_has(split, i))
			continue;
		err = a->set->fill(a->set, i, &sample, &written);
		if (!err)
			err = row_samples_add_sample(a, i, labelled, &sample);
		a->empty++;
	}
	return err;
}

static int add_rows(struct appending *a, const struct hdf5_split *split, bool labelled)
{
	uint64_t first = split && !split->listed ? split->start : 0;
	uint64_t end = split && !split->listed ? split->stop : a->set->rows;
	uint64_t held = first; /* rows from here on were never written */
	int err = 0;

	for (uint64_t i = first; i < end && !err; i++) {
		struct sample sample = { 0 };
		bool written = true;

		if (split && !hdf5_split_has(split, i))
			continue;
		err = a->set->fill(a->set, i, &sample, &written);
		if (err || (!written && !a->walk->scan->rows->arrays))
			continue;
		err = add_held(a, split, held, i, labelled);
		if (!err)
			err = row_samples_add_sample(a, i, labelled, &sample);
		held = i + 1;
	}
	for (uint64_t i = held; i < end && !err; i++)
		a->unwritten += !split || hdf5_split_has(split, i);
	return err;
}

/* Groups */

/* For scan->detail: "images and targets: /train, /val". */
static void begin_arrays_text(struct hdf5_walk *walk, const char *split, const char *name,
			      const char *labels)
{
	static const char more[] = "...";
	int n = snprintf(walk->arrays_text, sizeof(walk->arrays_text), "%.44s%s%.16s: /%.40s",
			 name, labels ? " and " : "", labels ? labels : "", split);

	if (n >= (int)sizeof(walk->arrays_text))
		memcpy(walk->arrays_text + sizeof(walk->arrays_text) - sizeof(more), more,
		       sizeof(more));
}

/* Several arrays of one split are told once. */
static void note_array(struct hdf5_walk *walk, const char *split, const char *name,
		     const char *labels)
{
	size_t n = strlen(walk->arrays_text), room = sizeof(walk->arrays_text) - n;
	size_t length = strlen(split);

	walk->labelled |= labels != NULL;
	if (walk->arrays++ == 0)
		begin_arrays_text(walk, split, name, labels);
	else if (n > length && walk->arrays_text[n - length - 1] == '/' &&
		 strcmp(walk->arrays_text + n - length, split) == 0)
		return;
	else if (length + 8 < room)
		snprintf(walk->arrays_text + n, room, ", /%s", split);
	else if (room > 5 && strcmp(walk->arrays_text + n - 3, "...") != 0)
		snprintf(walk->arrays_text + n, room, ", ...");
}

static int row_samples_begin_group(struct appending *a, const char *split, bool labelled,
				   uint64_t rows)
{
	const struct hdf5_row_set *set = a->set;
	struct sample_group group = {
		.split = split,
		.name = set->name,
		.class_name = set->class_name,
		.labels = labelled ? a->labels.name : NULL,
		.extension = set->extension,
		.rows = rows,
	};

	if (labelled) {
		group.class_names = (const char *const *)a->labels.class_names;
		group.class_count = a->labels.class_count;
		group.classes_in_list = a->labels.in_list;
	} else if (set->class_name) {
		group.labels = "the names of arrays or files";
		group.labels_in_words = true;
	}
	if (samples_begin(a->walk->scan->samples, &group) < 0)
		return hdf5_out_of_memory(a->walk);
	note_array(a->walk, split, set->class_name ? "rows, an array for each class" :
		   set->shown ? set->shown : set->name, labelled ? group.labels : NULL);
	a->walk->labelled |= set->class_name != NULL;
	return 0;
}

static int row_samples_add_split(struct appending *a, const char *parent,
				 const struct hdf5_split *split)
{
	size_t room = strlen(parent) + sizeof(split->name) + 2;
	CLEANUP(cleanup_free) char *path = malloc(room);
	bool labelled = a->labels.found && split->labelled;
	int err;

	if (!path)
		return hdf5_out_of_memory(a->walk);
	snprintf(path, room, "%s%s%s", parent, *parent ? "/" : "", split->name);
	err = hdf5_charge_rows(a->walk, split->count);
	if (!err)
		err = row_samples_begin_group(a, path, labelled, split->count);
	return err ? err : add_rows(a, split, labelled);
}

/* The parent group of the dataset at hand, without its first slash. */
static char *copy_parent(const struct hdf5_walk *walk)
{
	const char *path = walk->path.items, *end = strrchr(path, '/');

	return end > path ? strndup(path + 1, (size_t)(end - path - 1)) : strdup("");
}

static bool names_split(const char *path)
{
	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (split_is_word(path, n))
			return true;
	}
	return false;
}

/*
 * The split of the rows at hand: their parent group, without the
 * first slash; if no name in that says so, below what the file's name says.
 */
static char *copy_split(const struct hdf5_walk *walk)
{
	const char *split = walk->scan->rows->split;
	char *parent = copy_parent(walk), *path;

	if (!parent || !split || names_split(parent))
		return parent;
	if (asprintf(&path, "%s%s%s", split, *parent ? "/" : "", parent) < 0)
		path = NULL;
	free(parent);
	return path;
}

static int add_groups(struct appending *a)
{
	size_t n = a->splits.items.count;
	CLEANUP(cleanup_free) char *parent = n ? copy_parent(a->walk) : copy_split(a->walk);
	int err = 0;

	if (!parent)
		return hdf5_out_of_memory(a->walk);
	for (size_t i = 0; i < n && !err; i++)
		err = row_samples_add_split(a, parent, &a->splits.items.items[i]);
	if (n || err)
		return err;
	err = row_samples_begin_group(a, parent, a->labels.found, a->set->rows);
	return err ? err : add_rows(a, NULL, a->labels.found);
}

static int row_samples_append(struct appending *a)
{
	struct hdf5_row_set *set = a->set;
	uint64_t rows = set->rows;
	int err = hdf5_labels_open(set->group, set->binding, &a->labels);

	if (!err)
		err = row_samples_open_names(a);
	if (!err)
		err = hdf5_splits_read(a->walk, &set->group->lines, set->name,
				       a->labels.found ? a->labels.name : NULL, rows,
				       &a->splits);
	if (!err && a->splits.items.count == 0 && !a->walk->scan->rows->arrays)
		err = hdf5_split_arrays_read(set->group, set->binding, a->labels.found,
					     &a->splits);
	if (!err && a->labels.found)
		err = hdf5_splits_check(a->walk, &a->splits, a->labels.count, rows);
	if (!err)
		err = add_groups(a);
	if (!err && a->unwritten)
		findings_add(a->walk->scan->findings, FINDING_LEFT_OUT,
			     "the last %llu rows of '%.200s' were never written (%llu "
			     "rows): they are left out; -o view=arrays shows arrays "
			     "whole", (unsigned long long)a->unwritten,
			     a->walk->path.items, (unsigned long long)rows);
	if (!err && a->empty)
		findings_add(a->walk->scan->findings, FINDING_LEFT_OUT,
			     "%llu rows of '%.200s' between others are empty, or were "
			     "never written: they are shown",
			     (unsigned long long)a->empty, a->walk->path.items);
	return err;
}

int hdf5_add_row_set(struct hdf5_row_set *set)
{
	CLEANUP(cleanup_free) struct appending *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return hdf5_out_of_memory(set->group->walk);
	a->set = set;
	a->walk = set->group->walk;
	err = row_samples_append(a);
	if (a->named) {
		hdf5_words_close(&a->words);
		hdf5_dataset_close(&a->names);
	}
	hdf5_splits_free(&a->splits);
	hdf5_labels_close(&a->labels);
	return err;
}

/*
 * Each row that is not empty has an object of its own, and those take room. What
 * remains are rows that are empty or were never written, which cost nothing where
 * they are packed or left out.
 */
int hdf5_charge_rows(struct hdf5_walk *walk, uint64_t rows)
{
	if (rows > walk->row_budget)
		return hdf5_refuse(walk,
				   "has %llu rows, more than the file has room for: "
				   "they were never written, or are empty; make it "
				   "smaller",
				   (unsigned long long)rows);
	walk->row_budget -= rows;
	return 0;
}
