/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/fuel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "build/findings.h"
#include "format/hdf5/column.h"
#include "format/hdf5/numbers.h"
#include "names/split_words.h"

enum { SPLITS_MOST = 256, ITEM_MOST = 1 << 16 };

/* A line of the attribute, as libhdf5 converts it. */
struct hdf5_split_line {
	char split[HDF5_SPLIT_NAME + 1], source[HDF5_SPLIT_NAME + 1];
	int64_t start, stop;
	hobj_ref_t indices;
	signed char available;
};

bool hdf5_split_has(const struct hdf5_split *split, uint64_t row)
{
	if (split->listed)
		return split->listed[row / 8] >> row % 8 & 1;
	return row >= split->start && row < split->stop;
}

void hdf5_splits_free(struct hdf5_splits *splits)
{
	for (size_t i = 0; i < splits->items.count; i++)
		free(splits->items.items[i].listed);
	vec_free(&splits->items);
}

/* The type of a member, if the attribute has it; else < 0. */
static hid_t member_type(hid_t type, const char *name)
{
	int i = H5Tget_member_index(type, name);

	return i < 0 ? H5I_INVALID_HID : H5Tget_member_type(type, (unsigned)i);
}

static bool insert(hid_t made, const char *name, size_t at, hid_t type)
{
	bool done = type >= 0 && H5Tinsert(made, name, at, type) >= 0;

	if (type >= 0)
		H5Tclose(type);
	return done;
}

static hid_t text_type(hid_t file_type, const char *name)
{
	hid_t had = member_type(file_type, name), type;
	bool fixed = had >= 0 && H5Tget_class(had) == H5T_STRING &&
		     H5Tis_variable_str(had) == 0;

	if (had >= 0)
		H5Tclose(had);
	if (!fixed)
		return H5I_INVALID_HID;
	type = H5Tcopy(H5T_C_S1);
	H5Tset_size(type, HDF5_SPLIT_NAME + 1);
	return type;
}

/* An integer, or one byte, as h5py and PyTables write a bool. */
static hid_t flag_type(hid_t file_type)
{
	hid_t type = member_type(file_type, "available");
	bool number = type >= 0 && H5Tget_class(type) == H5T_INTEGER;

	if (type >= 0 && !number && H5Tget_size(type) == 1)
		return type;
	if (type >= 0)
		H5Tclose(type);
	return number ? H5Tcopy(H5T_NATIVE_SCHAR) : H5I_INVALID_HID;
}

/* The lines in memory; < 0: the attribute is none of Fuel's. */
static hid_t line_type(hid_t file_type)
{
	hid_t type, reference = member_type(file_type, "indices");
	bool refers = reference >= 0 && H5Tequal(reference, H5T_STD_REF_OBJ) > 0;

	if (reference >= 0)
		H5Tclose(reference);
	if (H5Tget_class(file_type) != H5T_COMPOUND || H5Tget_size(file_type) > ITEM_MOST)
		return H5I_INVALID_HID;
	type = H5Tcreate(H5T_COMPOUND, sizeof(struct hdf5_split_line));
	if (insert(type, "split", offsetof(struct hdf5_split_line, split),
		   text_type(file_type, "split")) &&
	    insert(type, "source", offsetof(struct hdf5_split_line, source),
		   text_type(file_type, "source")) &&
	    insert(type, "start", offsetof(struct hdf5_split_line, start),
		   H5Tcopy(H5T_NATIVE_INT64)) &&
	    insert(type, "stop", offsetof(struct hdf5_split_line, stop),
		   H5Tcopy(H5T_NATIVE_INT64)) &&
	    insert(type, "available", offsetof(struct hdf5_split_line, available),
		   flag_type(file_type)) &&
	    (!refers || insert(type, "indices", offsetof(struct hdf5_split_line, indices),
			       H5Tcopy(H5T_STD_REF_OBJ))))
		return type;
	H5Tclose(type);
	return H5I_INVALID_HID;
}

/* libhdf5 1.10 believes where members of a damaged type lie. */
static bool is_sound(hid_t file_type)
{
	size_t size = H5Tget_size(file_type);
	int n = H5Tget_nmembers(file_type);

	for (int i = 0; i < n; i++) {
		hid_t type = H5Tget_member_type(file_type, (unsigned)i);
		size_t at = H5Tget_member_offset(file_type, (unsigned)i);
		size_t length = type < 0 ? 0 : H5Tget_size(type);

		if (type >= 0)
			H5Tclose(type);
		if (length == 0 || at > size || length > size - at)
			return false;
	}
	return true;
}

/* Other attributes may be called "split", too; one that has these columns is meant. */
static bool line_applies(hid_t file_type)
{
	return H5Tget_class(file_type) == H5T_COMPOUND &&
	       H5Tget_member_index(file_type, "split") >= 0 &&
	       H5Tget_member_index(file_type, "source") >= 0;
}

static int read_typed_lines(struct hdf5_walk *walk, hid_t attribute, hid_t type,
			    hssize_t n, struct hdf5_split_line **out)
{
	if (type < 0 || n > SPLITS_MOST)
		return hdf5_refuse(walk,
				   "has splits in an attribute 'split' that is not as "
				   "Fuel writes it: strings of a fixed size, integers "
				   "start and stop, a bool available, up to %d lines; "
				   "write it again so",
				   SPLITS_MOST);
	*out = calloc((size_t)n, sizeof(**out));
	if (!*out)
		return hdf5_out_of_memory(walk);
	if (H5Aread(attribute, type, *out) < 0)
		return hdf5_refuse_library(walk, "cannot read the splits of");
	return 0;
}

/* The lines of the attribute, for the caller to free; none if it is another one. */
static int fuel_read_lines(struct hdf5_walk *walk, hid_t attribute,
			   struct hdf5_split_line **out, size_t *count)
{
	hid_t file_type = H5Aget_type(attribute), space = H5Aget_space(attribute);
	hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
	int err = 0;

	if (file_type < 0 || n < 0) {
		err = hdf5_refuse_library(walk, "cannot read the splits of");
	} else if (n > 0 && line_applies(file_type)) {
		hid_t type = is_sound(file_type) ? line_type(file_type) : H5I_INVALID_HID;

		err = read_typed_lines(walk, attribute, type, n, out);
		*count = err ? 0 : (size_t)n;
		if (type >= 0)
			H5Tclose(type);
	}
	if (file_type >= 0)
		H5Tclose(file_type);
	if (space >= 0)
		H5Sclose(space);
	return err;
}

/* Lists of rows */

static int fuel_refuse_line(struct hdf5_walk *walk, const char *name, const char *problem)
{
	return hdf5_refuse(walk,
			   "has a split '%.64s' in the attribute 'split' that %s; "
			   "write the attribute again",
			   name, problem);
}

int hdf5_split_mark(struct hdf5_walk *walk, struct hdf5_dataset *d, uint64_t base,
		    uint64_t rows, struct hdf5_split *split, uint64_t *wrong)
{
	struct hdf5_column column;
	struct hdf5_number number;
	bool known = hdf5_number_describe(d->type, &number);
	int err = hdf5_column_open(walk, d, HDF5_COLUMN_ITEMS, &column);

	*wrong = UINT64_MAX;
	split->listed = calloc(1, (size_t)(rows / 8 + 1));
	if (!err && !split->listed)
		err = hdf5_out_of_memory(walk);
	for (uint64_t i = 0; i < column.rows && !err && *wrong == UINT64_MAX; i++) {
		const unsigned char *bytes = NULL;
		int64_t index = -1;
		uint64_t row;

		err = hdf5_column_get(&column, i, &bytes);
		if (err)
			break;
		if (known && !hdf5_number_get(&number, bytes, &index))
			index = -1;
		row = (uint64_t)index - base;
		if (row >= rows)
			*wrong = i;
		else if (!(split->listed[row / 8] >> row % 8 & 1)) {
			split->listed[row / 8] |= (unsigned char)(1u << row % 8);
			split->count++;
		}
	}
	hdf5_column_close(&column);
	return err;
}

/* Remembers that the dataset at `address` is a list of rows. */
static int note_list(struct hdf5_walk *walk, struct hdf5_split_lines *lines, haddr_t address)
{
	if (hdf5_split_lines_refer_to(lines, address))
		return 0;
	return vec_push(&lines->lists, address) < 0 ? hdf5_out_of_memory(walk) : 0;
}

bool hdf5_split_lines_refer_to(const struct hdf5_split_lines *lines, haddr_t address)
{
	for (size_t i = 0; i < lines->lists.count; i++)
		if (lines->lists.items[i] == address)
			return true;
	return false;
}

static int fuel_read_list(struct hdf5_walk *walk, struct hdf5_split_lines *from,
			  const hobj_ref_t *reference, uint64_t rows,
			  struct hdf5_split *split)
{
	hid_t id = H5Rdereference2(from->group, H5P_DEFAULT, H5R_OBJECT, reference);
	uint64_t wrong = UINT64_MAX;
	struct hdf5_dataset d;
	H5O_info_t object;
	int err;

	if (id < 0 || H5Iget_type(id) != H5I_DATASET ||
	    H5Oget_info2(id, &object, H5O_INFO_BASIC) < 0) {
		if (id >= 0)
			H5Oclose(id);
		return fuel_refuse_line(walk, split->name, "refers to no list of rows");
	}
	err = hdf5_dataset_open(walk, id, &d);
	split->count = 0;
	if (!err && (d.kind != H5T_INTEGER || d.item > 8 || !hdf5_is_column(&d) ||
		     d.dims[hdf5_column_axis(&d)] > rows))
		err = fuel_refuse_line(walk, split->name, "refers to no list of rows");
	if (!err)
		err = note_list(walk, from, object.addr);
	if (!err)
		err = hdf5_split_mark(walk, &d, 0, rows, split, &wrong);
	if (!err && wrong != UINT64_MAX)
		err = fuel_refuse_line(walk, split->name,
				       "lists a row that there is not");
	hdf5_dataset_close(&d);
	return err;
}

static bool refers(const struct hdf5_split_line *line)
{
	return line->indices != 0 && line->indices != HADDR_UNDEF;
}

/* The line for the labels of the same split; NULL: there is none. */
static const struct hdf5_split_line *line_of_labels(const struct hdf5_split_line *lines, size_t n,
					 const char *split, const char *labels)
{
	for (size_t i = 0; i < n && labels; i++)
		if (strcmp(lines[i].split, split) == 0 &&
		    strcmp(lines[i].source, labels) == 0)
			return &lines[i];
	return NULL;
}

/* start and stop are no matter where a list says it. */
static bool same_rows(const struct hdf5_split_line *a, const struct hdf5_split_line *b)
{
	if (refers(a) || refers(b))
		return a->indices == b->indices;
	return a->start == b->start && a->stop == b->stop;
}

static int read_split_line(struct hdf5_walk *walk, struct hdf5_split_lines *from,
			   const struct hdf5_split_line *line,
			   uint64_t rows, struct hdf5_splits *out)
{
	struct hdf5_split split = { .start = (uint64_t)line->start,
				   .stop = (uint64_t)line->stop };
	int err = 0;

	memcpy(split.name, line->split, sizeof(split.name));
	split.name[HDF5_SPLIT_NAME] = '\0';
	if (!split_names_directory(split.name))
		return fuel_refuse_line(walk, split.name, "no directory can be named like");
	if (refers(line))
		err = fuel_read_list(walk, from, &line->indices, rows, &split);
	else if (line->start < 0 || line->stop < line->start || split.stop > rows)
		err = fuel_refuse_line(walk, split.name, "has rows that there are not");
	else
		split.count = split.stop - split.start;
	if (!err && vec_push(&out->items, split) < 0)
		err = hdf5_out_of_memory(walk);
	if (err)
		free(split.listed);
	return err;
}

static int read_split_lines(struct hdf5_walk *walk, struct hdf5_split_lines *from,
			    const char *source, const char *labels, uint64_t rows,
			    struct hdf5_splits *out)
{
	const struct hdf5_split_line *lines = from->items;
	size_t n = from->count;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct hdf5_split_line *of = line_of_labels(lines, n, lines[i].split, labels);
		bool labelled = of ? of->available : labels != NULL;

		if (strcmp(lines[i].source, source) != 0 || !lines[i].available)
			continue;
		if (of && labelled && !same_rows(of, &lines[i]))
			err = fuel_refuse_line(
				walk, lines[i].split,
				"has other rows of the labels than of the images");
		if (!err)
			err = read_split_line(walk, from, &lines[i], rows, out);
		if (!err)
			out->items.items[out->items.count - 1].labelled = labelled;
	}
	return err;
}

static size_t count_splits(const struct hdf5_splits *splits, uint64_t row)
{
	size_t n = 0;

	for (size_t i = 0; i < splits->items.count; i++)
		n += hdf5_split_has(&splits->items.items[i], row);
	return n;
}

void hdf5_splits_report_unlisted(struct hdf5_walk *walk, const struct hdf5_splits *splits,
				 uint64_t rows, const char *by)
{
	struct findings *findings = walk->scan->findings;
	uint64_t none = 0, several = 0, first = 0;

	for (uint64_t row = 0; row < rows && splits->items.count; row++) {
		size_t n = count_splits(splits, row);

		none += n == 0;
		if (n > 1 && several++ == 0)
			first = row;
	}
	if (none)
		findings_add(findings, FINDING_LEFT_OUT,
			     "%llu rows of '%.200s' are in no split, as %s, and are left "
			     "out; -o view=arrays shows arrays whole",
			     (unsigned long long)none, walk->path.items, by);
	if (several)
		findings_add(findings, FINDING_CHOSEN,
			     "%llu rows of '%.200s' are in several splits, as %s (row "
			     "%llu, for one): each of these has them, so what is tested "
			     "with may have been trained with; -o view=arrays shows "
			     "arrays whole", (unsigned long long)several,
			     walk->path.items, by, (unsigned long long)first);
}

int hdf5_split_lines_read(struct hdf5_walk *walk, hid_t group, struct hdf5_split_lines *out)
{
	htri_t exists = H5Aexists(group, "split");
	hid_t attribute;
	int err;

	*out = (struct hdf5_split_lines){ .group = group };
	if (exists == 0)
		return 0;
	attribute = exists < 0 ? H5I_INVALID_HID : H5Aopen(group, "split", H5P_DEFAULT);
	if (attribute < 0)
		return hdf5_refuse_library(walk, "cannot read the splits of");
	err = fuel_read_lines(walk, attribute, &out->items, &out->count);
	H5Aclose(attribute);
	return err;
}

void hdf5_split_lines_free(struct hdf5_split_lines *lines)
{
	free(lines->items);
	vec_free(&lines->lists);
}

/* Says the attribute anything of this array? */
static bool has_source(const struct hdf5_split_lines *lines, const char *name)
{
	for (size_t i = 0; i < lines->count; i++)
		if (strcmp(lines->items[i].source, name) == 0)
			return true;
	return false;
}

int hdf5_splits_read(struct hdf5_walk *walk, struct hdf5_split_lines *lines,
		     const char *source, const char *labels, uint64_t rows,
		     struct hdf5_splits *out)
{
	int err;

	*out = (struct hdf5_splits){ 0 };
	if (lines->count == 0)
		return 0;
	/* masks beside images: what is said of their labels holds for them */
	if (!has_source(lines, source) && labels && has_source(lines, labels))
		source = labels;
	if (!has_source(lines, source))
		findings_add(walk->scan->findings, FINDING_LEFT_OUT,
			     "the attribute 'split' says nothing of '%.200s': its rows "
			     "are shown as one; name it there, or see all with -o "
			     "view=arrays", walk->path.items);
	err = read_split_lines(walk, lines, source, labels, rows, out);
	if (!err)
		hdf5_splits_report_unlisted(walk, out, rows, "the attribute 'split' has "
					    "it");
	return err;
}

static bool reaches(const struct hdf5_split *split, uint64_t labels, uint64_t rows)
{
	if (!split->listed)
		return split->stop > labels;
	for (uint64_t i = labels; i < rows; i++)
		if (hdf5_split_has(split, i))
			return true;
	return false;
}

int hdf5_splits_check(struct hdf5_walk *walk, const struct hdf5_splits *splits,
		      uint64_t labels, uint64_t rows)
{
	for (size_t i = 0; i < splits->items.count; i++)
		if (splits->items.items[i].labelled &&
		    reaches(&splits->items.items[i], labels, rows))
			return fuel_refuse_line(
				walk, splits->items.items[i].name,
				"has more rows than there are labels for");
	if (splits->items.count || labels == rows)
		return 0;
	return hdf5_refuse(walk,
			   "has %llu rows, and %llu labels: each row wants one; write the "
			   "file again, or leave the labels out (-o view=tree)",
			   (unsigned long long)rows, (unsigned long long)labels);
}
