/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index/array_tiles.h"

#include <errno.h>

#include "base/checked.h"

/* Multiplies; false if the product exceeds `limit`. */
static bool multiply(uint64_t *product, uint64_t factor, uint64_t limit)
{
	return checked_mul(*product, factor, product) && *product <= limit;
}

static bool is_permutation(const struct volume_array *array)
{
	uint32_t seen = 0;

	for (uint32_t k = 0; k < array->rank; k++) {
		if (array->order[k] >= array->rank || seen >> array->order[k] & 1)
			return false;
		seen |= UINT32_C(1) << array->order[k];
	}
	return true;
}

static void find_strides(const struct volume_array *array, struct array_measure *out)
{
	uint64_t stride = 1, inside = 1;

	for (uint32_t k = array->rank; k-- > 0;) {
		out->stride[array->order[k]] = stride;
		stride *= array->dims[array->order[k]];
		out->inside[k] = inside;
		inside *= array->tile[k];
	}
}

int array_measure(const struct volume_array *array, struct array_measure *out)
{
	if (array->rank == 0 || array->rank > VOLUME_RANK || array->item == 0 ||
	    array->item > VOLUME_ITEM_LIMIT || !is_permutation(array))
		return -EBADMSG;
	*out = (struct array_measure){ .bytes = array->item, .tile_bytes = array->item,
				       .tiles = 1 };
	for (uint32_t k = 0; k < array->rank; k++) {
		if (array->dims[k] == 0 || array->tile[k] == 0 ||
		    !multiply(&out->bytes, array->dims[k], VOLUME_OFFSET_LIMIT) ||
		    !multiply(&out->tile_bytes, array->tile[k], VOLUME_CHUNK_LIMIT))
			return -EBADMSG;
		out->grid[k] = (array->dims[k] - 1) / array->tile[k] + 1;
		out->tiles *= out->grid[k]; /* at most the number of elements */
	}
	find_strides(array, out);
	return 0;
}

/* Finds the run: along the last axis, and on to further rows while these are whole. */
static void find_run(const struct volume_array *array, const struct array_measure *measure,
		     const uint64_t *at, struct array_spot *out)
{
	out->run = 1;
	out->straight = true;
	for (uint32_t k = array->rank; k-- > 0;) {
		uint32_t axis = array->order[k];
		uint64_t room = array->tile[axis] - at[axis] % array->tile[axis];
		uint64_t rest = array->dims[axis] - at[axis];
		uint64_t count = room < rest ? room : rest;

		if (count > 1 && measure->inside[axis] != out->run)
			out->straight = false;
		out->run *= count;
		if (count < array->dims[axis])
			return;
	}
}

void array_find(const struct volume_array *array, const struct array_measure *measure,
		uint64_t element, struct array_spot *out)
{
	uint64_t at[VOLUME_RANK];

	out->tile = 0;
	out->inside = 0;
	for (uint32_t k = 0; k < array->rank; k++) {
		at[k] = element / measure->stride[k] % array->dims[k];
		out->tile = out->tile * measure->grid[k] + at[k] / array->tile[k];
		out->inside += at[k] % array->tile[k] * measure->inside[k];
	}
	find_run(array, measure, at, out);
}
