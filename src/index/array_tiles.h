/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * array_tiles.h: what follows from the numbers of an array (struct volume_array), and where
 * its elements lie in the tiles. The numbers come from a packed file or an index, and
 * are trusted by nobody: all else here relies on array_measure having taken them.
 *
 * Elements have numbers in the order of the volume: row after row of the axes as it has
 * them.
 */
#ifndef GRANARY_INDEX_ARRAY_TILES_H
#define GRANARY_INDEX_ARRAY_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "index/volume_desc.h"

/* By stored axis, where it is not one number. */
struct array_measure {
	uint64_t bytes;               /* of all elements */
	uint64_t tile_bytes;
	uint64_t tiles;
	uint64_t grid[VOLUME_RANK];   /* tiles along the axis */
	uint64_t stride[VOLUME_RANK]; /* to the next along it, in elements of the volume */
	uint64_t inside[VOLUME_RANK]; /* the same in elements of a tile */
};

/*
 * 0, or -EBADMSG: no axis or too many, one of no length, an order that is none, a tile
 * beyond VOLUME_CHUNK_LIMIT, more than VOLUME_OFFSET_LIMIT in all.
 */
int array_measure(const struct volume_array *array, struct array_measure *out);

/* Where an element is: the number of its tile, and its place in that, in elements. */
struct array_spot {
	uint64_t tile;
	uint64_t inside;
	uint64_t run;  /* elements from it on that are of the same tile */
	bool straight; /* and they lie one behind the other there */
};

/* The number of an element is less than that of all elements. */
void array_find(const struct volume_array *array, const struct array_measure *measure,
		uint64_t element, struct array_spot *out);

#endif
