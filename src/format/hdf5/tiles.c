/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All of an array as one extent: bytes of the file where they lie in a row, else a volume
 * that is made of tiles.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/hdf5/arrays.h"

/* An array that is being described. */
struct tiles {
	struct hdf5_walk *walk;
	struct hdf5_dataset *dataset;
	const uint8_t *order;
	uint64_t bytes; /* all of them */
	uint64_t written; /* rows up to the last of which something is stored */
	VEC(struct entry_tile) items;
	hsize_t tile[H5S_MAX_RANK];
	uint32_t codecs[VOLUME_CODECS];
};

static int refuse_size(struct hdf5_walk *walk)
{
	return hdf5_refuse(walk, "cannot be shown: it has more than %d dimensions, elements "
				 "of more than 1 MiB, rows of more than 1 GiB that do not "
				 "lie as they are shown, or 1 TiB in all; write it in "
				 "several datasets, or repack it: h5repack -l CONTI '%s' "
				 "out.h5",
			   VOLUME_RANK, walk->scan->label);
}

static int tiles_make_fill(struct tiles *t, unsigned char **out)
{
	struct hdf5_dataset *d = t->dataset;
	bool fill = false;
	int err = hdf5_dataset_has_fill(t->walk, d, &fill);

	if (err || !fill)
		return err;
	*out = calloc(1, (size_t)d->item);
	if (!*out)
		return hdf5_out_of_memory(t->walk);
	if (H5Pget_fill_value(d->plist, d->type, *out) < 0)
		return hdf5_refuse_library(t->walk, "cannot read the fill value of");
	return 0;
}

static int make_volume(struct tiles *t, struct entry_extent *out)
{
	const struct scan *scan = t->walk->scan;
	struct hdf5_dataset *d = t->dataset;
	CLEANUP(cleanup_free) unsigned char *fill = NULL;
	struct entry_array array = {
		.source = scan->source_number, .source_size = scan->base + scan->length,
		.rank = (uint32_t)d->rank, .item = (uint32_t)d->item,
		.codecs = t->codecs, .tiles = t->items.items, .tile_count = t->items.count,
	};
	int err = tiles_make_fill(t, &fill);

	if (err)
		return err;
	for (int i = 0; i < d->rank; i++) {
		array.dims[i] = d->dims[i];
		array.tile[i] = t->tile[i];
		array.order[i] = t->order ? t->order[i] : (uint8_t)i;
	}
	array.fill = fill;
	err = entries_array_extent(scan->entries, &array, out);
	if (err == -EBADMSG)
		return refuse_size(t->walk);
	return err ? hdf5_out_of_memory(t->walk) : 0;
}

static int push_tile(struct tiles *t, struct entry_tile tile)
{
	return vec_push(&t->items, tile) < 0 ? hdf5_out_of_memory(t->walk) : 0;
}

/* Rows of a contiguous array, or of one that was never written, as a tile each. */
static int cut_rows(struct tiles *t, haddr_t at, struct entry_extent *out)
{
	const struct hdf5_dataset *d = t->dataset;
	uint64_t rows = d->dims[0], row = t->bytes / rows;
	struct entry_tile tile = { .stored_at = t->walk->scan->base + at,
				   .stored_length = row };
	int err = 0;

	if (at == HADDR_UNDEF) {
		t->written = 0;
		tile = (struct entry_tile){ 0 };
		if (rows > t->walk->missing_budget)
			return hdf5_refuse(t->walk, "has more rows that were never written "
						    "than can be shown; make it smaller");
		t->walk->missing_budget -= rows;
	}
	memcpy(t->tile, d->dims, sizeof(t->tile));
	t->tile[0] = 1;
	for (uint64_t i = 0; i < rows && !err; i++) {
		err = push_tile(t, tile);
		tile.stored_at += tile.stored_length;
	}
	return err ? err : make_volume(t, out);
}

static int add_contiguous(struct tiles *t, haddr_t at, struct entry_extent *out)
{
	const struct scan *scan = t->walk->scan;
	int err;

	if (!range_within(at, t->bytes, scan->length))
		return hdf5_refuse_read(t->walk, -EBADMSG);
	err = hdf5_charge_stored(t->walk, t->bytes);
	if (err)
		return err;
	if (t->order)
		return cut_rows(t, at, out);
	err = entries_raw_extent(scan->entries, scan->source_number,
				 scan->base + scan->length, scan->base + at, t->bytes, out);
	return err == -EBADMSG ? hdf5_refuse_read(t->walk, err) :
	       err		? hdf5_out_of_memory(t->walk) : 0;
}

/* A volume of the index may be in no other order. */
static int add_compact(struct tiles *t, struct entry_extent *out)
{
	CLEANUP(cleanup_free) void *bytes = NULL;
	int err;

	if (t->order)
		return hdf5_refuse(t->walk, "keeps planes of images in its header (compact), "
					    "which is not supported; repack it: h5repack -l "
					    "CONTI '%s' out.h5",
				   t->walk->scan->label);
	err = hdf5_dataset_compact(t->walk, t->dataset, t->bytes, &bytes);
	if (err)
		return err;
	return entries_literal_extent(t->walk->scan->entries, bytes, (size_t)t->bytes, out) < 0 ?
		       hdf5_out_of_memory(t->walk) : 0;
}

static int add_chunk_tile(struct tiles *t, const struct hdf5_chunks *chunks, uint64_t i)
{
	struct hdf5_chunk chunk = { 0 };
	struct entry_tile tile;
	int err = hdf5_dataset_chunk(t->walk, t->dataset, chunks, i, &chunk);

	if (!err)
		err = hdf5_charge_stored(t->walk, chunk.size);
	if (err)
		return err;
	tile = (struct entry_tile){ chunk.at, chunk.size,
				    chunk.coded ? chunk.skipped : UINT32_MAX };
	if (chunk.size == 0)
		tile = (struct entry_tile){ 0 };
	else
		t->written = (i / (chunks->count / chunks->grid[0]) + 1) * chunks->tile[0];
	return push_tile(t, tile);
}

static int add_chunked(struct tiles *t, struct entry_extent *out)
{
	struct hdf5_walk *walk = t->walk;
	struct hdf5_chunks chunks;
	bool any = false;
	int err = hdf5_dataset_chunks(walk, t->dataset, &chunks);

	if (!err)
		err = hdf5_dataset_has_chunks(walk, t->dataset, &any);
	if (err)
		return err;
	if (!any)
		return cut_rows(t, HADDR_UNDEF, out);
	if (chunks.count > walk->missing_budget &&
	    chunks.count - walk->missing_budget > walk->scan->length)
		return hdf5_refuse(walk, "has more chunks that were never written than can "
					 "be shown; repack it: h5repack -l CONTI '%s' out.h5",
				   walk->scan->label);
	memcpy(t->tile, chunks.tile, sizeof(t->tile));
	memcpy(t->codecs, chunks.codecs, sizeof(t->codecs));
	t->written = 0;
	for (uint64_t i = 0; i < chunks.count && !err; i++)
		err = add_chunk_tile(t, &chunks, i);
	return err ? err : make_volume(t, out);
}

static int add_tiles(struct tiles *t, struct entry_extent *out)
{
	haddr_t at = hdf5_dataset_offset(t->walk, t->dataset);
	H5D_layout_t layout = H5D_CONTIGUOUS;
	int err;

	if (at != HADDR_UNDEF)
		return add_contiguous(t, at, out);
	err = hdf5_dataset_layout(t->walk, t->dataset, &layout);
	if (err)
		return err;
	if (layout == H5D_COMPACT)
		return add_compact(t, out);
	return layout == H5D_CHUNKED ? add_chunked(t, out) : cut_rows(t, HADDR_UNDEF, out);
}

/* A value that stands for what was never written is as good as one that was. */
static int count_written(struct tiles *t, uint64_t *out)
{
	bool fill = false;
	int err = 0;

	*out = t->dataset->dims[0];
	if (t->written < *out)
		err = hdf5_dataset_has_fill(t->walk, t->dataset, &fill);
	if (!err && !fill && t->written < *out)
		*out = t->written;
	return err;
}

int hdf5_array_extent(struct hdf5_walk *walk, struct hdf5_dataset *d, const uint8_t *order,
		      struct entry_extent *out, uint64_t *written)
{
	struct tiles t = { .walk = walk, .dataset = d, .order = order, .bytes = d->item };
	/* what lies as it is shown is no matter of items */
	bool fits = d->rank <= VOLUME_RANK && (d->item <= VOLUME_ITEM_LIMIT || (!order &&
		    hdf5_dataset_offset(walk, d) != HADDR_UNDEF));
	int err;

	*out = (struct entry_extent){ 0 };
	for (int i = 0; i < d->rank; i++)
		fits = fits && checked_mul(t.bytes, d->dims[i], &t.bytes);
	if (!fits || t.bytes > VOLUME_OFFSET_LIMIT)
		return refuse_size(walk);
	if (t.bytes == 0)
		return 0;
	if (d->rank == 0) { /* a scalar is a row of one */
		d->rank = 1;
		d->dims[0] = 1;
	}
	t.written = d->dims[0];
	err = add_tiles(&t, out);
	if (!err && written)
		err = count_written(&t, written);
	vec_free(&t.items);
	return err;
}
