/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * array_tiles.h: sizes that follow from the numbers of an array (struct volume_array),
 * and the tile of an element. The numbers are untrusted: the other functions need an
 * array that array_measure has accepted.
 *
 * Elements are numbered in the order of the volume: row after row, in its order of axes.
 */
#ifndef GRANARY_INDEX_ARRAY_TILES_H
#define GRANARY_INDEX_ARRAY_TILES_H

#include <stdbool.h>
#include <stdint.h>

#include "index/volume_desc.h"

/* Arrays are indexed by stored axis. */
struct array_measure {
	uint64_t bytes;               /* of all elements */
	uint64_t tile_bytes;
	uint64_t tiles;
	uint64_t grid[VOLUME_RANK];   /* tiles along the axis */
	uint64_t stride[VOLUME_RANK]; /* distance along it, in elements of the volume */
	uint64_t inside[VOLUME_RANK]; /* the same, in elements of a tile */
};

/*
 * 0, or -EBADMSG: no axis or too many, an axis of length 0, an invalid order, a tile
 * beyond VOLUME_CHUNK_LIMIT, or more than VOLUME_OFFSET_LIMIT in all.
 */
int array_measure(const struct volume_array *array, struct array_measure *out);

/* The location of an element: its tile, and its position there in elements. */
struct array_spot {
	uint64_t tile;
	uint64_t inside;
	uint64_t run;  /* following elements in the same tile, with it */
	bool straight; /* they are contiguous there */
};

/* `element` is less than the number of all elements. */
void array_find(const struct volume_array *array, const struct array_measure *measure,
		uint64_t element, struct array_spot *out);

#endif
