/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of variable length.
 *
 * The table of descriptors is read from the source, slice by slice or chunk by
 * chunk, and never by H5Dread, which would read every image. It is gone through
 * twice: first as far as 16 rows that are not empty, whose beginnings say which
 * extension they get; then to the end.
 */
#include "format/hdf5/vlen_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "format/hdf5/column.h"

enum { ROWS_SNIFFED = 16 };

struct vlen_rows_table {
	struct hdf5_walk *walk;
	struct hdf5_column column;
	unsigned sniffed;
	const char *extensions[ROWS_SNIFFED];
};

static int get_row(struct vlen_rows_table *t, uint64_t number, struct hdf5_row *row)
{
	const unsigned char *bytes = NULL;
	int err = hdf5_column_get(&t->column, number, &bytes);

	if (!err)
		*row = hdf5_row_parse(bytes);
	return err;
}

static int vlen_rows_refuse_row(struct vlen_rows_table *t, uint64_t number,
				const struct hdf5_row *row, int err)
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

static int sniff_row(struct vlen_rows_table *t, uint64_t number)
{
	unsigned char head[SAMPLES_SNIFF_BYTES];
	struct hdf5_row row = { 0 };
	struct hdf5_found place;
	size_t n;
	int err = get_row(t, number, &row);

	if (err || row.length == 0)
		return err;
	n = row.length < sizeof(head) ? row.length : sizeof(head);
	err = hdf5_heap_find_checked(&t->walk->heap, &row, &place);
	if (err)
		return vlen_rows_refuse_row(t, number, &row, err);
	err = hdf5_blocks_read(&t->walk->file.blocks, head, n, place.at);
	if (err)
		return hdf5_refuse_read(t->walk, err);
	t->extensions[t->sniffed++] = samples_detect_type(head, n);
	return 0;
}

static int vlen_rows_sniff(struct vlen_rows_table *t, const char **extension)
{
	int err = 0;

	for (uint64_t i = 0; i < t->column.rows && !err && t->sniffed < ROWS_SNIFFED; i++)
		err = sniff_row(t, i);
	*extension = samples_common_extension(t->extensions, t->sniffed);
	return err;
}

static int vlen_rows_fill(struct hdf5_row_set *set, uint64_t number,
			  struct sample *sample, bool *written)
{
	struct vlen_rows_table *t = set->context;
	const struct scan *scan = t->walk->scan;
	struct entry_extent extent = { 0 };
	struct hdf5_row row = { 0 };
	struct hdf5_found place;
	int err = get_row(t, number, &row);

	*written = row.length || row.address || row.index;
	if (err || row.length == 0)
		return err;
	err = hdf5_heap_find(&t->walk->heap, &row, &place);
	if (err)
		return vlen_rows_refuse_row(t, number, &row, err);
	err = entries_guarded_extent(scan->entries, scan->source_number,
				     scan->base + scan->length,
				     place.guessed ? GUARD_HDF5_FIRST : GUARD_HDF5_HEAP,
				     scan->base + place.at, row.length, &extent);
	if (err == -EBADMSG)
		t->walk->heap.problem = "lies outside the file";
	if (err)
		return vlen_rows_refuse_row(t, number, &row, err);
	sample->body = (struct sample_bytes){ extent.offset, row.length, extent.volume };
	return 0;
}

int hdf5_add_vlen_rows(struct hdf5_row_set *set)
{
	struct hdf5_walk *walk = set->group->walk;
	CLEANUP(cleanup_free) struct vlen_rows_table *t = calloc(1, sizeof(*t));
	int err = t ? hdf5_charge_rows(walk, set->rows) : hdf5_out_of_memory(walk);

	if (!err)
		err = hdf5_charge_paths(walk, set->rows, walk->path.count);
	if (err)
		return err;
	t->walk = walk;
	set->context = t;
	set->fill = vlen_rows_fill;
	err = hdf5_column_open(walk, set->dataset, HDF5_COLUMN_ITEMS, &t->column);
	if (!err)
		err = vlen_rows_sniff(t, &set->extension);
	if (set->group->tables.items[set->binding->array].pickled)
		set->extension = "pkl";
	if (!err)
		err = hdf5_add_row_set(set);
	hdf5_column_close(&t->column);
	return err;
}
