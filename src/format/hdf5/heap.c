/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/hash.h"

struct hdf5_row hdf5_row_parse(const unsigned char d[HDF5_DESCRIPTOR_BYTES])
{
	return (struct hdf5_row){ .length = (uint32_t)little_endian(d, 4),
				  .address = little_endian(d + 4, 8),
				  .index = (uint32_t)little_endian(d + 12, 4) };
}

void hdf5_heap_open(struct hdf5_heap *heap, struct hdf5_blocks *blocks, uint64_t base)
{
	memset(heap, 0, sizeof(*heap));
	heap->blocks = blocks;
	heap->base = base;
	/* collections do not overlap, so no object is walked over twice */
	heap->budget = blocks->length / HDF5_HEAP_HEADER;
}

void hdf5_heap_close(struct hdf5_heap *heap)
{
	vec_free(&heap->collections);
	idmap_free(&heap->by_address);
	vec_free(&heap->objects);
}

static int wrong(struct hdf5_heap *heap, const char *problem)
{
	heap->problem = problem;
	return -EBADMSG;
}

static int read_header(struct hdf5_heap *heap, uint64_t at,
		       unsigned char header[HDF5_HEAP_HEADER])
{
	int err = hdf5_blocks_read(heap->blocks, header, HDF5_HEAP_HEADER, at);

	return err == -EBADMSG ? wrong(heap, "lies outside the file") : err;
}

static int by_index(const void *a, const void *b)
{
	const struct hdf5_object *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* Nearly always they are in order: an index is used again only after 65535. */
static int order_objects(struct hdf5_heap *heap, const struct hdf5_collection *c)
{
	struct hdf5_object *objects;
	bool ordered = true;
	size_t i;

	if (c->count == 0) /* there may be no array of them */
		return 0;
	objects = heap->objects.items + c->first;
	for (i = 1; i < c->count && ordered; i++)
		ordered = objects[i - 1].index < objects[i].index;
	if (ordered)
		return 0;
	qsort(objects, c->count, sizeof(*objects), by_index);
	for (i = 1; i < c->count; i++)
		if (objects[i - 1].index == objects[i].index)
			return wrong(heap, "is in a heap collection that holds an "
					   "index twice");
	return 0;
}

/* The objects between `at` and `end`. Behind the last may be free space, index 0. */
static int walk_objects(struct hdf5_heap *heap, uint64_t at, uint64_t end)
{
	unsigned char header[HDF5_HEAP_HEADER];

	while (end - at >= HDF5_HEAP_HEADER) {
		struct hdf5_object object;
		uint64_t padding;
		int err = read_header(heap, at, header);

		if (err)
			return err;
		object.index = (uint32_t)little_endian(header, 2);
		object.size = little_endian(header + 8, 8);
		object.at = at + HDF5_HEAP_HEADER;
		if (object.index == 0)
			break;
		if (heap->budget-- == 0)
			return wrong(heap, "is in heap collections that overlap");
		if (!range_within(object.at, object.size, end))
			return wrong(heap, "is in a heap collection whose objects "
					   "reach past its end");
		if (vec_push(&heap->objects, object) < 0)
			return -ENOMEM;
		at = object.at + object.size;
		padding = (8 - object.size % 8) % 8;
		if (padding > end - at)
			break;
		at += padding;
	}
	return 0;
}

static int walk_collection(struct hdf5_heap *heap, uint64_t start)
{
	unsigned char header[HDF5_HEAP_HEADER];
	uint64_t size;
	int err = read_header(heap, start, header);

	if (err)
		return err;
	if (memcmp(header, "GCOL\1", 5) != 0)
		return wrong(heap, "points to what is no heap collection");
	size = little_endian(header + 8, 8);
	if (size < HDF5_HEAP_HEADER ||
	    !range_within(start, size, heap->blocks->length))
		return wrong(heap, "is in a heap collection of an impossible size");
	return walk_objects(heap, start + HDF5_HEAP_HEADER, start + size);
}

static bool heap_is_address(const void *context, uint32_t id, const void *key)
{
	const struct hdf5_heap *heap = context;

	return heap->collections.items[id].address == *(const uint64_t *)key;
}

static int add_collection(struct hdf5_heap *heap, uint64_t address, uint64_t start)
{
	struct hdf5_collection c = { .address = address, .first = heap->objects.count };
	int err = walk_collection(heap, start);

	if (err)
		return err;
	c.count = heap->objects.count - c.first;
	err = order_objects(heap, &c);
	if (err)
		return err;
	if (heap->collections.count == UINT32_MAX ||
	    vec_push(&heap->collections, c) < 0 ||
	    idmap_insert(&heap->by_address, (uint32_t)hash_number(address, 0),
			 (uint32_t)(heap->collections.count - 1)) < 0)
		return -ENOMEM;
	return 0;
}

static const struct idmap_slot *known_collection(const struct hdf5_heap *heap,
						uint64_t address)
{
	return idmap_find(&heap->by_address, (uint32_t)hash_number(address, 0),
			  heap_is_address, heap, &address);
}

/* The collection at `address`, which the window has at `start`. */
static int find_collection(struct hdf5_heap *heap, uint64_t address, uint64_t start,
			   const struct hdf5_collection **out)
{
	const struct idmap_slot *slot = known_collection(heap, address);
	int err = slot ? 0 : add_collection(heap, address, start);

	if (err)
		return err;
	*out = heap->collections.items +
	       (slot ? slot->id_plus_1 : heap->collections.count) - 1;
	return 0;
}

static int find_object(struct hdf5_heap *heap, const struct hdf5_row *row,
		       uint64_t start, uint64_t *at)
{
	const struct hdf5_collection *c = NULL;
	const struct hdf5_object key = { .index = row->index }, *found;
	int err = find_collection(heap, row->address, start, &c);

	if (err)
		return err;
	found = c->count == 0 ? NULL :
		bsearch(&key, heap->objects.items + c->first, c->count,
			sizeof(key), by_index);
	if (!found)
		return wrong(heap, "names an object that its heap collection does not "
				   "hold");
	if (found->size != row->length)
		return wrong(heap, "has another length than its object in the heap");
	*at = found->at;
	return 0;
}

int hdf5_heap_find(struct hdf5_heap *heap, const struct hdf5_row *row,
		   struct hdf5_found *out)
{
	uint64_t start, first;

	*out = (struct hdf5_found){ 0 };
	if (row->index == 0)
		return wrong(heap, "has a length, but no object in the heap");
	if (!checked_add(heap->base, row->address, &start) ||
	    !checked_add(start, 2 * HDF5_HEAP_HEADER, &first) ||
	    !range_within(first, 0, heap->blocks->length))
		return wrong(heap, "lies outside the file");
	if (row->index > 1 || known_collection(heap, row->address))
		return find_object(heap, row, start, &out->at);
	if (!range_within(first, row->length, heap->blocks->length))
		return wrong(heap, "reaches past the end of the file");
	*out = (struct hdf5_found){ first, true };
	return 0;
}

static int heap_verify(struct hdf5_heap *heap, const struct hdf5_row *row, uint64_t at)
{
	unsigned char header[HDF5_HEAP_HEADER];
	int err = read_header(heap, at - HDF5_HEAP_HEADER, header);

	if (err)
		return err;
	if (little_endian(header, 2) != row->index ||
	    little_endian(header + 8, 8) != row->length)
		return wrong(heap, "is not what its object in the heap says");
	return 0;
}

int hdf5_heap_find_checked(struct hdf5_heap *heap, const struct hdf5_row *row,
			   struct hdf5_found *out)
{
	int err = hdf5_heap_find(heap, row, out);
	const char *problem;

	if (!err)
		err = heap_verify(heap, row, out->at);
	if (err != -EBADMSG || !out->guessed)
		return err;
	problem = heap->problem;
	err = find_object(heap, row, heap->base + row->address, &out->at);
	if (err == -EBADMSG)
		return wrong(heap, problem);
	out->guessed = false;
	return err;
}
