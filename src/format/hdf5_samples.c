/*
 * Rows of variable length, as samples.
 *
 * The table of descriptors is read from the source, slice by slice or chunk by
 * chunk, and never by H5Dread, which would read every image. It is gone through
 * twice: first as far as 16 rows that are not empty, whose beginnings say which
 * extension they get; then to the end.
 */
#include "format/hdf5_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "format/limits.h"
#include "util/checked.h"
#include "util/cleanup.h"
#include "util/log.h"

enum {
	SLICE_ROWS = 65536, /* 1 MiB of descriptors */
	LABELS_AT_ONCE = 1 << 24,
	LABELS_CHUNK_BYTES = 64 << 20, /* libhdf5 decodes it whole */
	ROWS_SNIFFED = 16,
};

const char *const hdf5_label_names[HDF5_LABEL_NAMES] = { "targets", "labels", "label" };

/* One number a row, read in slices. */
struct labels {
	hid_t id; /* < 0: there are none */
	int number; /* of its name */
	int64_t *slice;
	uint64_t first, count, most; /* of the slice */
};

/* One way through the table of a dataset. */
struct pass {
	struct hdf5_walk *walk;
	struct hdf5_dataset *dataset;
	struct labels labels;
	uint64_t row;
	int (*visit)(struct pass *pass, const struct hdf5_row *row);
	bool done;

	unsigned sniffed;
	const char *extensions[ROWS_SNIFFED];
};

int hdf5_label_number(const char *name)
{
	for (int i = 0; i < HDF5_LABEL_NAMES; i++)
		if (strcmp(hdf5_label_names[i], name) == 0)
			return i;
	return -1;
}

/* Labels */

static void close_labels(struct labels *labels)
{
	if (labels->id >= 0)
		H5Oclose(labels->id);
	free(labels->slice);
}

/* A slice is made of whole chunks, or each would be decoded for many slices. */
static uint64_t slice_of_labels(uint64_t chunk)
{
	if (chunk < SLICE_ROWS)
		return SLICE_ROWS - SLICE_ROWS % chunk;
	return chunk < LABELS_AT_ONCE ? chunk : LABELS_AT_ONCE;
}

/* Takes them, unless they lie elsewhere or cannot be read in pieces. */
static int take_labels(struct pass *pass, struct hdf5_dataset *d, int number)
{
	struct labels *labels = &pass->labels;
	H5D_layout_t layout;
	hsize_t chunk = 1;
	uint64_t bytes;
	int err;

	pass->walk->beside = hdf5_label_names[number];
	err = hdf5_dataset_layout(pass->walk, d, &layout);
	pass->walk->beside = NULL;
	if (err)
		return err;
	if (layout == H5D_CHUNKED && (H5Pget_chunk(d->plist, 1, &chunk) != 1 || !chunk))
		return hdf5_refuse_library(pass->walk, "cannot open the labels of");
	if (!checked_mul(chunk, d->item, &bytes) || bytes > LABELS_CHUNK_BYTES)
		return hdf5_refuse(pass->walk, "has its labels, '%s', in chunks larger "
					       "than 64 MiB; repack it: h5repack -l "
					       "CONTI '%s' out.h5",
				   hdf5_label_names[number], pass->walk->scan->label);
	labels->id = d->id;
	labels->number = number;
	labels->most = slice_of_labels(chunk);
	H5Iinc_ref(d->id);
	return 0;
}

static bool are_labels(const struct hdf5_dataset *d, uint64_t rows)
{
	return d->kind == H5T_INTEGER && d->space == H5S_SIMPLE && d->rank == 1 &&
	       d->dims[0] == rows;
}

static void warn_no_labels(struct hdf5_walk *walk, const char *name)
{
	if (walk->warnings++ < LIMIT_WARNINGS)
		log_warn("'%s': '%s' beside '%.200s' does not hold one integer a row, in one "
			 "dimension: the rows get no labels from it",
			 walk->scan->label, name, walk->path.items);
}

/* Does this neighbour hold as many integers as there are rows? Then it is taken. */
static int try_labels(struct pass *pass, hid_t group, int number)
{
	const char *name = hdf5_label_names[number];
	struct hdf5_dataset d;
	H5L_info_t info;
	int err;

	if (H5Lexists(group, name, H5P_DEFAULT) <= 0 ||
	    H5Lget_info(group, name, &info, H5P_DEFAULT) < 0 ||
	    info.type != H5L_TYPE_HARD)
		return 0;
	d.id = H5Oopen(group, name, H5P_DEFAULT);
	if (d.id < 0)
		return hdf5_refuse_library(pass->walk, "cannot open the labels of");
	if (H5Iget_type(d.id) != H5I_DATASET) {
		H5Oclose(d.id);
		return 0;
	}
	err = hdf5_dataset_open(pass->walk, d.id, &d);
	if (!err && are_labels(&d, pass->dataset->count))
		err = take_labels(pass, &d, number);
	else if (!err)
		warn_no_labels(pass->walk, name);
	hdf5_dataset_close(&d);
	return err;
}

static int find_labels(struct pass *pass, hid_t group)
{
	int err = 0;

	for (int i = 0; i < HDF5_LABEL_NAMES; i++)
		if (!err && pass->labels.id < 0)
			err = try_labels(pass, group, i);
	return err;
}

/* libhdf5 would give all numbers that do not fit the same value. */
static H5T_conv_ret_t note_beyond(H5T_conv_except_t what, hid_t from, hid_t to,
				  void *value, void *converted, void *beyond)
{
	(void)what;
	(void)from;
	(void)to;
	(void)value;
	(void)converted;
	*(bool *)beyond = true;
	return H5T_CONV_ABORT;
}

static int refuse_labels(struct pass *pass, bool beyond)
{
	if (!beyond)
		return hdf5_refuse_library(pass->walk, "cannot read the labels of");
	return hdf5_refuse(pass->walk, "has labels in '%s' that are not between %lld and "
				       "%lld; write others",
			   hdf5_label_names[pass->labels.number], (long long)INT64_MIN,
			   (long long)INT64_MAX);
}

static int read_labels(struct pass *pass, uint64_t first, uint64_t count)
{
	hsize_t start = first, n = count;
	hid_t file_space = H5Dget_space(pass->labels.id);
	hid_t memory_space = H5Screate_simple(1, &n, NULL);
	hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
	herr_t status = -1;
	bool beyond = false;

	if (file_space >= 0 && memory_space >= 0 &&
	    H5Pset_type_conv_cb(transfer, note_beyond, &beyond) >= 0 &&
	    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &n, NULL) >= 0)
		status = H5Dread(pass->labels.id, H5T_NATIVE_INT64, memory_space,
				 file_space, transfer, pass->labels.slice);
	if (transfer >= 0)
		H5Pclose(transfer);
	if (file_space >= 0)
		H5Sclose(file_space);
	if (memory_space >= 0)
		H5Sclose(memory_space);
	return status < 0 ? refuse_labels(pass, beyond) : 0;
}

static int label_of(struct pass *pass, int64_t *out)
{
	struct labels *labels = &pass->labels;

	if (pass->row - labels->first >= labels->count) {
		uint64_t rest = pass->dataset->count - pass->row;
		uint64_t count = rest < labels->most ? rest : labels->most;
		int err;

		if (!labels->slice)
			labels->slice = calloc((size_t)count, sizeof(*labels->slice));
		if (!labels->slice)
			return hdf5_out_of_memory(pass->walk);
		err = read_labels(pass, pass->row, count);
		if (err)
			return err;
		labels->first = pass->row;
		labels->count = count;
	}
	*out = labels->slice[pass->row - labels->first];
	return 0;
}

/* Rows */

static int refuse_row(struct pass *pass, const struct hdf5_row *row, int err)
{
	if (err != -EBADMSG || pass->walk->file.blocks.err)
		return hdf5_refuse_read(pass->walk, err);
	return hdf5_refuse(pass->walk, "is damaged: row %llu (%u bytes, object %u of the "
				       "heap collection at byte %llu) %s; copy the file "
				       "again, or write it again",
			   (unsigned long long)pass->row, row->length, row->index,
			   (unsigned long long)row->address, pass->walk->heap.problem);
}

static int add_sample(struct pass *pass, const struct hdf5_row *row,
		      const struct entry_extent *extent)
{
	struct sample sample = { .body = { extent->offset, row->length, extent->volume } };
	int err = pass->labels.id < 0 ? 0 : label_of(pass, &sample.label);

	if (err)
		return err;
	if (samples_add(pass->walk->scan->samples, &sample) < 0)
		return hdf5_out_of_memory(pass->walk);
	hdf5_advance(pass->walk, row->length);
	return 0;
}

static int take_row(struct pass *pass, const struct hdf5_row *row)
{
	const struct scan *scan = pass->walk->scan;
	struct entry_extent extent = { 0 };
	uint64_t at;
	int err;

	if (row->length == 0)
		return add_sample(pass, row, &extent);
	err = hdf5_heap_find(&pass->walk->heap, row, &at);
	if (err)
		return refuse_row(pass, row, err);
	err = entries_guarded_extent(scan->entries, scan->source_number,
				     scan->base + scan->length, GUARD_HDF5_HEAP,
				     scan->base + at, row->length, &extent);
	if (err == -EBADMSG) {
		pass->walk->heap.problem = "lies outside the file";
		return refuse_row(pass, row, err);
	}
	return err ? hdf5_out_of_memory(pass->walk) : add_sample(pass, row, &extent);
}

static int sniff_row(struct pass *pass, const struct hdf5_row *row)
{
	unsigned char head[SAMPLES_SNIFF_BYTES];
	size_t n = row->length < sizeof(head) ? row->length : sizeof(head);
	uint64_t at = 0;
	int err;

	if (row->length == 0)
		return 0;
	err = hdf5_heap_find(&pass->walk->heap, row, &at);
	if (!err)
		err = hdf5_heap_verify(&pass->walk->heap, row, at);
	if (err)
		return refuse_row(pass, row, err);
	err = hdf5_blocks_read(&pass->walk->file.blocks, head, n, at);
	if (err)
		return hdf5_refuse_read(pass->walk, err);
	pass->extensions[pass->sniffed++] = samples_sniff(head, n);
	pass->done = pass->sniffed == ROWS_SNIFFED;
	return 0;
}

/* What most of them are. */
static const char *common_extension(const struct pass *pass)
{
	for (unsigned i = 0; i < pass->sniffed; i++) {
		const char *extension = pass->extensions[i];
		unsigned same = 0;

		for (unsigned j = 0; extension && j < pass->sniffed; j++)
			same += pass->extensions[j] &&
				strcmp(pass->extensions[j], extension) == 0;
		if (2 * same > pass->sniffed)
			return extension;
	}
	return "bin";
}

/* The table */

static int visit_descriptors(struct pass *pass, const unsigned char *descriptors,
			     uint64_t n)
{
	int err = 0;

	for (uint64_t i = 0; i < n && !err && !pass->done; i++) {
		struct hdf5_row row = hdf5_row_parse(descriptors +
						     i * HDF5_DESCRIPTOR_BYTES);

		err = pass->visit(pass, &row);
		pass->row++;
	}
	return err;
}

/* Rows that were never written are empty, if nobody said otherwise. */
static int visit_unwritten(struct pass *pass, uint64_t n)
{
	const struct hdf5_row empty = { 0 };
	bool fill;
	int err = hdf5_dataset_has_fill(pass->walk, pass->dataset, &fill);

	if (!err && fill)
		return hdf5_refuse(pass->walk, "has rows that were never written, and a "
					       "fill value for them, which is not "
					       "supported; write these rows");
	for (uint64_t i = 0; i < n && !err && !pass->done; i++) {
		err = pass->visit(pass, &empty);
		pass->row++;
	}
	return err;
}

static int visit_contiguous(struct pass *pass, uint64_t at)
{
	CLEANUP(cleanup_free) unsigned char *slice =
		malloc((size_t)SLICE_ROWS * HDF5_DESCRIPTOR_BYTES);
	uint64_t count = pass->dataset->count, done = 0;
	int err = 0;

	if (!slice)
		return hdf5_out_of_memory(pass->walk);
	while (done < count && !err && !pass->done) {
		uint64_t n = count - done < SLICE_ROWS ? count - done : SLICE_ROWS;
		uint64_t from;

		/* done * 16 fits: what was read before lay within the file */
		err = checked_add(at, done * HDF5_DESCRIPTOR_BYTES, &from) ?
			      hdf5_blocks_read(&pass->walk->file.blocks, slice,
					       (size_t)n * HDF5_DESCRIPTOR_BYTES, from) :
			      -EBADMSG;
		if (err)
			return hdf5_refuse_read(pass->walk, err);
		err = visit_descriptors(pass, slice, n);
		done += n;
	}
	return err;
}

/* A chunk's descriptors; `stored` and `plain` have room for it. */
static int read_chunk(struct pass *pass, const struct hdf5_chunks *chunks,
		      const struct hdf5_chunk *chunk, unsigned char *plain)
{
	struct hdf5_walk *walk = pass->walk;
	CLEANUP(cleanup_free) unsigned char *stored = NULL;
	uint64_t at = chunk->at - walk->scan->base;
	ssize_t n;
	int err;

	if (!chunk->coded) {
		err = hdf5_blocks_read(&walk->file.blocks, plain, (size_t)chunks->plain,
				       at);
		return err ? hdf5_refuse_read(walk, err) : 0;
	}
	stored = malloc((size_t)chunk->size);
	if (!stored)
		return hdf5_out_of_memory(walk);
	err = hdf5_blocks_read(&walk->file.blocks, stored, (size_t)chunk->size, at);
	if (err)
		return hdf5_refuse_read(walk, err);
	n = codec_chain_decode(chunks->codecs, chunk->skipped, stored,
			       (size_t)chunk->size, plain, (size_t)chunks->plain);
	if (n == -ENOMEM)
		return hdf5_out_of_memory(walk);
	if (n < 0 || (uint64_t)n != chunks->plain)
		return hdf5_refuse(walk, "is damaged: the chunk at byte %llu cannot be "
					 "decoded; copy the file again",
				   (unsigned long long)chunk->at);
	return 0;
}

static int visit_chunk(struct pass *pass, const struct hdf5_chunks *chunks, uint64_t i,
		       unsigned char *plain)
{
	uint64_t rest = pass->dataset->count - i * chunks->items;
	uint64_t n = rest < chunks->items ? rest : chunks->items;
	struct hdf5_chunk chunk;
	int err = hdf5_dataset_chunk(pass->walk, pass->dataset, chunks, i, &chunk);

	if (!err && chunk.size == 0)
		return visit_unwritten(pass, n);
	if (!err)
		err = read_chunk(pass, chunks, &chunk, plain);
	return err ? err : visit_descriptors(pass, plain, n);
}

static int visit_chunked(struct pass *pass)
{
	CLEANUP(cleanup_free) unsigned char *plain = NULL;
	struct hdf5_chunks chunks;
	bool any = false;
	int err = hdf5_dataset_chunks(pass->walk, pass->dataset, &chunks);

	if (!err)
		err = hdf5_dataset_has_chunks(pass->walk, pass->dataset, &any);
	if (err)
		return err;
	if (!any)
		return visit_unwritten(pass, pass->dataset->count);
	plain = malloc((size_t)chunks.plain);
	if (!plain)
		return hdf5_out_of_memory(pass->walk);
	for (uint64_t i = 0; i < chunks.count && !err && !pass->done; i++)
		err = visit_chunk(pass, &chunks, i, plain);
	return err;
}

static int visit_table(struct pass *pass)
{
	haddr_t at = HADDR_UNDEF;
	H5D_layout_t layout;
	int err;

	pass->row = 0;
	pass->done = false;
	if (pass->dataset->count == 0)
		return 0;
	at = hdf5_dataset_offset(pass->walk, pass->dataset);
	if (at != HADDR_UNDEF)
		return visit_contiguous(pass, at);
	err = hdf5_dataset_layout(pass->walk, pass->dataset, &layout);
	if (err)
		return err;
	if (layout == H5D_COMPACT)
		return hdf5_refuse(pass->walk, "keeps rows of variable length in its "
					       "header (compact), which is not "
					       "supported; repack it: h5repack -l CONTI "
					       "'%s' out.h5",
				   pass->walk->scan->label);
	return layout == H5D_CHUNKED ? visit_chunked(pass) :
				       visit_unwritten(pass, pass->dataset->count);
}

/* Groups of samples */

/* "images and targets: /train, /val" */
static void note_array(struct hdf5_walk *walk, const char *split, const char *name,
		       const char *labels)
{
	size_t n = strlen(walk->arrays_text), room = sizeof(walk->arrays_text) - n;

	if (walk->arrays++ == 0)
		snprintf(walk->arrays_text, room, "%.30s%s%s: /%.40s", name,
			 labels ? " and " : "", labels ? labels : "", split);
	else if (strlen(split) + 8 < room)
		snprintf(walk->arrays_text + n, room, ", /%s", split);
	else if (room > 5 && strcmp(walk->arrays_text + n - 3, "...") != 0)
		snprintf(walk->arrays_text + n, room, ", ...");
}

/* The parent group of the dataset at hand, without its first slash. */
static char *copy_split(const struct hdf5_walk *walk)
{
	const char *path = walk->path.items, *end = strrchr(path, '/');

	return end > path ? strndup(path + 1, (size_t)(end - path - 1)) : strdup("");
}

static int add_group(struct pass *pass, const char *name)
{
	struct hdf5_walk *walk = pass->walk;
	CLEANUP(cleanup_free) char *split = copy_split(walk);
	struct sample_group group = {
		.split = split,
		.name = name,
		.labels = pass->labels.number < 0 ? NULL :
			  hdf5_label_names[pass->labels.number],
		.extension = common_extension(pass),
		.rows = pass->dataset->count,
	};

	if (!split || samples_begin(walk->scan->samples, &group) < 0)
		return hdf5_out_of_memory(walk);
	note_array(walk, split, name, group.labels);
	return 0;
}

static int take_table(struct pass *pass, hid_t group, const char *name)
{
	int err = find_labels(pass, group);

	if (err)
		return err;
	pass->visit = sniff_row;
	err = visit_table(pass);
	if (!err)
		err = add_group(pass, name);
	pass->visit = take_row;
	return err ? err : visit_table(pass);
}

/*
 * Each row that is not empty has an object of its own, and those take room. What
 * remains are rows that are empty or were never written, which cost nothing where
 * they are packed or left out.
 */
static int charge_rows(struct hdf5_walk *walk, uint64_t rows)
{
	if (rows > walk->row_budget)
		return hdf5_refuse(walk, "has %llu rows, more than the file has room for: "
					 "they were never written, or are empty; make it "
					 "smaller",
				   (unsigned long long)rows);
	walk->row_budget -= rows;
	return 0;
}

int hdf5_take_rows(struct hdf5_walk *walk, struct hdf5_dataset *dataset, hid_t group,
		   const char *name, int *labels)
{
	struct pass pass = { .walk = walk, .dataset = dataset,
			     .labels = { .id = H5I_INVALID_HID,
					 .number = -1 } };
	int err;

	if (walk->file.address_bytes != 8 || walk->file.length_bytes != 8)
		return hdf5_refuse(walk, "has rows of variable length in a file with "
					 "addresses of %zu and lengths of %zu bytes; only "
					 "8 are supported; repack it: h5repack '%s' "
					 "out.h5",
				   walk->file.address_bytes, walk->file.length_bytes,
				   walk->scan->label);
	err = charge_rows(walk, dataset->count);
	if (!err)
		err = hdf5_charge_paths(walk, dataset->count, walk->path.count);
	if (err)
		return err;
	dataset->item = HDF5_DESCRIPTOR_BYTES;
	err = take_table(&pass, group, name);
	*labels = pass.labels.number;
	close_labels(&pass.labels);
	return err;
}
