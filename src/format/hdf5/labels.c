/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Labels: numbers or words, one a row, in an array beside that of the rows. Which one it
 * is, is a matter of its name: see label_names.h.
 */
#include "format/hdf5/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/log.h"
#include "format/hdf5/group.h"
#include "format/hdf5/label_names.h"
#include "format/hdf5/row_samples.h"
#include "format/limits.h"

enum {
	LABELS_CHUNK_BYTES = 64 << 20,
	CLASSES_MOST = 1 << 20,
	CANDIDATES_MOST = 32, /* that are looked at */
	NAME_COSTS = 64,      /* bytes of memory that a name takes besides its own */
};

static const char *const class_lists[] = {
	"list_classes", "class_names", "label_names", "classes", "categories",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Neighbours */

int hdf5_open_beside(struct hdf5_walk *walk, hid_t group, const char *name,
		     struct hdf5_dataset *out, bool *found)
{
	H5O_info_t object;
	hid_t id;
	int err;

	*found = false;
	if (H5Lexists(group, name, H5P_DEFAULT) <= 0)
		return 0;
	id = H5Oopen(group, name, H5P_DEFAULT);
	if (id < 0) { /* a link to nothing, or to another file */
		if (walk->file.blocks.err)
			return hdf5_refuse_library(walk, "cannot open");
		H5Eclear2(H5E_DEFAULT);
		return 0;
	}
	if (H5Oget_info2(id, &object, H5O_INFO_BASIC) < 0 ||
	    object.type != H5O_TYPE_DATASET) {
		H5Oclose(id);
		return 0;
	}
	err = hdf5_dataset_open(walk, id, out);
	out->address = object.addr;
	if (err)
		hdf5_dataset_close(out);
	*found = !err;
	return err;
}

/* What they are */

static bool read_number(hid_t type, struct hdf5_labels *labels)
{
	H5T_order_t order = H5Tget_order(type);
	size_t precision = H5Tget_precision(type), size = H5Tget_size(type);
	int shift = H5Tget_offset(type);

	if (size == 0 || size > 8 || precision == 0 || precision > 64 || shift < 0 ||
	    (size_t)shift + precision > 8 * size)
		return false;
	labels->big_endian = order == H5T_ORDER_BE;
	labels->is_signed = H5Tget_sign(type) == H5T_SGN_2;
	labels->shift = (unsigned)shift;
	labels->bits = (unsigned)precision;
	return order == H5T_ORDER_LE || order == H5T_ORDER_BE || size == 1;
}

static bool read_kind(struct hdf5_labels *labels)
{
	const struct hdf5_dataset *d = &labels->dataset;
	hid_t base = H5I_INVALID_HID;
	bool known = false;

	labels->are_words = d->kind == H5T_STRING;
	if (labels->are_words)
		return true;
	if (d->kind == H5T_INTEGER)
		return read_number(d->type, labels);
	if (d->kind == H5T_ENUM)
		base = H5Tget_super(d->type);
	if (base >= 0) {
		known = read_number(base, labels);
		H5Tclose(base);
	}
	return known;
}

/* Takes them, unless they lie elsewhere or cannot be read in pieces. */
static int take_labels(struct hdf5_walk *walk, struct hdf5_labels *labels)
{
	struct hdf5_dataset *d = &labels->dataset;
	const struct hdf5_column *column = &labels->words.column;
	int err;

	walk->beside = labels->name;
	err = hdf5_words_open(walk, d, &labels->words);
	walk->beside = NULL;
	if (!err && column->layout == H5D_CHUNKED &&
	    column->chunks.plain > LABELS_CHUNK_BYTES)
		err = hdf5_refuse(walk,
				  "has its labels, '%s', in chunks larger than 64 MiB; "
				  "repack it: h5repack -l CONTI '%s' out.h5",
				  labels->name, walk->scan->label);
	labels->found = !err;
	return err ? err : hdf5_use(walk, d->address);
}

static int refuse_chosen(struct hdf5_walk *walk, const struct hdf5_dataset *d,
			 uint64_t rows)
{
	char what[80];

	hdf5_dataset_describe(d, what, sizeof(what));
	return hdf5_refuse(walk,
			   "cannot have its labels from '%s' (%s), which labels=%s "
			   "says: there are %llu rows, and each wants one integer or "
			   "string; name another array, or leave the option away",
			   walk->scan->rows->labels, what, walk->scan->rows->labels,
			   (unsigned long long)rows);
}

static int note_misfit(struct hdf5_walk *walk, const char *name,
		       struct hdf5_labels *labels)
{
	const struct hdf5_dataset *d = &labels->dataset;
	/* one label may be that of the whole */
	bool counts = hdf5_is_column(d) && read_kind(labels) && d->dims[0] != 1 &&
		      !hdf5_label_is_vague(name);

	if ((labels->misfit.name && (labels->misfit.count || !counts)) ||
	    (d->kind == H5T_STRING && d->rank == 1))
		return 0; /* strings may be names of classes */
	free(labels->misfit.name);
	labels->misfit.name = strdup(name);
	if (!labels->misfit.name)
		return hdf5_out_of_memory(walk);
	labels->misfit.address = d->address;
	labels->misfit.count = counts ? d->dims[0] : 0;
	hdf5_dataset_describe(d, labels->misfit.what, sizeof(labels->misfit.what));
	return 0;
}

/* Does this neighbour hold one a row? Then it is taken. */
static int try_labels(struct hdf5_walk *walk, hid_t group, const char *name,
		      uint64_t rows, struct hdf5_labels *labels)
{
	struct hdf5_dataset *d = &labels->dataset;
	bool found = false;
	int err = hdf5_open_beside(walk, group, name, d, &found);

	if (err || !found)
		return err;
	if (hdf5_is_column(d) &&
	    (d->dims[0] == rows || (labels->partial && d->dims[0] && d->dims[0] < rows)) &&
	    read_kind(labels)) {
		labels->name = strdup(name);
		err = labels->name ? take_labels(walk, labels) : hdf5_out_of_memory(walk);
	} else if (walk->scan->rows->labels) {
		err = refuse_chosen(walk, d, rows);
	} else {
		err = note_misfit(walk, name, labels);
	}
	if (!labels->found)
		hdf5_dataset_close(d);
	return err;
}

/* Does this neighbour hold one a row, as far as its type and size say? */
static int fits(struct hdf5_walk *walk, hid_t group, const char *name, uint64_t rows,
		bool *out)
{
	struct hdf5_labels labels = { 0 };
	bool found = false;
	int err = hdf5_open_beside(walk, group, name, &labels.dataset, &found);

	*out = !err && found && hdf5_is_column(&labels.dataset) &&
	       labels.dataset.dims[0] == rows && read_kind(&labels);
	if (!err && found)
		hdf5_dataset_close(&labels.dataset);
	return err;
}

/* The neighbours that could be labels, too: the first one's name, and all of them. */
struct candidates {
	const char *first;
	unsigned count;
	char names[200]; /* "'fine_labels', 'coarse_labels'" */
};

static int find_candidates(struct hdf5_walk *walk, hid_t group, const char *array,
			   uint64_t rows, const char *but, struct candidates *out)
{
	const struct hdf5_group *of = walk->group;
	int err = 0;

	*out = (struct candidates){ 0 };
	for (size_t i = 0; of && i < of->held.count && i < CANDIDATES_MOST && !err; i++) {
		const char *name = of->held.items[i].name;
		size_t n = strlen(out->names);
		bool fit = false;

		if ((but && strcmp(name, but) == 0) || strcmp(name, array) == 0 ||
		    !hdf5_label_may_stand_alone(name) ||
		    !hdf5_label_may_go_with(name, array))
			continue;
		err = fits(walk, group, name, rows, &fit);
		if (!fit)
			continue;
		if (out->count++ == 0)
			out->first = name;
		snprintf(out->names + n, sizeof(out->names) - n, "%s'%.60s'",
			 n ? ", " : "", name);
	}
	return err;
}

/* Nothing has a name that is known: one neighbour alone that is called as labels is them. */
static int find_candidate(struct hdf5_walk *walk, hid_t group, const char *name,
			  uint64_t rows, struct hdf5_labels *out)
{
	struct candidates others;
	int err;

	if (hdf5_is_label_name(name, NULL))
		return 0;
	err = find_candidates(walk, group, name, rows, NULL, &others);
	if (!err && others.count == 1)
		return try_labels(walk, group, others.first, rows, out);
	if (!err && others.count && !walk->scan->rows->tree && walk->warnings++ < LIMIT_WARNINGS)
		log_warn("'%s': '%.200s' could have its labels from %s: it gets none; say "
			 "which with -o labels=NAME",
			 walk->scan->label, walk->path.items, others.names);
	return err;
}

/* What was chosen of several is said. */
static int say_others(struct hdf5_walk *walk, hid_t group, const char *name,
		      uint64_t rows, const struct hdf5_labels *labels)
{
	struct candidates others;
	int err = find_candidates(walk, group, name, rows, labels->name, &others);

	if (!err && others.count && !walk->scan->rows->tree && walk->warnings++ < LIMIT_WARNINGS)
		log_warn("'%s': '%.200s' has its labels from '%s', and could have them from "
			 "%s: -o labels=%s takes those",
			 walk->scan->label, walk->path.items, labels->name, others.names,
			 others.first);
	return err;
}

static int find_by_name(struct hdf5_walk *walk, hid_t group, const char *name,
			uint64_t rows, struct hdf5_labels *out)
{
	const char *chosen = walk->scan->rows->labels;
	char other[HDF5_LABEL_NAME_BYTES];
	int err = 0;

	for (size_t i = 0; !err && !out->found; i++) {
		if (!hdf5_label_name(name, chosen, i, other))
			break;
		err = try_labels(walk, group, other, rows, out);
	}
	if (err || chosen)
		return err;
	return out->found ? say_others(walk, group, name, rows, out) :
			    find_candidate(walk, group, name, rows, out);
}

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
static bool take_member(hid_t type, unsigned i, struct hdf5_labels *labels)
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
			number |= (uint64_t)value[labels->big_endian ? size - 1 - k : k]
				  << 8 * k;
	}
	fits = name && number < labels->class_count && !labels->class_names[number];
	if (fits)
		labels->class_names[number] = strdup(name);
	H5free_memory(name);
	return fits && labels->class_names[number];
}

/* h5py's bool is an enumeration too, and no names. */
static bool is_bool(hid_t type)
{
	char *name = H5Tget_nmembers(type) == 2 ? H5Tget_member_name(type, 0) : NULL;
	bool is = name && strcmp(name, "FALSE") == 0;

	H5free_memory(name);
	return is;
}

/* Those of members that are 0, 1, ..., each once; others stay numbers. */
static int take_members(struct hdf5_walk *walk, struct hdf5_labels *labels)
{
	hid_t type = labels->dataset.type;
	int n = H5Tget_nmembers(type), err;

	if (n <= 0 || is_bool(type))
		return 0;
	err = room_for_names(walk, labels, (size_t)n);
	if (err)
		return err;
	for (unsigned i = 0; i < (unsigned)n && !err; i++) {
		if (!take_member(type, i, labels)) {
			drop_names(labels);
			break;
		}
		/* each array of rows copies them */
		err = hdf5_charge_paths(walk, 1, H5Tget_size(type) + NAME_COSTS);
	}
	return err;
}

static int take_list(struct hdf5_walk *walk, struct hdf5_dataset *d,
		     struct hdf5_labels *labels)
{
	struct hdf5_words words;
	const char *text = NULL;
	int err = hdf5_words_open(walk, d, &words);

	if (!err) /* each array of rows reads it again */
		err = hdf5_charge_rows(walk, d->dims[0]);
	if (!err)
		err = room_for_names(walk, labels, (size_t)d->dims[0]);
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

static int try_list(struct hdf5_walk *walk, hid_t group, const char *name,
		    struct hdf5_labels *labels)
{
	struct hdf5_dataset d;
	bool found = false;
	int err = hdf5_open_beside(walk, group, name, &d, &found);

	if (err || !found)
		return err;
	if (hdf5_are_words(&d) && d.dims[0] > 0 && d.dims[0] <= CLASSES_MOST) {
		walk->beside = name;
		err = take_list(walk, &d, labels);
		walk->beside = NULL;
		if (!err)
			err = hdf5_use(walk, d.address);
	}
	hdf5_dataset_close(&d);
	return err;
}

static int find_class_names(struct hdf5_walk *walk, hid_t group,
			    struct hdf5_labels *labels)
{
	int err = 0;

	if (labels->are_words)
		return 0;
	if (labels->dataset.kind == H5T_ENUM)
		err = take_members(walk, labels);
	for (size_t i = 0; i < COUNT(class_lists); i++)
		if (!err && !labels->class_names && strcmp(class_lists[i], labels->name))
			err = try_list(walk, group, class_lists[i], labels);
	return err;
}

int hdf5_labels_find(struct hdf5_walk *walk, hid_t group, const char *name, uint64_t rows,
		     bool partial, struct hdf5_labels *out)
{
	int err;

	*out = (struct hdf5_labels){ .partial = partial };
	if (walk->scan->rows->arrays)
		return 0;
	err = find_by_name(walk, group, name, rows, out);
	if (!err && out->found)
		err = find_class_names(walk, group, out);
	if (out->found && walk->scan->rows->labels)
		walk->labels_found = true;
	return err;
}

void hdf5_labels_close(struct hdf5_labels *labels)
{
	drop_names(labels);
	if (labels->found) {
		hdf5_words_close(&labels->words);
		hdf5_dataset_close(&labels->dataset);
	}
	free(labels->name);
	free(labels->misfit.name);
	*labels = (struct hdf5_labels){ 0 };
}

/* Those that do not fit */

int hdf5_labels_missing(struct hdf5_walk *walk, const struct hdf5_labels *labels,
			const char *array, uint64_t rows)
{
	struct hdf5_misfit misfit = { .address = labels->misfit.address, .rows = rows,
				      .count = labels->misfit.count };

	if (!labels->misfit.name || walk->scan->rows->tree)
		return 0;
	if (misfit.count == 0) {
		if (walk->warnings++ < LIMIT_WARNINGS)
			log_warn("'%s': '%s' (%s) beside '%.200s' does not hold one "
				 "integer or string a row: the rows get no labels from "
				 "it; -o labels=NAME says which array holds them",
				 walk->scan->label, labels->misfit.name,
				 labels->misfit.what, walk->path.items);
		return 0;
	}
	misfit.array = strdup(array);
	misfit.labels = strdup(labels->misfit.name);
	if (misfit.array && misfit.labels && vec_push(&walk->misfits, misfit) == 0)
		return 0;
	free(misfit.array);
	free(misfit.labels);
	return hdf5_out_of_memory(walk);
}

static int settle(struct hdf5_walk *walk, const struct hdf5_misfit *misfit)
{
	if (!hdf5_is_used(walk, misfit->address))
		return hdf5_refuse(walk,
				   "has %llu rows in '%s', and %llu labels in '%s': each "
				   "row wants one; write the file again, say which labels "
				   "are meant (-o labels=NAME), or leave them out (-o "
				   "view=tree)",
				   (unsigned long long)misfit->rows, misfit->array,
				   (unsigned long long)misfit->count, misfit->labels);
	if (walk->warnings++ < LIMIT_WARNINGS)
		log_warn("'%s': '%s' in '%.200s' has %llu rows, and the %llu labels in "
			 "'%s' are another array's: its rows are shown without",
			 walk->scan->label, misfit->array,
			 walk->path.count ? walk->path.items : "/",
			 (unsigned long long)misfit->rows,
			 (unsigned long long)misfit->count, misfit->labels);
	return 0;
}

int hdf5_labels_settle(struct hdf5_walk *walk)
{
	int err = 0;

	for (size_t i = 0; i < walk->misfits.count; i++) {
		if (!err)
			err = settle(walk, &walk->misfits.items[i]);
		free(walk->misfits.items[i].array);
		free(walk->misfits.items[i].labels);
	}
	walk->misfits.count = 0;
	return err;
}

/* One of them */

static int refuse_beyond(struct hdf5_labels *labels)
{
	return hdf5_refuse(labels->words.column.walk,
			   "has labels in '%s' that are not between %lld and %lld; write "
			   "others",
			   labels->name, (long long)INT64_MIN, (long long)INT64_MAX);
}

static int get_number(struct hdf5_labels *labels, uint64_t row, int64_t *out)
{
	const unsigned char *bytes = NULL;
	size_t n = (size_t)labels->words.column.item;
	int err = hdf5_column_get(&labels->words.column, row, &bytes);
	uint64_t value = 0;

	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)bytes[labels->big_endian ? n - 1 - i : i] << 8 * i;
	value >>= labels->shift;
	if (labels->bits < 64)
		value &= (UINT64_C(1) << labels->bits) - 1;
	if (labels->is_signed && value >> (labels->bits - 1) & 1 && labels->bits < 64)
		value |= UINT64_MAX << labels->bits;
	if (!labels->is_signed && value > INT64_MAX)
		return refuse_beyond(labels);
	*out = (int64_t)value;
	return 0;
}

int hdf5_labels_get(struct hdf5_labels *labels, uint64_t row, struct sample *sample)
{
	struct hdf5_walk *walk = labels->words.column.walk;
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
	walk->beside = NULL;
	return err;
}
