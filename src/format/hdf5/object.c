/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "format/hdf5/filters.h"

enum {
	FILL_BYTES = 64 * 1024, /* a piece of what was never written */
	COMPACT_BYTES = 64 * 1024, /* what an object header can hold */
};

/* Kinds of objects */

static bool is_byte(hid_t type)
{
	return H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 1;
}

static bool is_rows(const struct hdf5_dataset *d)
{
	hid_t base;
	bool bytes;

	if (d->kind != H5T_VLEN || d->space != H5S_SIMPLE || d->rank < 1)
		return false;
	for (int i = 1; i < d->rank; i++)
		if (d->dims[i] != 1)
			return false;
	base = H5Tget_super(d->type);
	bytes = base >= 0 && is_byte(base);
	if (base >= 0)
		H5Tclose(base);
	return bytes;
}

static bool is_file(const struct hdf5_dataset *d)
{
	bool one = d->space == H5S_SCALAR || d->space == H5S_NULL ||
		   (d->space == H5S_SIMPLE && d->rank == 1 && d->dims[0] <= 1);

	if (d->kind == H5T_INTEGER)
		return d->item == 1 &&
		       (one || (d->space == H5S_SIMPLE && d->rank == 1));
	if (d->kind == H5T_STRING)
		return one && H5Tis_variable_str(d->type) == 0;
	return d->kind == H5T_OPAQUE && one;
}

/* A column of numbers could be no more than labels. */
static bool is_array(const struct hdf5_dataset *d)
{
	bool wide = false;

	for (int i = 1; i < d->rank; i++)
		wide |= d->dims[i] != 1;
	return wide && (d->kind == H5T_INTEGER || d->kind == H5T_FLOAT ||
			d->kind == H5T_ENUM || d->kind == H5T_COMPOUND);
}

static uint64_t object_count_items(const struct hdf5_dataset *d)
{
	if (d->space == H5S_NULL)
		return 0;
	return d->space == H5S_SCALAR ? 1 : d->dims[0]; /* the others are 1 */
}

static int read_space(struct hdf5_dataset *d)
{
	hid_t space = H5Dget_space(d->id);
	hsize_t most[H5S_MAX_RANK] = { 0 };

	if (space < 0)
		return -1;
	d->space = H5Sget_simple_extent_type(space);
	if (d->space == H5S_SIMPLE)
		d->rank = H5Sget_simple_extent_dims(space, d->dims, most);
	d->grows = d->rank > 0 && most[0] == H5S_UNLIMITED;
	H5Sclose(space);
	return d->space == H5S_NO_CLASS || d->rank < 0 ? -1 : 0;
}

int hdf5_dataset_open(struct hdf5_walk *walk, hid_t id, struct hdf5_dataset *d)
{
	d->id = id;
	d->plist = H5I_INVALID_HID;
	d->rank = 0;
	d->count = 0;
	d->use = HDF5_USE_NONE;
	d->type = H5Dget_type(id);
	if (d->type < 0 || read_space(d) < 0)
		return hdf5_refuse_library(walk, "cannot read the type of");
	d->kind = H5Tget_class(d->type);
	d->item = H5Tget_size(d->type);
	if (is_file(d))
		d->use = HDF5_USE_FILE;
	else if (is_rows(d))
		d->use = HDF5_USE_ROWS;
	else if (is_array(d))
		d->use = HDF5_USE_ARRAY;
	if (d->use == HDF5_USE_FILE || d->use == HDF5_USE_ROWS)
		d->count = object_count_items(d);
	return 0;
}

void hdf5_dataset_close(struct hdf5_dataset *d)
{
	if (d->plist >= 0)
		H5Pclose(d->plist);
	if (d->type >= 0)
		H5Tclose(d->type);
	H5Oclose(d->id);
}

void hdf5_dataset_describe(const struct hdf5_dataset *d, char *text, size_t room)
{
	static const char *const kinds[H5T_NCLASSES] = {
		[H5T_INTEGER] = "integer", [H5T_FLOAT] = "float", [H5T_TIME] = "time",
		[H5T_STRING] = "string", [H5T_BITFIELD] = "bit field",
		[H5T_OPAQUE] = "opaque", [H5T_COMPOUND] = "compound",
		[H5T_REFERENCE] = "reference", [H5T_ENUM] = "enumeration",
		[H5T_VLEN] = "variable length", [H5T_ARRAY] = "array",
	};
	bool known = d->kind >= 0 && d->kind < H5T_NCLASSES && kinds[d->kind];

	snprintf(text, room, "%llu-bit %s", (unsigned long long)d->item * 8,
		 known ? kinds[d->kind] : "other");
	if (d->space != H5S_SIMPLE)
		buffer_print(text, room, ", %s",
			     d->space == H5S_NULL ? "no value" : "one value");
	for (int i = 0; i < d->rank; i++)
		buffer_print(text, room, "%s%llu", i ? " x " : ", ",
			     (unsigned long long)d->dims[i]);
}

static int open_plist(struct hdf5_walk *walk, struct hdf5_dataset *d)
{
	if (d->plist < 0)
		d->plist = H5Dget_create_plist(d->id);
	return d->plist < 0 ? hdf5_refuse_library(walk, "cannot read the layout of") : 0;
}

/* Pieces */

static int refuse_outside(struct hdf5_walk *walk)
{
	return hdf5_refuse(walk, "is damaged: its data lie outside the file; copy the "
				 "file again");
}

static int refuse_too_large(struct hdf5_walk *walk, const char *what)
{
	return hdf5_refuse(walk, "has %s than can be shown; repack it: h5repack -f NONE "
				 "-l CONTI '%s' out.h5",
			   what, walk->scan->label);
}

int hdf5_charge_stored(struct hdf5_walk *walk, uint64_t bytes)
{
	if (bytes > walk->stored_budget)
		return hdf5_refuse(walk, "is damaged: it shares the same bytes with other "
					 "datasets, as HDF5 does not; copy the file "
					 "again");
	walk->stored_budget -= bytes;
	return 0;
}

/* One that continues the last is joined to it. */
static int push_extent(struct hdf5_walk *walk, uint64_t file_offset,
		       struct entry_extent extent)
{
	struct entry_extent *last = walk->extents.count == 0 ? NULL :
				    &walk->extents.items[walk->extents.count - 1];

	extent.file_offset = file_offset;
	if (last && last->volume == extent.volume &&
	    last->file_offset + last->length == file_offset &&
	    last->offset + last->length == extent.offset) {
		last->length += extent.length;
		return 0;
	}
	return vec_push(&walk->extents, extent) < 0 ? hdf5_out_of_memory(walk) : 0;
}

/* `at` counts from the start of the source. */
static int push_raw(struct hdf5_walk *walk, uint64_t file_offset, uint64_t at,
		    uint64_t length)
{
	const struct scan *scan = walk->scan;
	struct entry_extent extent;
	int err = entries_raw_extent(scan->entries, scan->source_number,
				     scan->base + scan->length, at, length, &extent);

	if (err)
		return err == -EBADMSG ? refuse_outside(walk) : hdf5_out_of_memory(walk);
	return push_extent(walk, file_offset, extent);
}

static int push_literal(struct hdf5_walk *walk, uint64_t file_offset, const void *bytes,
			size_t length)
{
	struct entry_extent extent;
	int err = hdf5_charge_stored(walk, length);

	if (err)
		return err;
	if (entries_literal_extent(walk->scan->entries, bytes, length, &extent) < 0)
		return hdf5_out_of_memory(walk);
	return push_extent(walk, file_offset, extent);
}

/* Chunks that were never written */

int hdf5_dataset_has_fill(struct hdf5_walk *walk, struct hdf5_dataset *d, bool *out)
{
	H5D_fill_value_t defined;
	int err = open_plist(walk, d);

	if (err)
		return err;
	if (H5Pfill_value_defined(d->plist, &defined) < 0)
		return hdf5_refuse_library(walk, "cannot read the fill value of");
	*out = defined == H5D_FILL_VALUE_USER_DEFINED;
	return 0;
}

/* A block of one byte is held once, and stands as often as it is needed. */
static int push_fill_byte(struct hdf5_walk *walk, unsigned char byte, uint64_t offset,
			  uint64_t length)
{
	struct entry_extent *fill = &walk->fills[byte];

	if (length > walk->fill_budget)
		return refuse_too_large(walk, "more of a fill value");
	walk->fill_budget -= length;
	if (fill->length == 0) {
		CLEANUP(cleanup_free) void *block = malloc(FILL_BYTES);

		if (!block)
			return hdf5_out_of_memory(walk);
		memset(block, byte, FILL_BYTES);
		if (entries_literal_extent(walk->scan->entries, block, FILL_BYTES,
					   fill) < 0)
			return hdf5_out_of_memory(walk);
	}
	while (length > 0) {
		struct entry_extent piece = *fill;
		int err;

		if (piece.length > length)
			piece.length = length;
		err = push_extent(walk, offset, piece);
		if (err)
			return err;
		offset += piece.length;
		length -= piece.length;
	}
	return 0;
}

/* The fill value of one element, which is the whole file. */
static int push_fill_item(struct hdf5_walk *walk, struct hdf5_dataset *d)
{
	CLEANUP(cleanup_free) unsigned char *value = NULL;
	size_t i = 0;

	if (d->item > COMPACT_BYTES)
		return refuse_too_large(walk, "a larger fill value");
	value = malloc((size_t)d->item);
	if (!value)
		return hdf5_out_of_memory(walk);
	if (H5Pget_fill_value(d->plist, d->type, value) < 0)
		return hdf5_refuse_library(walk, "cannot read the fill value of");
	while (i < d->item && value[i] == 0)
		i++;
	return i == d->item ? 0 : push_literal(walk, 0, value, (size_t)d->item);
}

/* Zeros are a hole. */
static int push_fill(struct hdf5_walk *walk, struct hdf5_dataset *d, uint64_t offset,
		     uint64_t length)
{
	unsigned char byte = 0;
	bool fill;
	int err = hdf5_dataset_has_fill(walk, d, &fill);

	if (err || !fill)
		return err;
	if (d->item != 1)
		return push_fill_item(walk, d);
	if (H5Pget_fill_value(d->plist, d->type, &byte) < 0)
		return hdf5_refuse_library(walk, "cannot read the fill value of");
	return byte == 0 ? 0 : push_fill_byte(walk, byte, offset, length);
}

/* Chunks */

static int object_refuse_missing(struct hdf5_walk *walk)
{
	return refuse_too_large(walk, "more chunks that were never written");
}

/* How many tiles lie along each axis, and in all. */
static int read_grid(struct hdf5_walk *walk, const struct hdf5_dataset *d,
		     struct hdf5_chunks *c)
{
	c->items = c->count = 1;
	for (int i = 0; i < d->rank; i++) {
		if (c->tile[i] == 0)
			return hdf5_refuse_library(walk, "cannot read the chunks of");
		c->grid[i] = d->dims[i] / c->tile[i] + (d->dims[i] % c->tile[i] != 0);
		if (!checked_mul(c->items, c->tile[i], &c->items))
			return refuse_too_large(walk, "larger chunks");
		if (!checked_mul(c->count, c->grid[i], &c->count))
			return refuse_too_large(walk, "more chunks");
	}
	if (!checked_mul(c->items, d->item, &c->plain) || c->plain > VOLUME_CHUNK_LIMIT)
		return refuse_too_large(walk, "larger chunks");
	return 0;
}

int hdf5_dataset_chunks(struct hdf5_walk *walk, struct hdf5_dataset *d,
			struct hdf5_chunks *out)
{
	unsigned options = 0;
	int err;

	*out = (struct hdf5_chunks){ 0 };
	if (H5Pget_chunk(d->plist, d->rank, out->tile) != d->rank ||
	    H5Pget_chunk_opts(d->plist, &options) < 0)
		return hdf5_refuse_library(walk, "cannot read the chunks of");
	out->edge_is_plain = options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS;
	err = read_grid(walk, d, out);
	return err ? err : hdf5_read_filters(walk, d, out);
}

/* 0 is also what libhdf5 returns when it cannot say. */
int hdf5_dataset_has_chunks(struct hdf5_walk *walk, struct hdf5_dataset *d, bool *out)
{
	*out = H5Dget_storage_size(d->id) > 0;
	if (!*out && H5Eget_num(H5E_DEFAULT) > 0)
		return hdf5_refuse_library(walk, "cannot find the chunks of");
	return 0;
}

/* Where chunk number `i` begins: does it reach past the end? */
static bool locate_chunk(const struct hdf5_dataset *d, const struct hdf5_chunks *chunks,
			 uint64_t i, hsize_t at[H5S_MAX_RANK])
{
	bool edge = false;

	for (int k = d->rank; k-- > 0; i /= chunks->grid[k]) {
		at[k] = i % chunks->grid[k] * chunks->tile[k]; /* below dims[k] */
		edge |= d->dims[k] - at[k] < chunks->tile[k];
	}
	return edge;
}

static int object_check_chunk(struct hdf5_walk *walk, const struct hdf5_chunks *chunks,
			      const struct hdf5_place *place, struct hdf5_chunk *out)
{
	if (!range_within(place->at, place->size, walk->scan->length))
		return refuse_outside(walk);
	out->at = walk->scan->base + place->at;
	if (!out->coded && place->size != chunks->plain)
		return hdf5_refuse(walk, "is damaged: a chunk has an impossible size; "
					 "copy the file again");
	return 0;
}

int hdf5_dataset_chunk(struct hdf5_walk *walk, struct hdf5_dataset *d,
		       const struct hdf5_chunks *chunks, uint64_t i,
		       struct hdf5_chunk *out)
{
	hsize_t at[H5S_MAX_RANK] = { 0 };
	bool edge = locate_chunk(d, chunks, i, at);
	struct hdf5_place place;
	int err = hdf5_file_find_chunk(&walk->file, d->id, at, &place);

	if (err == -EFBIG)
		return refuse_too_large(walk, "larger chunks");
	if (err == -ENOMEM)
		return hdf5_out_of_memory(walk);
	if (err)
		return hdf5_refuse_library(walk, "cannot find the chunks of");
	*out = (struct hdf5_chunk){ .size = place.size, .skipped = place.skipped };
	if (place.size == 0) {
		if (walk->missing_budget == 0)
			return object_refuse_missing(walk);
		walk->missing_budget--;
		return 0;
	}
	out->coded = (place.skipped | ~((1u << chunks->filters) - 1)) != UINT32_MAX &&
		     !(edge && chunks->edge_is_plain);
	return object_check_chunk(walk, chunks, &place, out);
}

static int push_coded(struct hdf5_walk *walk, const struct hdf5_chunks *chunks,
		      const struct hdf5_chunk *chunk, uint64_t offset, uint64_t length)
{
	const struct scan *scan = walk->scan;
	struct entry_chunk made = {
		.source = scan->source_number,
		.source_size = scan->base + scan->length,
		.codecs = chunks->codecs,
		.stored_at = chunk->at,
		.stored_length = chunk->size,
		.skipped = chunk->skipped,
		.plain = chunks->plain,
	};
	struct entry_extent extent;
	int err = entries_coded_extent(scan->entries, &made, &extent);

	if (err)
		return err == -EBADMSG ? refuse_outside(walk) : hdf5_out_of_memory(walk);
	if (extent.length > length)
		extent.length = length;
	return push_extent(walk, offset, extent);
}

static int push_chunk(struct hdf5_walk *walk, struct hdf5_dataset *d,
		      const struct hdf5_chunks *chunks, uint64_t i)
{
	uint64_t offset = i * chunks->plain, rest = d->count * d->item - offset;
	uint64_t length = rest < chunks->plain ? rest : chunks->plain;
	struct hdf5_chunk chunk;
	int err = hdf5_dataset_chunk(walk, d, chunks, i, &chunk);

	if (!err)
		err = hdf5_charge_stored(walk, chunk.size);
	if (err)
		return err;
	if (chunk.size == 0)
		return push_fill(walk, d, offset, length);
	if (chunk.coded)
		return push_coded(walk, chunks, &chunk, offset, length);
	return push_raw(walk, offset, chunk.at, length);
}

/* Layouts */

static int chunked_extents(struct hdf5_walk *walk, struct hdf5_dataset *d)
{
	struct hdf5_chunks chunks;
	bool any = false;
	int err = hdf5_dataset_chunks(walk, d, &chunks);

	if (!err)
		err = hdf5_dataset_has_chunks(walk, d, &any);
	if (!err && !any)
		return push_fill(walk, d, 0, d->count * d->item);
	if (!err && chunks.count > walk->missing_budget &&
	    chunks.count - walk->missing_budget > walk->scan->length)
		return object_refuse_missing(walk); /* each that is there has a byte */
	for (uint64_t i = 0; !err && i < chunks.count; i++)
		err = push_chunk(walk, d, &chunks, i);
	return err;
}

/* libhdf5 reads beyond what the header holds, where the dataset is said to be larger. */
int hdf5_dataset_compact(struct hdf5_walk *walk, const struct hdf5_dataset *d, uint64_t size,
			 void **out)
{
	CLEANUP(cleanup_free) void *bytes = NULL;

	if (size > COMPACT_BYTES || H5Dget_storage_size(d->id) < size)
		return refuse_outside(walk);
	bytes = calloc(1, size ? (size_t)size : 1);
	if (!bytes)
		return hdf5_out_of_memory(walk);
	if (H5Dread(d->id, d->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) < 0)
		return hdf5_refuse_library(walk, "cannot read");
	*out = bytes;
	bytes = NULL;
	return 0;
}

static int compact_extents(struct hdf5_walk *walk, struct hdf5_dataset *d)
{
	uint64_t size = d->count * d->item;
	CLEANUP(cleanup_free) void *bytes = NULL;
	int err = hdf5_dataset_compact(walk, d, size, &bytes);

	return err ? err : push_literal(walk, 0, bytes, (size_t)size);
}

static int unwritten_extents(struct hdf5_walk *walk, struct hdf5_dataset *d)
{
	return push_fill(walk, d, 0, d->count * d->item);
}

int hdf5_dataset_layout(struct hdf5_walk *walk, struct hdf5_dataset *d,
			H5D_layout_t *out)
{
	int err = open_plist(walk, d);

	if (err)
		return err;
	*out = H5Pget_layout(d->plist);
	if (*out == H5D_VIRTUAL)
		return hdf5_refuse(walk, "is a virtual dataset, made of other files; "
					 "write its data into one file: h5repack -l "
					 "CONTI '%s' out.h5",
				   walk->scan->label);
	if (*out == H5D_CONTIGUOUS && H5Pget_external_count(d->plist) > 0)
		return hdf5_refuse(walk, "has its data in another file; write them into "
					 "one file: h5repack -l CONTI '%s' out.h5",
				   walk->scan->label);
	if (*out < 0 || *out >= H5D_NLAYOUTS)
		return hdf5_refuse_library(walk, "cannot read the layout of");
	return 0;
}

/* With a user block, libhdf5 adds it even to the address that says "nowhere". */
#define NOWHERE (HADDR_UNDEF - 1)

haddr_t hdf5_dataset_offset(const struct hdf5_walk *walk, const struct hdf5_dataset *d)
{
	haddr_t at = H5Dget_offset(d->id);
	uint64_t bytes = d->item;

	for (int i = 0; i < d->rank; i++)
		if (!checked_mul(bytes, d->dims[i], &bytes))
			return NOWHERE;
	if (at == HADDR_UNDEF || at == HADDR_UNDEF + walk->file.base)
		return HADDR_UNDEF;
	return H5Dget_storage_size(d->id) < bytes ? NOWHERE : at;
}

int hdf5_dataset_extents(struct hdf5_walk *walk, struct hdf5_dataset *d, uint64_t *size)
{
	static int (*const by_layout[H5D_NLAYOUTS])(struct hdf5_walk *,
						    struct hdf5_dataset *) = {
		[H5D_COMPACT] = compact_extents,
		[H5D_CONTIGUOUS] = unwritten_extents,
		[H5D_CHUNKED] = chunked_extents,
		[H5D_VIRTUAL] = unwritten_extents, /* never: refused before */
	};
	haddr_t at = HADDR_UNDEF;
	H5D_layout_t layout = H5D_CONTIGUOUS;
	int err;

	walk->extents.count = 0;
	if (!checked_mul(d->count, d->item, size))
		return refuse_outside(walk);
	if (*size > 0)
		at = hdf5_dataset_offset(walk, d);
	if (at != HADDR_UNDEF)
		return range_within(at, *size, walk->scan->length) ?
			       push_raw(walk, 0, walk->scan->base + at, *size) :
			       refuse_outside(walk);
	err = hdf5_dataset_layout(walk, d, &layout);
	return err || *size == 0 ? err : by_layout[layout](walk, d);
}
