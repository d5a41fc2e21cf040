/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Labels: numbers or words, one a row, in an array beside that of the rows. Which one it
 * is, the rules decide.
 */
#include "format/hdf5/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "build/findings.h"
#include "format/hdf5/row_samples.h"
#include "labels/label_text.h"

enum {
	LABELS_CHUNK_BYTES = 64 << 20,
	CLASSES_MOST = 1 << 20,
	NAME_COSTS = 64, /* bytes of memory that a name takes besides its own */
};

/* Names of classes */

static int room_for_names(struct hdf5_walk *walk, struct hdf5_labels *labels, size_t n)
{
	labels->class_names = calloc(n, sizeof(*labels->class_names));
	if (!labels->class_names)
		return hdf5_out_of_memory(walk);
	labels->class_count = n;
	return 0;
}

static void drop_names(struct hdf5_labels *labels)
{
	for (size_t i = 0; i < labels->class_count; i++)
		free(labels->class_names[i]);
	free(labels->class_names);
	labels->class_names = NULL;
	labels->class_count = 0;
}

/* 0, 1, ... of an enumeration; libhdf5 allocates the name. */
static bool read_label_member(hid_t type, unsigned i, struct hdf5_labels *labels)
{
	unsigned char value[8] = { 0 };
	char *name = H5Tget_member_name(type, i);
	uint64_t number = UINT64_MAX;
	bool fits;

	if (H5Tget_size(type) <= sizeof(value) &&
	    H5Tget_member_value(type, i, value) >= 0) {
		size_t size = H5Tget_size(type);

		number = 0;
		for (size_t k = 0; k < size; k++)
			number |= (uint64_t)value[labels->number.big_endian ? size - 1 - k : k]
				  << 8 * k;
	}
	fits = name && number < labels->class_count && !labels->class_names[number];
	if (fits)
		labels->class_names[number] = strdup(name);
	H5free_memory(name);
	return fits && labels->class_names[number];
}

/* h5py's bool is an enumeration too, and no names. */
static bool labels_is_bool(hid_t type)
{
	char *name = H5Tget_nmembers(type) == 2 ? H5Tget_member_name(type, 0) : NULL;
	bool is = name && strcmp(name, "FALSE") == 0;

	H5free_memory(name);
	return is;
}

/* Those of members that are 0, 1, ..., each once; others stay numbers. */
static int read_label_members(struct hdf5_walk *walk, struct hdf5_labels *labels)
{
	hid_t type = labels->dataset.type;
	int n = H5Tget_nmembers(type), err;

	if (n <= 0 || labels_is_bool(type))
		return 0;
	err = room_for_names(walk, labels, (size_t)n);
	if (err)
		return err;
	for (unsigned i = 0; i < (unsigned)n && !err; i++) {
		if (!read_label_member(type, i, labels)) {
			drop_names(labels);
			break;
		}
		/* each array of rows copies them */
		err = hdf5_charge_paths(walk, 1, H5Tget_size(type) + NAME_COSTS);
	}
	return err;
}

static int labels_read_list(struct hdf5_walk *walk, struct hdf5_dataset *d,
			    struct hdf5_labels *labels)
{
	struct hdf5_words words;
	const char *text = NULL;
	int err = hdf5_words_open(walk, d, &words);

	if (!err) /* each array of rows reads it again */
		err = hdf5_charge_rows(walk, words.column.rows);
	if (!err)
		err = room_for_names(walk, labels, (size_t)words.column.rows);
	for (size_t i = 0; i < labels->class_count && !err; i++) {
		err = hdf5_words_get(&words, i, &text);
		if (!err)
			err = hdf5_charge_paths(walk, 1, strlen(text) + NAME_COSTS);
		if (!err)
			labels->class_names[i] = strdup(text);
		if (!err && !labels->class_names[i])
			err = hdf5_out_of_memory(walk);
	}
	hdf5_words_close(&words);
	return err;
}


static int open_list(struct hdf5_group *group, size_t item, struct hdf5_labels *labels)
{
	struct hdf5_walk *walk = group->tables.items[item].walk;
	struct hdf5_dataset d;
	int err = hdf5_group_open(group, item, &d);

	if (err)
		return err;
	if (hdf5_are_words(&d) && d.dims[0] <= CLASSES_MOST) {
		walk->beside = group->catalogue.items.items[item].name;
		err = labels_read_list(walk, &d, labels);
		walk->beside = NULL;
	}
	hdf5_dataset_close(&d);
	return err;
}

static int check_range(struct hdf5_group *group, const char *list,
		       struct hdf5_labels *labels)
{
	struct sample sample = { 0 };
	int err = 0;

	for (uint64_t i = 0; i < labels->count && !err; i++) {
		err = hdf5_labels_get(labels, i, &sample);
		if (!err && sample.label >= 0 && (uint64_t)sample.label >= labels->class_count)
			break;
	}
	if (err || sample.label < 0 || (uint64_t)sample.label < labels->class_count)
		return err;
	findings_add(group->walk->scan->findings, FINDING_LEFT_OUT,
		     "'%s' has the label %lld, and '%s' has names for 0 to %zu: the "
		     "classes keep their numbers; -o classes=FILE gives names",
		     labels->name, (long long)sample.label, list,
		     labels->class_count - 1);
	drop_names(labels);
	return 0;
}

static int find_class_names(struct hdf5_group *group, const struct binding *binding,
			    struct hdf5_labels *labels)
{
	int err = 0;

	if (labels->are_words)
		return 0;
	if (labels->dataset.kind == H5T_ENUM && !labels->one_hot)
		err = read_label_members(group->walk, labels);
	if (err || labels->class_names || binding->class_list == RULE_NONE)
		return err;
	labels->in_list = true;
	err = open_list(group, binding->class_list, labels);
	if (!err && labels->class_names)
		err = check_range(group,
				  group->catalogue.items.items[binding->class_list].name, labels);
	return err;
}

static int open_column(struct hdf5_walk *walk, struct hdf5_labels *labels)
{
	struct hdf5_dataset *d = &labels->dataset;
	const struct hdf5_column *column = &labels->words.column;
	int err;

	walk->beside = labels->name;
	err = labels->one_hot ? hdf5_column_open(walk, d, HDF5_COLUMN_ROWS, &labels->words.column)
			      : hdf5_words_open(walk, d, &labels->words);
	walk->beside = NULL;
	labels->count = column->rows;
	if (!err && column->layout == H5D_CHUNKED &&
	    column->chunks.plain > LABELS_CHUNK_BYTES)
		err = hdf5_refuse(walk,
				  "has its labels, '%s', in chunks larger than 64 MiB; "
				  "repack it: h5repack -l CONTI '%s' out.h5",
				  labels->name, walk->scan->label);
	return err;
}

int hdf5_labels_open(struct hdf5_group *group, const struct binding *binding,
		     struct hdf5_labels *out)
{
	int err;

	*out = (struct hdf5_labels){ .walk = group->walk };
	if (binding->labels == RULE_NONE)
		return 0;
	out->walk = group->tables.items[binding->labels].walk;
	out->name = group->catalogue.items.items[binding->labels].name;
	out->one_hot = binding->label_form == LABEL_ONE_HOT;
	err = hdf5_group_open(group, binding->labels, &out->dataset);
	if (err)
		return err;
	out->found = true;
	out->are_words = out->dataset.kind == H5T_STRING;
	if (!out->are_words)
		hdf5_number_describe(out->dataset.type, &out->number);
	err = open_column(out->walk, out);
	return err ? err : find_class_names(group, binding, out);
}

void hdf5_labels_close(struct hdf5_labels *labels)
{
	drop_names(labels);
	if (labels->found) {
		hdf5_words_close(&labels->words);
		hdf5_dataset_close(&labels->dataset);
	}
	*labels = (struct hdf5_labels){ 0 };
}

/* One of them */

static int refuse_number(struct hdf5_labels *labels, uint64_t row)
{
	return hdf5_refuse(labels->walk,
			   "has labels in '%s' that are not whole numbers between %lld and "
			   "%lld: that of row %llu; write others, or leave them out (-o "
			   "view=tree)",
			   labels->name, (long long)INT64_MIN, (long long)INT64_MAX,
			   (unsigned long long)row);
}

static int get_number(struct hdf5_labels *labels, uint64_t row, int64_t *out)
{
	const unsigned char *bytes = NULL;
	int err = hdf5_column_get(&labels->words.column, row, &bytes);
	bool known;

	if (err)
		return err;
	known = labels->one_hot ?
			hdf5_number_hot(&labels->number, bytes,
					labels->words.column.item / labels->number.bytes, out) :
			hdf5_number_label(&labels->number, bytes, out);
	if (known || labels->walk->scan->rows->tree)
		return 0;
	return refuse_number(labels, row);
}

static bool is_none(const char *text)
{
	int64_t number;

	return label_text_read(text, strlen(text), &number) == LABEL_TEXT_NONE;
}

int hdf5_labels_get(struct hdf5_labels *labels, uint64_t row, struct sample *sample)
{
	struct hdf5_walk *walk = labels->walk;
	int err;

	walk->beside = labels->are_words ? labels->name : NULL;
	err = labels->are_words ? hdf5_words_get(&labels->words, row, &sample->class_name)
				: get_number(labels, row, &sample->label);
	if (!err && labels->are_words && labels->words.cut && !walk->scan->rows->tree)
		err = hdf5_refuse(walk,
				  "has a string in row %llu with a zero byte inside: cut "
				  "there two classes might be one; write it without, or leave "
				  "the labels out (-o view=tree)",
				  (unsigned long long)row);
	if (!err && labels->are_words)
		err = hdf5_charge_paths(walk, 1, strlen(sample->class_name));
	if (!err && labels->are_words && is_none(sample->class_name)) {
		sample->class_name = NULL;
		sample->label = SAMPLE_UNLABELLED;
	}
	walk->beside = NULL;
	return err;
}
