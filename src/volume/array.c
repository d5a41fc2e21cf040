/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * array.c: elements of an array in tiles, in the order of its rows.
 *
 * A read is cut into boxes, each with a first and a last element along each axis, and a
 * box into its parts by tile. Each tile is then fetched once.
 */
#include "volume/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "codec/codec.h"
#include "index/array_tiles.h"
#include "volume/chunk.h"
#include "volume/gather.h"
#include "volume/stage.h"

enum {
	SPAN_TILES = 256,    /* most tiles that array_span visits */
	SCRATCH_LEAST = 4096, /* a smaller gap is read along */
};

/* The part of a box within one tile; by stored axis. */
struct array_part {
	uint64_t tile;                /* its number in the array */
	uint64_t element;             /* its first element, in the order of the volume */
	uint64_t inside;              /* and in the tile */
	uint64_t count[VOLUME_RANK];
};

struct array_walk {
	const struct volume *volume;
	struct read_context *context; /* reading */
	struct volume_array is;
	struct array_measure measure;
	int (*each)(struct array_walk *walk,
		    const struct array_part *part); /* not 0: stops the walk */

	char *buffer;    /* reading: where the element `first` goes */
	uint64_t first;
	struct volume_span span;
	unsigned tiles;  /* looked at */
};

static int array_begin_walk(struct array_walk *walk, const struct volume *volume)
{
	*walk = (struct array_walk){ .volume = volume };
	return index_array(volume->index, &volume->desc, &walk->is, &walk->measure);
}

/* ---- Boxes and tiles ---------------------------------------------------- */

/* By stored axis. */
struct box {
	uint64_t low[VOLUME_RANK], count[VOLUME_RANK];
};

/* The part of a box in the tile at these coordinates of the grid. */
static void cut_part(const struct array_walk *walk, const struct box *box,
		     const uint64_t *grid, struct array_part *out)
{
	const struct array_measure *m = &walk->measure;

	*out = (struct array_part){ 0 };
	for (uint32_t k = 0; k < walk->is.rank; k++) {
		uint64_t tile = walk->is.tile[k];
		uint64_t begin = grid[k] * tile, end = begin + tile;

		if (end > box->low[k] + box->count[k])
			end = box->low[k] + box->count[k];
		out->tile = out->tile * m->grid[k] + grid[k];
		out->inside += (box->low[k] > begin ? box->low[k] - begin : 0) * m->inside[k];
		if (begin < box->low[k])
			begin = box->low[k];
		out->element += begin * m->stride[k];
		out->count[k] = end - begin;
	}
}

static int walk_box(struct array_walk *walk, const struct box *box)
{
	uint64_t grid[VOLUME_RANK], first[VOLUME_RANK], last[VOLUME_RANK];
	uint32_t k, rank = walk->is.rank;
	struct array_part part;
	int result;

	for (k = 0; k < rank; k++) {
		grid[k] = first[k] = box->low[k] / walk->is.tile[k];
		last[k] = (box->low[k] + box->count[k] - 1) / walk->is.tile[k];
	}
	do { /* as a counter whose digits are the axes */
		cut_part(walk, box, grid, &part);
		result = walk->each(walk, &part);
		for (k = rank; k-- > 0;) {
			if (++grid[k] <= last[k])
				break;
			grid[k] = first[k];
		}
	} while (!result && k != UINT32_MAX);
	return result;
}

/*
 * The largest box of elements that begins with `element` and ends before `end`: a range
 * of one axis, with all of the faster axes. Returns the number of elements.
 */
static uint64_t find_box(const struct array_walk *walk, uint64_t element, uint64_t end,
			 struct box *out)
{
	uint32_t k = walk->is.rank, axis;
	uint64_t rows;

	for (uint32_t i = 0; i < walk->is.rank; i++) {
		out->low[i] = element / walk->measure.stride[i] % walk->is.dims[i];
		out->count[i] = 1;
	}
	do {
		axis = walk->is.order[--k];
		out->count[axis] = walk->is.dims[axis];
	} while (k > 0 && out->low[axis] == 0 &&
		 end - element >= walk->measure.stride[walk->is.order[k - 1]]);
	rows = (end - element) / walk->measure.stride[axis];
	if (rows > walk->is.dims[axis] - out->low[axis])
		rows = walk->is.dims[axis] - out->low[axis];
	out->count[axis] = rows;
	return rows * walk->measure.stride[axis];
}

static int walk_elements(struct array_walk *walk, uint64_t first, uint64_t end)
{
	int result = 0;

	while (first < end && !result) {
		struct box box;

		first += find_box(walk, first, end, &box);
		result = walk_box(walk, &box);
	}
	return result;
}

/* ---- Reading ------------------------------------------------------------ */

/* Are the tile's bytes stored as they are? */
static bool array_is_plain(const struct volume *volume, const struct volume_chunk *chunk)
{
	uint32_t skipped = codec_chain_skipped(volume->desc.codecs, chunk->skipped);

	for (int i = 0; i < VOLUME_CODECS && volume->desc.codecs[i]; i++) {
		if (!(skipped >> i & 1))
			return false;
	}
	return true;
}

/* How to copy a part from its first element in the tile. */
static struct gather part_copy(const struct array_walk *walk,
			       const struct array_part *part)
{
	struct gather out = { .rank = walk->is.rank, .item = walk->is.item };

	for (unsigned k = 0; k < out.rank; k++) {
		uint32_t axis = walk->is.order[k];

		out.axes[k] = (struct gather_axis){
			part->count[axis], walk->measure.inside[axis] * out.item,
			walk->measure.stride[axis] * out.item };
	}
	gather_simplify(&out);
	return out;
}

/* Bytes in the tile from the first of a part to its last; and the part's own bytes. */
static uint64_t part_length(const struct array_walk *walk, const struct array_part *part,
			    uint64_t *all)
{
	uint64_t last = 0;

	*all = walk->is.item;
	for (uint32_t k = 0; k < walk->is.rank; k++) {
		last += (part->count[k] - 1) * walk->measure.inside[k];
		*all *= part->count[k];
	}
	return (last + 1) * walk->is.item;
}

/* A tile that is not stored: the fill element, repeated. */
static int fill_part(const struct array_walk *walk, struct gather *copy, void *to)
{
	CLEANUP(cleanup_free) void *element = calloc(1, walk->is.item);
	struct gather_axis *row = &copy->axes[copy->rank];

	if (!element)
		return -ENOMEM;
	if (walk->is.filled && index_read_literals(walk->volume->index, element,
						   walk->is.item, walk->is.fill) < 0)
		return -EIO;
	if (copy->item > walk->is.item) { /* joined axes are one axis */
		*row = (struct gather_axis){ copy->item / walk->is.item, 0, walk->is.item };
		copy->rank++;
		copy->item = walk->is.item;
	}
	for (unsigned k = 0; k < copy->rank; k++)
		copy->axes[k].from = 0;
	gather_copy(copy, element, to);
	return 0;
}

static int read_decoded(const struct array_walk *walk, struct chunk *chunk,
			uint64_t number, uint64_t begin, uint64_t length,
			const struct gather *copy, void *to)
{
	uint64_t room = walk->measure.tile_bytes;
	bool whole = length == room && copy->rank == 0;
	int err = chunk_get(chunk, number, room, whole ? to : NULL);

	if (!err && !range_within(begin, length, chunk->size))
		err = -EBADMSG; /* it holds less than the index says */
	else if (!err && chunk->bytes != to)
		gather_copy(copy, (const char *)chunk->bytes + begin, to);
	chunk_put(chunk, gather_bytes(copy));
	return err;
}

/* Reads the stretch of the source that holds a part. */
static int read_stretch(const struct array_walk *walk, uint64_t at, uint64_t length,
			const struct gather *copy, void *to)
{
	CLEANUP(cleanup_free) void *scratch = NULL;
	int err;

	if (copy->rank == 0)
		return stage_pread(walk->volume, to, length, at, walk->context);
	scratch = malloc(length);
	if (!scratch)
		return -ENOMEM;
	err = stage_pread(walk->volume, scratch, length, at, walk->context);
	if (!err)
		gather_copy(copy, scratch, to);
	return err;
}

static int array_read_part(struct array_walk *walk, const struct array_part *part)
{
	char *to = walk->buffer + (part->element - walk->first) * walk->is.item;
	struct gather copy = part_copy(walk, part);
	struct chunk chunk = { .volume = walk->volume, .context = walk->context };
	uint64_t number, all, length = part_length(walk, part, &all);
	uint64_t begin = part->inside * walk->is.item;

	if (index_tile(walk->volume->index, &walk->volume->desc, part->tile, &number,
		       &chunk.is) < 0)
		return -EIO;
	if (chunk.is.stored_length == 0)
		return fill_part(walk, &copy, to);
	if (!array_is_plain(walk->volume, &chunk.is) || length / 2 > all + SCRATCH_LEAST)
		return read_decoded(walk, &chunk, number, begin, length, &copy, to);
	if (!range_within(begin, length, chunk.is.stored_length) ||
	    chunk.is.stored_at > UINT64_MAX - begin)
		return -EBADMSG;
	return read_stretch(walk, chunk.is.stored_at + begin, length, &copy, to);
}

static int array_read_elements(struct array_walk *walk, void *buffer, uint64_t first,
			       uint64_t end)
{
	walk->each = array_read_part;
	walk->buffer = buffer;
	walk->first = first;
	return walk_elements(walk, first, end);
}

/* Some bytes of one element. */
static int read_within(struct array_walk *walk, void *buffer, size_t length,
		       uint64_t element, uint64_t skip)
{
	CLEANUP(cleanup_free) char *whole = malloc(walk->is.item);
	int err;

	if (!whole)
		return -ENOMEM;
	err = array_read_elements(walk, whole, element, element + 1);
	if (!err)
		memcpy(buffer, whole + skip, length);
	return err;
}

static int array_pread(const struct volume *volume, void *buffer, size_t length,
		       uint64_t offset, struct read_context *context)
{
	char *to = buffer;
	struct array_walk walk;
	int err = array_begin_walk(&walk, volume);

	walk.context = context;
	while (!err && length) {
		uint64_t item = walk.is.item, first = offset / item, skip = offset % item;
		size_t n = length - length % item;

		if (skip || n == 0) {
			n = length < item - skip ? length : item - skip;
			err = read_within(&walk, to, n, first, skip);
		} else {
			err = array_read_elements(&walk, to, first, first + n / item);
		}
		to += n;
		offset += n;
		length -= n;
	}
	return err;
}

const struct volume_ops volume_array_ops = { .pread = array_pread };

/* ---- The bytes that will be read -------------------------------------------------- */

static int extend_span(struct array_walk *walk, const struct array_part *part)
{
	uint64_t number, all, begin, end;
	struct volume_chunk chunk;

	if (index_tile(walk->volume->index, &walk->volume->desc, part->tile, &number,
		       &chunk) == 0 &&
	    chunk.stored_length && chunk.stored_at <= volume_stored_size(walk->volume)) {
		begin = chunk.stored_at;
		end = begin + chunk.stored_length;
		if (array_is_plain(walk->volume, &chunk)) {
			begin += part->inside * walk->is.item;
			end = begin + part_length(walk, part, &all);
		}
		if (begin < walk->span.start)
			walk->span.start = begin;
		if (end > walk->span.end)
			walk->span.end = end;
	}
	return ++walk->tiles == SPAN_TILES;
}

bool array_span(const struct volume *volume, uint64_t offset, uint64_t length,
		struct volume_span *out)
{
	struct array_walk walk;
	uint64_t end;

	if (array_begin_walk(&walk, volume) < 0)
		return false;
	walk.each = extend_span;
	walk.span = (struct volume_span){ volume->desc.source, UINT64_MAX, 0 };
	end = (offset + length - 1) / walk.is.item + 1;
	if (walk_elements(&walk, offset / walk.is.item, end))
		walk_elements(&walk, end - 1, end);
	*out = walk.span;
	return out->start < out->end;
}

bool array_find_chunk(const struct volume *volume, uint64_t offset, uint64_t *number,
		      struct volume_chunk *out)
{
	struct array_measure measure;
	struct volume_array array;
	struct array_spot spot;

	if (offset >= volume->desc.length ||
	    index_array(volume->index, &volume->desc, &array, &measure) < 0)
		return false;
	array_find(&array, &measure, offset / array.item, &spot);
	return index_tile(volume->index, &volume->desc, spot.tile, number, out) == 0 &&
	       out->stored_length > 0;
}
