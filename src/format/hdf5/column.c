/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "codec/codec.h"

enum {
	SLICE_BYTES = 1 << 20,
	ITEM_BYTES = 1 << 16, /* the longest of names has fewer */
	ROW_BYTES = SLICE_BYTES, /* of several items, or of an image */
	HEAD_BYTES = 4096, /* of rows that are larger */
	CHUNK_BYTES = 256 << 20, /* descriptors of 16 million rows */
};

int hdf5_column_axis(const struct hdf5_dataset *d)
{
	int axis = 0, wide = 0;

	if (d->space != H5S_SIMPLE || d->rank < 1)
		return -1;
	for (int i = 0; i < d->rank; i++)
		if (d->dims[i] != 1) {
			axis = i;
			wide++;
		}
	return wide > 1 || (axis > 0 && d->rank != 2) ? -1 : axis;
}

bool hdf5_is_column(const struct hdf5_dataset *d)
{
	return hdf5_column_axis(d) >= 0;
}

static bool is_variable(const struct hdf5_dataset *d)
{
	return d->kind == H5T_VLEN ||
	       (d->kind == H5T_STRING && H5Tis_variable_str(d->type) > 0);
}

static int refuse_variable(struct hdf5_walk *walk)
{
	return hdf5_refuse(walk,
			   "has rows of variable length in a file with addresses of "
			   "%zu and lengths of %zu bytes; only 8 are supported; "
			   "repack it: h5repack '%s' out.h5",
			   walk->file.address_bytes, walk->file.length_bytes,
			   walk->scan->label);
}

/* Chunks that are narrower than rows: the first ones have the rows' beginnings. */
static bool read_heads(struct hdf5_column *c, enum hdf5_column_kind kind)
{
	const struct hdf5_dataset *d = c->dataset;

	if (kind != HDF5_COLUMN_HEADS || d->rank != 2 || c->chunks.tile[1] >= d->dims[1])
		return false;
	c->item = c->stride = c->chunks.tile[1] * d->item;
	c->chunk_step = c->chunks.grid[1];
	return true;
}

static int open_chunks(struct hdf5_column *c, int axis, enum hdf5_column_kind kind)
{
	const struct hdf5_dataset *d = c->dataset;
	int err = hdf5_dataset_chunks(c->walk, c->dataset, &c->chunks);

	if (err)
		return err;
	if (c->chunks.plain > CHUNK_BYTES)
		return hdf5_refuse(c->walk,
				   "has a table, labels or names in chunks larger than "
				   "256 MiB; repack it: h5repack -l CONTI '%s' out.h5",
				   c->walk->scan->label);
	c->chunk_rows = c->chunks.tile[axis];
	c->chunk_step = 1;
	for (int i = 0; i < d->rank; i++)
		if (i != axis && c->chunks.tile[i] != d->dims[i] && !read_heads(c, kind))
			return hdf5_refuse(c->walk,
					   "has rows in chunks of another width; repack it: "
					   "h5repack -l CONTI '%s' out.h5",
					   c->walk->scan->label);
	return hdf5_dataset_has_chunks(c->walk, c->dataset, &c->any);
}

static int open_layout(struct hdf5_column *c, int axis, enum hdf5_column_kind kind)
{
	int err = 0;

	c->at = c->rows ? hdf5_dataset_offset(c->walk, c->dataset) : HADDR_UNDEF;
	if (c->at != HADDR_UNDEF)
		c->layout = H5D_CONTIGUOUS;
	else
		err = hdf5_dataset_layout(c->walk, c->dataset, &c->layout);
	if (!err && c->layout == H5D_CHUNKED)
		err = open_chunks(c, axis, kind);
	else if (c->item > ROW_BYTES)
		c->item = HEAD_BYTES;
	if (!err && c->layout == H5D_COMPACT && is_variable(c->dataset))
		err = hdf5_refuse(c->walk,
				  "keeps rows of variable length in its header "
				  "(compact), which is not supported; repack it: "
				  "h5repack -l CONTI '%s' out.h5",
				  c->walk->scan->label);
	return err;
}

/* The bytes of a row of several items; false: more than a column has. */
static bool measure_row(const struct hdf5_dataset *d, enum hdf5_column_kind kind,
			uint64_t *out)
{
	for (int i = 1; i < d->rank; i++)
		if (!checked_mul(*out, d->dims[i], out))
			return false;
	return *out <= ROW_BYTES || kind == HDF5_COLUMN_HEADS;
}

int hdf5_column_open(struct hdf5_walk *walk, struct hdf5_dataset *d,
		     enum hdf5_column_kind kind, struct hdf5_column *out)
{
	int axis = kind == HDF5_COLUMN_ITEMS ? hdf5_column_axis(d) : 0;

	axis = axis < 0 ? 0 : axis;
	*out = (struct hdf5_column){ .walk = walk,
				    .dataset = d,
				    .item = d->item,
				    .rows = d->dims[axis],
				    .at = HADDR_UNDEF };
	if (is_variable(d)) {
		out->item = d->item = HDF5_DESCRIPTOR_BYTES;
		if (walk->file.address_bytes != 8 || walk->file.length_bytes != 8)
			return refuse_variable(walk);
	}
	if (out->item == 0 || (kind == HDF5_COLUMN_ITEMS && out->item > ITEM_BYTES) ||
	    (kind != HDF5_COLUMN_ITEMS && !measure_row(d, kind, &out->item)))
		return hdf5_refuse(walk,
				   "has rows of %llu bytes, which are no labels or "
				   "names; write them otherwise",
				   (unsigned long long)out->item);
	out->stride = out->item;
	return open_layout(out, axis, kind);
}

void hdf5_column_close(struct hdf5_column *c)
{
	free(c->slice);
	free(c->fill);
	c->slice = c->fill = NULL;
}

/* Rows that were never written */

/* Rows of variable length that were never written are empty, if nobody said otherwise. */
static int column_make_fill(struct hdf5_column *c)
{
	bool fill = false;
	int err = hdf5_dataset_has_fill(c->walk, c->dataset, &fill);

	if (err)
		return err;
	if (fill && is_variable(c->dataset))
		return hdf5_refuse(c->walk,
				   "has rows that were never written, and a fill "
				   "value for them, which is not supported; write "
				   "these rows");
	c->fill = calloc(1, (size_t)c->item);
	if (!c->fill)
		return hdf5_out_of_memory(c->walk);
	if (fill && H5Pget_fill_value(c->dataset->plist, c->dataset->type, c->fill) < 0)
		return hdf5_refuse_library(c->walk, "cannot read the fill value of");
	for (uint64_t i = c->dataset->item; fill && i < c->item; i++)
		c->fill[i] = c->fill[i - c->dataset->item];
	return 0;
}

static int get_fill(struct hdf5_column *c, const unsigned char **out)
{
	int err = c->fill ? 0 : column_make_fill(c);

	*out = c->fill;
	return err;
}

/* Slices */

static int room_for(struct hdf5_column *c, uint64_t bytes)
{
	if (!c->slice)
		c->slice = malloc((size_t)bytes);
	return c->slice ? 0 : hdf5_out_of_memory(c->walk);
}

static int read_contiguous(struct hdf5_column *c, uint64_t row)
{
	uint64_t most = c->item < c->stride ? 1 : SLICE_BYTES / c->item, from;
	uint64_t rest = c->rows - row;
	int err = room_for(c, SLICE_BYTES);

	if (err)
		return err;
	c->first = row;
	c->count = rest < most ? rest : most;
	if (!checked_mul(row, c->stride, &from) || !checked_add(from, c->at, &from))
		return hdf5_refuse_read(c->walk, -EBADMSG);
	err = hdf5_blocks_read(&c->walk->file.blocks, c->slice,
			       (size_t)(c->count * c->item), from);
	return err ? hdf5_refuse_read(c->walk, err) : 0;
}

static int read_compact(struct hdf5_column *c)
{
	CLEANUP(cleanup_free) void *all = NULL;
	uint64_t bytes;
	int err;

	if (!checked_mul(c->rows, c->item, &bytes))
		return hdf5_refuse_read(c->walk, -EBADMSG);
	err = hdf5_dataset_compact(c->walk, c->dataset, bytes, &all);
	if (!err)
		err = room_for(c, bytes);
	if (err)
		return err;
	memcpy(c->slice, all, (size_t)bytes);
	c->count = c->rows;
	return 0;
}

static int decode_chunk(struct hdf5_column *c, const struct hdf5_chunk *chunk)
{
	struct hdf5_walk *walk = c->walk;
	CLEANUP(cleanup_free) unsigned char *stored = NULL;
	ssize_t n;
	int err;

	if (c->chunks.plain > walk->decoded_budget)
		return hdf5_refuse(walk,
				   "and others like it would be decoded to more bytes than "
				   "a file of its size may ask for; repack it without "
				   "filters: h5repack -f NONE '%s' out.h5",
				   walk->scan->label);
	walk->decoded_budget -= c->chunks.plain;
	stored = malloc((size_t)chunk->size);
	if (!stored)
		return hdf5_out_of_memory(walk);
	err = hdf5_blocks_read(&walk->file.blocks, stored, (size_t)chunk->size,
			       chunk->at - walk->scan->base);
	if (err)
		return hdf5_refuse_read(walk, err);
	n = codec_chain_decode(c->chunks.codecs, chunk->skipped, stored,
			       (size_t)chunk->size, c->slice, (size_t)c->chunks.plain);
	if (n == -ENOMEM)
		return hdf5_out_of_memory(walk);
	if (n < 0 || (uint64_t)n != c->chunks.plain)
		return hdf5_refuse(walk,
				   "is damaged: the chunk at byte %llu cannot be "
				   "decoded; copy the file again",
				   (unsigned long long)chunk->at);
	return 0;
}

/* The chunk with this row; a hole where it is not stored. */
static int column_read_chunk(struct hdf5_column *c, uint64_t row)
{
	uint64_t tile = row / c->chunk_rows, number = tile * c->chunk_step;
	struct hdf5_chunk chunk = { 0 };
	int err = hdf5_dataset_chunk(c->walk, c->dataset, &c->chunks, number, &chunk);

	if (err)
		return err;
	c->first = tile * c->chunk_rows;
	c->count = c->chunk_rows;
	c->hole = chunk.size == 0;
	err = c->hole ? 0 : room_for(c, c->chunks.plain);
	if (err || c->hole)
		return err;
	if (chunk.coded)
		return decode_chunk(c, &chunk);
	err = hdf5_blocks_read(&c->walk->file.blocks, c->slice, (size_t)c->chunks.plain,
			       chunk.at - c->walk->scan->base);
	return err ? hdf5_refuse_read(c->walk, err) : 0;
}

static int read_slice(struct hdf5_column *c, uint64_t row)
{
	if (c->at != HADDR_UNDEF)
		return read_contiguous(c, row);
	if (c->layout == H5D_COMPACT)
		return read_compact(c);
	if (c->layout == H5D_CHUNKED && c->any)
		return column_read_chunk(c, row);
	c->count = c->rows;
	c->hole = true;
	return 0;
}

int hdf5_column_get(struct hdf5_column *c, uint64_t row, const unsigned char **out)
{
	if (row < c->first || row - c->first >= c->count) {
		int err;

		c->first = c->count = 0;
		c->hole = false;
		err = read_slice(c, row);
		if (err)
			return err;
	}
	if (c->hole)
		return get_fill(c, out);
	*out = c->slice + (row - c->first) * c->stride;
	return 0;
}
