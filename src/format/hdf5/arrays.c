/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/arrays.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "format/hdf5/emit.h"
#include "format/hdf5/labels.h"
#include "format/hdf5/npy.h"
#include "format/limits.h"

enum { DIRECTORY_MODE = 0755 };

/* A dataset of two dimensions or more is cut into its records beyond this size. */
#define WHOLE_BYTES (UINT64_C(64) << 20)

/* What a row is shown as. */
struct shape {
	const char *extension;
	char head[HDF5_NPY_BYTES];
	size_t head_length;
	const uint8_t *order; /* of the axes; NULL: as stored */
	bool ambiguous;       /* planes or pixels: it could be both */
};

static bool is_colours(hsize_t n)
{
	return n == 1 || n == 3;
}

/* uint8 as an image: false where it is none. */
static bool shape_image(const struct hdf5_dataset *d, struct shape *out)
{
	static const uint8_t interleaved[] = { 0, 2, 3, 1 };
	const hsize_t *n = d->dims;
	bool pixels = d->rank == 4 && is_colours(n[3]);
	bool planes = d->rank == 4 && is_colours(n[1]);
	hsize_t colours = pixels ? n[3] : planes ? n[1] : 1;
	hsize_t height = planes && !pixels ? n[2] : n[1];
	hsize_t width = planes && !pixels ? n[3] : n[2];

	if (d->kind != H5T_INTEGER || d->item != 1 || H5Tget_sign(d->type) != H5T_SGN_NONE ||
	    !(pixels || planes || d->rank == 3))
		return false;
	out->ambiguous = pixels && planes && n[1] > 1;
	out->order = planes && !pixels && colours > 1 ? interleaved : NULL;
	out->extension = colours == 3 ? "ppm" : "pgm";
	out->head_length = (size_t)snprintf(out->head, sizeof(out->head),
					    "P%d\n%llu %llu\n255\n", colours == 3 ? 6 : 5,
					    (unsigned long long)width,
					    (unsigned long long)height);
	return true;
}

static bool shape_rows(const struct hdf5_dataset *d, struct shape *out)
{
	struct hdf5_npy npy;

	*out = (struct shape){ 0 };
	if (shape_image(d, out))
		return true;
	if (d->rank > VOLUME_RANK || !hdf5_npy_describe(d->type, &npy))
		return false;
	hdf5_npy_make(&npy, d->dims + 1, d->rank - 1);
	memcpy(out->head, npy.head, npy.length);
	out->head_length = npy.length;
	out->extension = "npy";
	return true;
}

/* The bytes of a row; false: they are more than a number holds. */
static bool size_row(const struct hdf5_dataset *d, uint64_t *out)
{
	*out = d->item;
	for (int i = 1; i < d->rank; i++)
		if (!checked_mul(*out, d->dims[i], out))
			return false;
	return true;
}

/* Samples */

static int add_rows(struct hdf5_walk *walk, struct hdf5_labels *labels, uint64_t rows,
		    const struct sample *first, uint64_t row_bytes)
{
	struct sample sample = *first;
	int err = 0;

	sample.body.length = row_bytes;
	for (uint64_t i = 0; i < rows && !err; i++) {
		if (labels->found)
			err = hdf5_labels_get(labels, i, &sample);
		if (!err && samples_add(walk->scan->samples, &sample) < 0)
			err = hdf5_out_of_memory(walk);
		if (!err)
			hdf5_advance(walk, row_bytes);
		sample.body.offset += row_bytes;
	}
	return err;
}

static int begin_group(const struct hdf5_array *array, const struct shape *shape,
		       struct hdf5_labels *labels)
{
	struct hdf5_walk *walk = array->walk;
	CLEANUP(cleanup_free) char *split = hdf5_copy_split(walk);
	struct sample_group group = {
		.split = split, .name = array->name,
		.labels = labels->found ? labels->name : NULL,
		.extension = shape->extension,
		.class_names = (const char *const *)labels->class_names,
		.class_count = labels->class_count,
		.rows = array->dataset->dims[0],
	};
	char shown[64];

	if (!split || samples_begin(walk->scan->samples, &group) < 0)
		return hdf5_out_of_memory(walk);
	snprintf(shown, sizeof(shown), "%.20s (%sas .%s)", array->name,
		 shape->order	       ? "planes " :
		 shape->ambiguous      ? "pixels, not planes, " : "", shape->extension);
	hdf5_note_array(walk, split, shown, group.labels);
	return 0;
}

static void warn_ambiguous(struct hdf5_walk *walk, const struct hdf5_dataset *d)
{
	char what[80];

	hdf5_dataset_describe(d, what, sizeof(what));
	if (walk->warnings++ < LIMIT_WARNINGS)
		log_warn("'%s': '%.200s' (%s) could be images as planes or as pixels: they "
			 "are taken for pixels (N x H x W x C); -o view=arrays shows them "
			 "as they are stored",
			 walk->scan->label, walk->path.items, what);
}

static int add_samples(const struct hdf5_array *array, const struct shape *shape,
		       struct hdf5_labels *labels)
{
	struct hdf5_walk *walk = array->walk;
	struct hdf5_dataset *d = array->dataset;
	struct entry_extent all, head;
	struct sample first = { 0 };
	uint64_t row_bytes = 0, rows = d->dims[0];
	int err = hdf5_charge_rows(walk, rows);

	if (!err)
		err = hdf5_charge_paths(walk, rows, walk->path.count);
	if (!err)
		err = hdf5_array_extent(walk, d, shape->order, &all);
	if (err)
		return err;
	if (entries_literal_extent(walk->scan->entries, shape->head, shape->head_length,
				   &head) < 0)
		return hdf5_out_of_memory(walk);
	size_row(d, &row_bytes); /* it fits: all of them do */
	first.head = (struct sample_bytes){ head.offset, shape->head_length, head.volume };
	first.body = (struct sample_bytes){ all.offset, row_bytes, all.volume };
	err = begin_group(array, shape, labels);
	if (!err && shape->ambiguous)
		warn_ambiguous(walk, d);
	return err ? err : add_rows(walk, labels, rows, &first, row_bytes);
}

/* H x W x 3: without labels it is one picture, and no rows of grey ones. */
static bool is_one_picture(const struct hdf5_dataset *d)
{
	return d->rank == 3 && d->dims[2] == 3;
}

int hdf5_take_array(const struct hdf5_array *array, bool known, bool *taken)
{
	const struct hdf5_dataset *d = array->dataset;
	CLEANUP(cleanup_free) struct shape *shape = malloc(sizeof(*shape));
	struct hdf5_labels labels = { 0 };
	int err;

	*taken = false;
	if (!shape)
		return hdf5_out_of_memory(array->walk);
	if (d->rank < 2 || !shape_rows(d, shape))
		return 0;
	for (int i = 0; i < d->rank; i++)
		if (d->dims[i] == 0)
			return 0;
	err = hdf5_labels_find(array->walk, array->group, array->name, d->dims[0], false,
			       &labels);
	*taken = labels.found || (known && strcmp(shape->extension, "npy") != 0 &&
				  !is_one_picture(d));
	if (!err && *taken && !labels.found)
		err = hdf5_labels_missing(array->walk, &labels, array->name, d->dims[0]);
	if (!err && *taken)
		err = add_samples(array, shape, &labels);
	hdf5_labels_close(&labels);
	return err;
}

/* Files */

static int add_npy_file(struct hdf5_walk *walk, const struct hdf5_npy *npy,
			struct entry_extent body, time_t mtime)
{
	struct entry_extent extents[2];
	struct entry entry = { .kind = ENTRY_FILE,
			       .mode = source_owner(walk->scan->source)->mode & 0666,
			       .size = npy->length + body.length,
			       .extents = extents, .extent_count = body.length ? 2 : 1 };

	if (entries_literal_extent(walk->scan->entries, npy->head, npy->length,
				   &extents[0]) < 0)
		return hdf5_out_of_memory(walk);
	extents[0].file_offset = 0;
	extents[1] = body;
	extents[1].file_offset = npy->length;
	walk->files++;
	walk->npy++;
	hdf5_advance(walk, body.length);
	return hdf5_add_entry(walk, &entry, mtime);
}

static int add_whole(struct hdf5_walk *walk, struct hdf5_dataset *d, struct hdf5_npy *npy,
		     time_t mtime)
{
	size_t length = walk->path.count;
	struct entry_extent all;
	int err;

	hdf5_npy_make(npy, d->dims, d->rank);
	err = hdf5_array_extent(walk, d, NULL, &all);
	if (!err)
		err = hdf5_extend_path(walk, ".npy");
	if (!err)
		err = add_npy_file(walk, npy, all, mtime);
	if (!err)
		hdf5_reset_path(walk, length);
	return err;
}

static int add_record(struct hdf5_walk *walk, const struct hdf5_npy *npy, uint64_t number,
		      int digits, struct entry_extent body, time_t mtime)
{
	size_t length = walk->path.count;
	char name[40];
	int err;

	snprintf(name, sizeof(name), "%0*llu.npy", digits, (unsigned long long)number);
	err = hdf5_set_path(walk, length, name);
	if (!err)
		err = add_npy_file(walk, npy, body, mtime);
	if (!err)
		hdf5_reset_path(walk, length);
	return err;
}

static int add_records(struct hdf5_walk *walk, struct hdf5_dataset *d,
		       struct hdf5_npy *npy, time_t mtime)
{
	struct entry directory = { .kind = ENTRY_DIRECTORY, .mode = DIRECTORY_MODE };
	uint64_t rows = d->dims[0], row_bytes = 0;
	int digits = snprintf(NULL, 0, "%llu", (unsigned long long)rows - 1);
	struct entry_extent all;
	int err = hdf5_charge_rows(walk, rows);

	if (!err)
		err = hdf5_array_extent(walk, d, NULL, &all);
	if (!err)
		err = hdf5_add_entry(walk, &directory, mtime);
	if (err)
		return err;
	size_row(d, &row_bytes);
	hdf5_npy_make(npy, d->dims + 1, d->rank - 1);
	all.length = row_bytes;
	for (uint64_t i = 0; i < rows && !err; i++) {
		err = add_record(walk, npy, i, digits, all, mtime);
		all.offset += row_bytes;
	}
	return err;
}

/* Records: those of an axis that grows, and of what is large. */
static bool has_records(const struct hdf5_dataset *d)
{
	uint64_t row = 0, all = 0;

	if (d->rank < 2 || d->dims[0] < 2 || !size_row(d, &row) || row == 0)
		return false;
	return d->grows || !checked_mul(row, d->dims[0], &all) || all > WHOLE_BYTES;
}

/* What netCDF writes for a dimension that has no values. */
static bool is_dimension_only(const struct hdf5_dataset *d)
{
	static const char text[] = "This is a netCDF dimension but not a netCDF variable";
	char name[256] = "";
	hid_t attribute, type;
	bool read = false;

	if (H5Aexists(d->id, "NAME") <= 0)
		return false;
	attribute = H5Aopen(d->id, "NAME", H5P_DEFAULT);
	type = attribute < 0 ? attribute : H5Aget_type(attribute);
	if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
	    H5Tget_size(type) < sizeof(name) && H5Aget_storage_size(attribute) < sizeof(name))
		read = H5Aread(attribute, type, name) >= 0;
	if (type >= 0)
		H5Tclose(type);
	if (attribute >= 0)
		H5Aclose(attribute);
	H5Eclear2(H5E_DEFAULT);
	return read && strncmp(name, text, sizeof(text) - 1) == 0;
}

int hdf5_add_npy(struct hdf5_walk *walk, struct hdf5_dataset *d, time_t mtime, bool *taken)
{
	CLEANUP(cleanup_free) struct hdf5_npy *npy = malloc(sizeof(*npy));

	if (!npy)
		return hdf5_out_of_memory(walk);
	*taken = d->space != H5S_NULL && d->rank <= VOLUME_RANK &&
		 d->item <= VOLUME_ITEM_LIMIT && hdf5_npy_describe(d->type, npy) &&
		 !is_dimension_only(d);
	if (!*taken)
		return 0;
	return has_records(d) ? add_records(walk, d, npy, mtime) :
				add_whole(walk, d, npy, mtime);
}
