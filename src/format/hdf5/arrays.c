/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/arrays.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/hdf5/emit.h"
#include "format/hdf5/facts.h"
#include "format/hdf5/npy.h"
#include "format/hdf5/padded.h"

enum { DIRECTORY_MODE = 0755 };

/* A dataset of two dimensions or more is cut into its records beyond this size. */
#define WHOLE_BYTES (UINT64_C(64) << 20)

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

/* Rows that lie behind each other, each behind a head that all have. */
struct fixed_rows {
	struct sample first;
	uint64_t row_bytes;
	uint64_t written; /* rows behind these were never written */
	struct hdf5_padded padded; /* of SAMPLE_PADDED */
};

static int arrays_fill(struct hdf5_row_set *set, uint64_t row, struct sample *sample,
		       bool *written)
{
	const struct fixed_rows *rows = set->context;

	*sample = rows->first;
	sample->body.offset += row * rows->row_bytes;
	sample->body.length = rows->row_bytes;
	*written = row < rows->written;
	return 0;
}

/* Without the zeros behind the image's end. */
static int fill_padded(struct hdf5_row_set *set, uint64_t row, struct sample *sample,
		       bool *written)
{
	struct fixed_rows *rows = set->context;
	int err = arrays_fill(set, row, sample, written);

	if (!err)
		err = hdf5_padded_measure(&rows->padded, row, &sample->body.length);
	*written = sample->body.length > 0;
	return err;
}

/* MATLAB's axes are in reverse: the file's order is Fortran's. */
static bool make_npy_head(const struct hdf5_row_set *set, struct hdf5_npy *npy)
{
	const struct hdf5_dataset *d = set->dataset;
	bool reversed = set->group->catalogue.items.items[set->binding->array].reversed;
	hsize_t dims[H5S_MAX_RANK];
	int rank = d->rank - 1;

	for (int i = 0; i < rank; i++)
		dims[i] = d->dims[reversed ? rank - i : 1 + i];
	if (!hdf5_npy_describe(d->type, npy))
		return false;
	hdf5_npy_make(npy, dims, rank, reversed);
	return true;
}

static int make_head(struct hdf5_row_set *set, struct hdf5_npy *npy)
{
	const struct image_shape *shape = &set->binding->shape;

	if (set->binding->form == SAMPLE_PADDED) {
		npy->length = 0;
		set->extension = set->group->catalogue.items.items[set->binding->array].encoded;
	} else if (set->binding->form == SAMPLE_PIXELS) {
		npy->length = (size_t)snprintf(npy->head, sizeof(npy->head),
					       "P%d\n%llu %llu\n255\n", shape->colours == 3 ? 6 : 5,
					       (unsigned long long)shape->width,
					       (unsigned long long)shape->height);
		set->extension = shape->colours == 3 ? "ppm" : "pgm";
	} else {
		set->extension = "npy";
		if (!make_npy_head(set, npy))
			return hdf5_refuse(set->group->walk, "has a type that NumPy has not");
	}
	return 0;
}

static int place_rows(struct hdf5_row_set *set, const struct hdf5_npy *npy,
		      struct fixed_rows *rows)
{
	struct hdf5_walk *walk = set->group->walk;
	const struct image_shape *shape = &set->binding->shape;
	bool ordered = set->binding->form == SAMPLE_PIXELS && shape->ordered;
	struct entry_extent all, head = { 0 };
	int err = hdf5_array_extent(walk, set->dataset, ordered ? shape->order : NULL, &all,
				    &rows->written);

	if (err)
		return err;
	if (npy->length && entries_literal_extent(walk->scan->entries, npy->head, npy->length,
						  &head) < 0)
		return hdf5_out_of_memory(walk);
	size_row(set->dataset, &rows->row_bytes); /* it fits: all of them do */
	rows->first.head = (struct sample_bytes){ head.offset, npy->length, head.volume };
	rows->first.body = (struct sample_bytes){ all.offset, rows->row_bytes, all.volume };
	return 0;
}

static int add_fixed_rows(struct hdf5_row_set *set, struct fixed_rows *rows)
{
	int err;

	set->context = rows;
	set->fill = arrays_fill;
	if (set->binding->form != SAMPLE_PADDED)
		return hdf5_add_row_set(set);
	set->fill = fill_padded;
	err = hdf5_padded_open(set->group->walk, set->dataset, &rows->padded);
	if (!err)
		err = hdf5_add_row_set(set);
	hdf5_padded_close(&rows->padded);
	return err;
}

int hdf5_add_array_rows(struct hdf5_row_set *set)
{
	struct hdf5_walk *walk = set->group->walk;
	const struct image_shape *shape = &set->binding->shape;
	CLEANUP(cleanup_free) struct hdf5_npy *npy = malloc(sizeof(*npy));
	CLEANUP(cleanup_free) struct fixed_rows *rows = calloc(1, sizeof(*rows));
	char shown[64];
	int err = npy && rows ? hdf5_charge_rows(walk, set->rows) : hdf5_out_of_memory(walk);

	if (!err)
		err = hdf5_charge_paths(walk, set->rows, walk->path.count);
	if (!err)
		err = make_head(set, npy);
	if (!err)
		err = place_rows(set, npy, rows);
	if (err)
		return err;
	snprintf(shown, sizeof(shown), "%.20s (%sas .%s)", set->name,
		 shape->planes ? "planes " :
		 shape->ambiguous ? "pixels, not planes, " : "", set->extension);
	set->shown = shown;
	return add_fixed_rows(set, rows);
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

	hdf5_npy_make(npy, d->dims, d->rank, false);
	err = hdf5_array_extent(walk, d, NULL, &all, NULL);
	if (!err)
		err = hdf5_extend_path(walk, ".npy");
	if (!err)
		err = add_npy_file(walk, npy, all, mtime);
	if (!err)
		hdf5_reset_path(walk, length);
	return err;
}

static int arrays_add_record(struct hdf5_walk *walk, const struct hdf5_npy *npy,
			     uint64_t number, int digits, struct entry_extent body,
			     time_t mtime)
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

static int arrays_add_records(struct hdf5_walk *walk, struct hdf5_dataset *d,
			      struct hdf5_npy *npy, time_t mtime)
{
	struct entry directory = { .kind = ENTRY_DIRECTORY, .mode = DIRECTORY_MODE };
	uint64_t rows = d->dims[0], row_bytes = 0;
	int digits = snprintf(NULL, 0, "%llu", (unsigned long long)rows - 1);
	struct entry_extent all;
	int err = hdf5_charge_rows(walk, rows);

	if (!err)
		err = hdf5_array_extent(walk, d, NULL, &all, NULL);
	if (!err)
		err = hdf5_add_entry(walk, &directory, mtime);
	if (err)
		return err;
	size_row(d, &row_bytes);
	hdf5_npy_make(npy, d->dims + 1, d->rank - 1, false);
	all.length = row_bytes;
	for (uint64_t i = 0; i < rows && !err; i++) {
		err = arrays_add_record(walk, npy, i, digits, all, mtime);
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

int hdf5_add_npy(struct hdf5_walk *walk, struct hdf5_dataset *d, time_t mtime, bool *taken)
{
	CLEANUP(cleanup_free) struct hdf5_npy *npy = malloc(sizeof(*npy));

	if (!npy)
		return hdf5_out_of_memory(walk);
	*taken = d->space != H5S_NULL && d->rank <= VOLUME_RANK &&
		 d->item <= VOLUME_ITEM_LIMIT && hdf5_npy_describe(d->type, npy) &&
		 !hdf5_attribute_is(d, "NAME", "This is a netCDF dimension but not a "
						     "netCDF variable");
	if (!*taken)
		return 0;
	return has_records(d) ? arrays_add_records(walk, d, npy, mtime) :
				add_whole(walk, d, npy, mtime);
}
