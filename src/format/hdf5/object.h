/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * object.h: a dataset of an HDF5 file, and where its bytes are.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_OBJECT_H
#define GRANARY_FORMAT_HDF5_OBJECT_H

#include "format/hdf5/scan_state.h"

enum hdf5_use {
	HDF5_USE_NONE, /* nothing that a tree can show */
	HDF5_USE_FILE, /* the contents of a file */
	HDF5_USE_ROWS, /* each row is a sample: encoded, of variable length */
	HDF5_USE_ARRAY, /* numbers in two dimensions or more: rows may be samples */
};

struct hdf5_dataset {
	hid_t id, type;
	hid_t plist;     /* creation properties, once they are needed; else < 0 */
	H5T_class_t kind;
	uint64_t item;   /* bytes of an element */
	H5S_class_t space;
	int rank;
	hsize_t dims[H5S_MAX_RANK];
	bool grows;      /* its first dimension has no limit */
	uint64_t count;  /* elements, of files and rows */
	enum hdf5_use use;
	haddr_t address; /* of its header, where the caller knows it */
};

/* How a dataset is cut into chunks: tiles, row after row of their grid. */
struct hdf5_chunks {
	hsize_t tile[H5S_MAX_RANK];  /* elements along each axis */
	uint64_t grid[H5S_MAX_RANK]; /* tiles along each axis */
	uint64_t items;  /* elements of a chunk */
	uint64_t plain;  /* bytes of a chunk */
	uint64_t count;  /* chunks that there may be */
	unsigned filters;
	bool edge_is_plain; /* one that reaches past the end is not filtered */
	uint32_t codecs[VOLUME_CODECS];
};

struct hdf5_chunk {
	uint64_t at, size; /* bytes from the start of the source; size 0: not stored */
	uint32_t skipped;
	bool coded;
};

/* Takes `id` in any case; hdf5_dataset_close in any case. */
int hdf5_dataset_open(struct hdf5_walk *walk, hid_t id, struct hdf5_dataset *out);
void hdf5_dataset_close(struct hdf5_dataset *dataset);

/* "32-bit float, 60000 x 784" */
void hdf5_dataset_describe(const struct hdf5_dataset *dataset, char *text, size_t room);

/* The bytes of a dataset, as walk->extents; *size of them, holes included. */
int hdf5_dataset_extents(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
			 uint64_t *size);

/* Its layout; refuses what no volume can express. */
int hdf5_dataset_layout(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
			H5D_layout_t *out);

/*
 * Where contiguous data are, as the window counts; HADDR_UNDEF: there are none. If they
 * have fewer bytes than the dataset it is damaged, and that is nowhere in the file.
 */
haddr_t hdf5_dataset_offset(const struct hdf5_walk *walk,
			    const struct hdf5_dataset *dataset);

/*
 * All of a dataset that is in its header (compact): `size` bytes, in *out, which the caller
 * frees. Refuses one that has fewer there.
 */
int hdf5_dataset_compact(struct hdf5_walk *walk, const struct hdf5_dataset *dataset,
			 uint64_t size, void **out);

/* Is there a value that stands for what was never written, other than zeros? */
int hdf5_dataset_has_fill(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
			  bool *out);

/* Refuses filters that are not ours, and more chunks than can be looked for. */
int hdf5_dataset_chunks(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
			struct hdf5_chunks *out);

/* Is any chunk of it stored? */
int hdf5_dataset_has_chunks(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
			    bool *out);

/* Where chunk number `i` is. */
int hdf5_dataset_chunk(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
		       const struct hdf5_chunks *chunks, uint64_t i,
		       struct hdf5_chunk *out);

/* Bytes that the file holds, for this dataset alone. */
int hdf5_charge_stored(struct hdf5_walk *walk, uint64_t bytes);

#endif
