/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of variable length, as samples.
 *
 * The table of descriptors is read from the source, slice by slice or chunk by
 * chunk, and never by H5Dread, which would read every image. It is gone through
 * twice: first as far as 16 rows that are not empty, whose beginnings say which
 * extension they get; then to the end.
 */
#include "format/hdf5/row_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/hdf5/fuel.h"
#include "format/hdf5/labels.h"
#include "format/limits.h"
#include "names/split_words.h"

enum { ROWS_SNIFFED = 16, NAME_ROOM = HDF5_WORD_BYTES + 16 };

/* The arrays of names that go with rows. */
static const char *const name_arrays[] = { "filenames", "filename", "file_names", "names" };

/* A table that is gone through, row by row, and what says something of its rows. */
struct table {
	const struct hdf5_array *is;
	struct hdf5_walk *walk;
	struct hdf5_column column;
	struct hdf5_labels labels;
	struct hdf5_splits splits;
	bool named;
	struct hdf5_dataset names; /* open if named */
	struct hdf5_words words;
	const char *extension;
	char name[NAME_ROOM];

	unsigned sniffed;
	const char *extensions[ROWS_SNIFFED];
};

static int get_row(struct table *t, uint64_t number, struct hdf5_row *row)
{
	const unsigned char *bytes = NULL;
	int err = hdf5_column_get(&t->column, number, &bytes);

	if (!err)
		*row = hdf5_row_parse(bytes);
	return err;
}

static int refuse_row(struct table *t, uint64_t number, const struct hdf5_row *row,
		      int err)
{
	if (err != -EBADMSG || t->walk->file.blocks.err)
		return hdf5_refuse_read(t->walk, err);
	return hdf5_refuse(t->walk,
			   "is damaged: row %llu (%u bytes, object %u of the "
			   "heap collection at byte %llu) %s; copy the file "
			   "again, or write it again",
			   (unsigned long long)number, row->length, row->index,
			   (unsigned long long)row->address, t->walk->heap.problem);
}

/* Beginnings */

static int sniff_row(struct table *t, uint64_t number)
{
	unsigned char head[SAMPLES_SNIFF_BYTES];
	struct hdf5_row row = { 0 };
	struct hdf5_found place;
	size_t n;
	int err = get_row(t, number, &row);

	if (err || row.length == 0)
		return err;
	n = row.length < sizeof(head) ? row.length : sizeof(head);
	err = hdf5_heap_find_surely(&t->walk->heap, &row, &place);
	if (err)
		return refuse_row(t, number, &row, err);
	err = hdf5_blocks_read(&t->walk->file.blocks, head, n, place.at);
	if (err)
		return hdf5_refuse_read(t->walk, err);
	t->extensions[t->sniffed++] = samples_sniff(head, n);
	return 0;
}

static int sniff(struct table *t)
{
	int err = 0;

	for (uint64_t i = 0; i < t->column.rows && !err && t->sniffed < ROWS_SNIFFED; i++)
		err = sniff_row(t, i);
	t->extension = samples_common_extension(t->extensions, t->sniffed);
	return err;
}

/* Names of files */

static int try_names(struct table *t, const char *name)
{
	struct hdf5_walk *walk = t->walk;
	bool found = false;
	int err = hdf5_open_beside(walk, t->is->group, name, &t->names, &found);

	if (err || !found)
		return err;
	if (!hdf5_are_words(&t->names) || t->names.dims[0] != t->column.rows) {
		hdf5_dataset_close(&t->names);
		return 0;
	}
	t->named = true;
	walk->beside = name;
	err = hdf5_words_open(walk, &t->names, &t->words);
	walk->beside = NULL;
	return err ? err : hdf5_use(walk, t->names.address);
}

static int find_names(struct table *t)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(name_arrays) / sizeof(*name_arrays); i++)
		if (!err && !t->named)
			err = try_names(t, name_arrays[i]);
	return err;
}

static bool has_suffix(const char *name)
{
	static const char *const known[] = { "jpg", "jpeg", "png", "webp", "gif", "bmp",
					    "tif", "tiff", "ppm", "pgm",  "npy" };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(known) / sizeof(*known); i++)
		if (strcasecmp(dot + 1, known[i]) == 0)
			return true;
	return false;
}

/* Could a file have this name, within a folder? */
static bool is_name(const char *name)
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
static int name_row(struct table *t, uint64_t number, struct sample *sample)
{
	const char *name = NULL;
	int err = hdf5_words_get(&t->words, number, &name);

	if (err || !is_name(name))
		return err;
	snprintf(t->name, sizeof(t->name), "%s%s%s", name, has_suffix(name) ? "" : ".",
		 has_suffix(name) ? "" : t->extension);
	sample->name = t->name;
	return hdf5_charge_paths(t->walk, 1, strlen(t->name));
}

/* Samples */

static int find_bytes(struct table *t, uint64_t number, struct sample *sample)
{
	const struct scan *scan = t->walk->scan;
	struct entry_extent extent = { 0 };
	struct hdf5_row row = { 0 };
	struct hdf5_found place;
	int err = get_row(t, number, &row);

	if (err || row.length == 0)
		return err;
	err = hdf5_heap_find(&t->walk->heap, &row, &place);
	if (err)
		return refuse_row(t, number, &row, err);
	err = entries_guarded_extent(scan->entries, scan->source_number,
				     scan->base + scan->length,
				     place.guessed ? GUARD_HDF5_FIRST : GUARD_HDF5_HEAP,
				     scan->base + place.at, row.length, &extent);
	if (err == -EBADMSG)
		t->walk->heap.problem = "lies outside the file";
	if (err)
		return refuse_row(t, number, &row, err);
	sample->body = (struct sample_bytes){ extent.offset, row.length, extent.volume };
	return 0;
}

static int add_row(struct table *t, uint64_t number, bool labelled)
{
	struct sample sample = { 0 };
	int err = find_bytes(t, number, &sample);

	if (!err && labelled)
		err = hdf5_labels_get(&t->labels, number, &sample);
	if (!err && t->named)
		err = name_row(t, number, &sample);
	if (err)
		return err;
	if (samples_add(t->walk->scan->samples, &sample) < 0)
		return hdf5_out_of_memory(t->walk);
	hdf5_advance(t->walk, sample.body.length);
	return 0;
}

static int begin_group(struct table *t, const char *split, bool labelled, uint64_t rows)
{
	const struct hdf5_array *array = t->is;
	struct sample_group group = {
		.split = split,
		.name = array->name,
		.class_name = array->class_name,
		.labels = labelled ? t->labels.name : NULL,
		.extension = t->extension,
		.rows = rows,
	};

	if (labelled) {
		group.class_names = (const char *const *)t->labels.class_names;
		group.class_count = t->labels.class_count;
	} else if (array->class_name) {
		group.labels = "the names of arrays or files";
		group.labels_in_words = true;
	}
	if (samples_begin(t->walk->scan->samples, &group) < 0)
		return hdf5_out_of_memory(t->walk);
	hdf5_note_array(t->walk, split,
			array->class_name ? "rows, an array for each class" : array->name,
			labelled ? group.labels : NULL);
	t->walk->labelled |= array->class_name != NULL;
	return 0;
}

static int add_split(struct table *t, const char *parent, const struct hdf5_split *split)
{
	uint64_t first = split->listed ? 0 : split->start;
	uint64_t end = split->listed ? t->column.rows : split->stop;
	size_t room = strlen(parent) + sizeof(split->name) + 2;
	CLEANUP(cleanup_free) char *path = malloc(room);
	bool labelled = t->labels.found && split->labelled;
	int err;

	if (!path)
		return hdf5_out_of_memory(t->walk);
	snprintf(path, room, "%s%s%s", parent, *parent ? "/" : "", split->name);
	err = hdf5_charge_rows(t->walk, split->count);
	if (!err)
		err = begin_group(t, path, labelled, split->count);
	for (uint64_t i = first; i < end && !err; i++)
		if (hdf5_split_has(split, i))
			err = add_row(t, i, labelled);
	return err;
}

/* The parent group of the dataset at hand, without its first slash. */
static char *copy_parent(const struct hdf5_walk *walk)
{
	const char *path = walk->path.items, *end = strrchr(path, '/');

	return end > path ? strndup(path + 1, (size_t)(end - path - 1)) : strdup("");
}

static int add_groups(struct table *t)
{
	size_t n = t->splits.items.count;
	CLEANUP(cleanup_free) char *parent = n ? copy_parent(t->walk) :
						 hdf5_copy_split(t->walk);
	int err = 0;

	if (!parent)
		return hdf5_out_of_memory(t->walk);
	for (size_t i = 0; i < n && !err; i++)
		err = add_split(t, parent, &t->splits.items.items[i]);
	if (n || err)
		return err;
	err = begin_group(t, parent, t->labels.found, t->column.rows);
	for (uint64_t i = 0; i < t->column.rows && !err; i++)
		err = add_row(t, i, t->labels.found);
	return err;
}

static int take_table(struct table *t)
{
	const struct hdf5_array *array = t->is;
	uint64_t rows;
	int err = hdf5_column_open(t->walk, array->dataset, &t->column);

	if (err)
		return err;
	rows = t->column.rows;
	if (!array->class_name)
		err = hdf5_labels_find(t->walk, array->group, array->name, rows,
				       hdf5_splits_exist(array->group), &t->labels);
	if (!err && !t->labels.found)
		err = hdf5_labels_missing(t->walk, &t->labels, array->name, rows);
	if (!err)
		err = find_names(t);
	if (!err)
		err = hdf5_splits_read(t->walk, array->group, array->name,
				       t->labels.found ? t->labels.name : NULL, rows,
				       &t->splits);
	if (!err && t->labels.found)
		err = hdf5_splits_check(t->walk, &t->splits, t->labels.dataset.dims[0],
					rows);
	if (!err)
		err = sniff(t);
	return err ? err : add_groups(t);
}

static void end_table(struct table *t)
{
	if (t->named) {
		hdf5_words_close(&t->words);
		hdf5_dataset_close(&t->names);
	}
	hdf5_splits_free(&t->splits);
	hdf5_labels_close(&t->labels);
	hdf5_column_close(&t->column);
}

int hdf5_take_rows(const struct hdf5_array *array)
{
	struct hdf5_walk *walk = array->walk;
	CLEANUP(cleanup_free) struct table *t = calloc(1, sizeof(*t));
	uint64_t rows = array->dataset->dims[0];
	int err;

	if (!t)
		return hdf5_out_of_memory(walk);
	t->is = array;
	t->walk = walk;
	err = hdf5_charge_rows(walk, rows);
	if (!err)
		err = hdf5_charge_paths(walk, rows, walk->path.count);
	if (!err)
		err = take_table(t);
	end_table(t);
	return err;
}

/* What all arrays of samples have in common */

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
void hdf5_note_array(struct hdf5_walk *walk, const char *split, const char *name,
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

static bool names_split(const char *path)
{
	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (split_is_word(path, n))
			return true;
	}
	return false;
}

char *hdf5_copy_split(const struct hdf5_walk *walk)
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
