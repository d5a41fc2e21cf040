/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap.h: rows of variable length, as they lie in the file.
 *
 * Such a dataset is a table of descriptors of 16 bytes: length, address of a
 * global heap collection, index of the object in it. A collection begins with a
 * header of 16 bytes; each object has one, too. The object with index 1 is the
 * first of its collection, so its place is known without a look at it; for the
 * others the collection is walked, header by header, once: its objects stay in
 * memory, since rows may be in any order.
 *
 * No HDF5 library here: bytes in, numbers out, each checked.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_HDF5_HEAP_H
#define GRANARY_FORMAT_HDF5_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "base/vec.h"
#include "format/hdf5/blocks.h"

enum {
	HDF5_DESCRIPTOR_BYTES = 16, /* with addresses of 8 bytes */
	HDF5_HEAP_HEADER = 16,      /* of a collection, and of an object in one */
};

struct hdf5_row {
	uint32_t length;  /* bytes */
	uint64_t address; /* of the collection, as the file counts */
	uint32_t index;   /* of the object in it */
};

struct hdf5_object {
	uint64_t at, size; /* the bytes behind its header; `at` as the window counts */
	uint32_t index;
};

/* One that was walked: a slice of the objects, by index. */
struct hdf5_collection {
	uint64_t address; /* as the file counts */
	size_t first, count;
};

struct hdf5_heap {
	struct hdf5_blocks *blocks;
	uint64_t base;       /* what the file's addresses count from */
	uint64_t budget;     /* objects that may still be walked over */
	const char *problem; /* after -EBADMSG: what is wrong */
	VEC(struct hdf5_collection) collections;
	struct idmap by_address; /* of collections */
	VEC(struct hdf5_object) objects;
};

struct hdf5_row hdf5_row_parse(const unsigned char descriptor[HDF5_DESCRIPTOR_BYTES]);

void hdf5_heap_open(struct hdf5_heap *heap, struct hdf5_blocks *blocks, uint64_t base);
void hdf5_heap_close(struct hdf5_heap *heap);

/* Where a row's bytes begin, as the window counts; they lie within the window. */
struct hdf5_found {
	uint64_t at;
	bool guessed; /* object 1, taken for the first of its collection without a look */
};

/*
 * Finds a row that is not empty. Object 1 is nearly always the first; where it is not,
 * that is known only once the collection was walked for another row.
 * 0, -EBADMSG (see `problem`), -ENOMEM, or what the source said.
 */
int hdf5_heap_find(struct hdf5_heap *heap, const struct hdf5_row *row,
		   struct hdf5_found *out);

/* The same, and looks: the header before the bytes is that of the row. */
int hdf5_heap_find_checked(struct hdf5_heap *heap, const struct hdf5_row *row,
			   struct hdf5_found *out);

#endif
