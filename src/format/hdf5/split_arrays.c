/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/split_arrays.h"

#include <stdlib.h>
#include <string.h>

#include "format/hdf5/words.h"
#include "labels/row_splits.h"
#include "names/label_words.h"

static int refuse_word(struct hdf5_walk *walk, const char *column, const char *word)
{
	return hdf5_refuse(walk, "has splits in '%.100s', of which one is '%.64s': up to %d are "
			   "supported, each a word that a directory can have; write "
			   "others, or see the arrays as they are stored (-o view=arrays)", column, word,
			   ROW_SPLITS_MOST);
}

/* The split with this name, made if it is new. */
static int add_word(struct hdf5_walk *walk, const char *column, const char *word,
		    uint64_t rows, struct row_splits *words, struct hdf5_splits *out,
		    struct hdf5_split **found)
{
	int k = row_splits_number(words, word, strlen(word));
	struct hdf5_split split = { 0 };

	if (k < 0 || !split_names_directory(words->words[k]))
		return refuse_word(walk, column, word);
	if ((size_t)k == out->items.count) {
		memcpy(split.name, words->words[k], sizeof(split.name));
		split.listed = calloc(1, (size_t)(rows / 8 + 1));
		if (!split.listed || vec_push(&out->items, split) < 0) {
			free(split.listed);
			return hdf5_out_of_memory(walk);
		}
	}
	*found = &out->items.items[k];
	return 0;
}

static int split_arrays_read_column(struct hdf5_group *group, const struct binding *b,
				    struct hdf5_splits *out)
{
	struct hdf5_walk *walk = group->walk;
	const char *name = group->catalogue.items.items[b->split_column].name, *word = NULL;
	struct row_splits splits = { .count = 0 };
	struct hdf5_words words = { 0 };
	struct hdf5_dataset d;
	int err = hdf5_group_open(group, b->split_column, &d);

	if (err)
		return err;
	err = hdf5_words_open(group->tables.items[b->split_column].walk, &d, &words);
	for (uint64_t i = 0; i < b->rows && !err; i++) {
		struct hdf5_split *split = NULL;

		err = hdf5_words_get(&words, i, &word);
		if (!err)
			err = add_word(walk, name, word, b->rows, &splits, out, &split);
		if (!err && split) {
			split->listed[i / 8] |= (unsigned char)(1u << i % 8);
			split->count++;
		}
	}
	hdf5_words_close(&words);
	hdf5_dataset_close(&d);
	return err;
}

/* MATLAB counts rows from 1. */
static int split_arrays_read_list(struct hdf5_group *group, size_t item, uint64_t rows,
				  struct hdf5_splits *out)
{
	struct hdf5_walk *walk = group->walk;
	const char *name = group->catalogue.items.items[item].name;
	struct hdf5_split split = { 0 };
	char word[SPLIT_BYTES];
	uint64_t wrong = UINT64_MAX;
	struct hdf5_dataset d;
	int err = hdf5_group_open(group, item, &d);

	if (err)
		return err;
	name_is_split_list(name, word);
	memcpy(split.name, word, sizeof(word));
	err = hdf5_split_mark(walk, &d, H5Aexists(d.id, "MATLAB_class") > 0, rows, &split,
			      &wrong);
	hdf5_dataset_close(&d);
	if (!err && wrong != UINT64_MAX)
		err = hdf5_refuse(walk, "has %llu rows, and '%.100s', which says which of them are "
				  "in a split, has another one in its place %llu; write it again, "
				  "or see the arrays as they are stored (-o view=arrays)",
				  (unsigned long long)rows, name, (unsigned long long)wrong);
	else if (!err && split.count < label_rules_count(&group->catalogue.items.items[item]))
		err = hdf5_refuse(walk, "has a row more than once in '%.100s', which says which "
				  "rows are in a split; write it again, or see the arrays as "
				  "they are stored (-o view=arrays)", name);
	if (!err && vec_push(&out->items, split) < 0)
		err = hdf5_out_of_memory(walk);
	if (err)
		free(split.listed);
	return err;
}

int hdf5_split_arrays_read(struct hdf5_group *group, const struct binding *b, bool labelled,
			   struct hdf5_splits *out)
{
	const struct binding_plan *plan = &group->plan;
	int err = 0;

	if (b->split_column != RULE_NONE)
		err = split_arrays_read_column(group, b, out);
	for (size_t i = 0; i < plan->split_lists.count && b->has_split_lists && !err; i++)
		err = split_arrays_read_list(group, plan->split_lists.items[i], b->rows,
					     out);
	for (size_t i = 0; i < out->items.count; i++)
		out->items.items[i].labelled = labelled;
	if (!err)
		hdf5_splits_report_unlisted(group->walk, out, b->rows, "the lists of "
					    "rows beside them say");
	return err;
}
