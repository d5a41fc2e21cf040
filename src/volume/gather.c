/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "volume/gather.h"

#include <string.h>

/* Do outer and inner axis form one axis? */
static bool goes_on(const struct gather_axis *outer, const struct gather_axis *inner)
{
	return outer->from == inner->from * inner->count &&
	       outer->to == inner->to * inner->count;
}

void gather_simplify(struct gather *gather)
{
	unsigned rank = 0;

	for (unsigned i = 0; i < gather->rank; i++) {
		struct gather_axis *last = rank ? &gather->axes[rank - 1] : NULL;
		struct gather_axis axis = gather->axes[i];

		if (axis.count == 1)
			continue;
		if (last && goes_on(last, &axis)) {
			axis.count *= last->count;
			*last = axis;
		} else {
			gather->axes[rank++] = axis;
		}
	}
	while (rank && gather->axes[rank - 1].from == gather->item &&
	       gather->axes[rank - 1].to == gather->item)
		gather->item *= gather->axes[--rank].count;
	gather->rank = rank;
}

uint64_t gather_bytes(const struct gather *gather)
{
	uint64_t bytes = gather->item;

	for (unsigned i = 0; i < gather->rank; i++)
		bytes *= gather->axes[i].count;
	return bytes;
}

#define LINE(size)                                           \
	for (uint64_t i = 0; i < axis->count; i++) {         \
		memcpy(to, from, size);                      \
		from += axis->from;                          \
		to += axis->to;                              \
	}                                                    \
	break

/* The compiler knows these sizes, those of numbers: one load and one store each. */
static void copy_line(const struct gather_axis *axis, size_t item, const char *from,
		      char *to)
{
	switch (item) {
	case 1:
		LINE(1);
	case 2:
		LINE(2);
	case 4:
		LINE(4);
	case 8:
		LINE(8);
	default:
		LINE(item);
	}
}

/* Three planes of bytes to pixels: a common layout of stored images. */
static void copy_pixels(uint64_t count, uint64_t plane, const char *restrict from,
			char *restrict to)
{
	const char *restrict second = from + plane, *restrict third = second + plane;

	for (uint64_t i = 0; i < count; i++) {
		to[3 * i] = from[i];
		to[3 * i + 1] = second[i];
		to[3 * i + 2] = third[i];
	}
}

static bool are_pixels(const struct gather_axis *outer, const struct gather_axis *inner,
		       size_t item)
{
	return item == 1 && outer->count == 3 && outer->to == 1 && inner->from == 1 &&
	       inner->to == 3;
}

/* The innermost two axes, or fewer. */
static void copy_plane(const struct gather *gather, const char *from, char *to)
{
	const struct gather_axis *inner = &gather->axes[gather->rank - 1];
	const struct gather_axis *outer = inner - 1;

	if (gather->rank < 2) {
		copy_line(inner, gather->item, from, to);
		return;
	}
	if (are_pixels(outer, inner, gather->item)) {
		copy_pixels(inner->count, outer->from, from, to);
		return;
	}
	for (uint64_t i = 0; i < outer->count; i++) {
		copy_line(inner, gather->item, from, to);
		from += outer->from;
		to += outer->to;
	}
}

/* A copy whose innermost loop is the longest. */
static struct gather turned(const struct gather *gather)
{
	struct gather out = *gather;
	unsigned longest = 0;

	for (unsigned i = 1; i < out.rank; i++) {
		if (out.axes[i].count >= out.axes[longest].count)
			longest = i;
	}
	for (unsigned i = longest; i + 1 < out.rank; i++)
		out.axes[i] = out.axes[i + 1];
	out.axes[out.rank - 1] = gather->axes[longest];
	return out;
}

void gather_copy(const struct gather *gather, const void *from, void *to)
{
	uint64_t at[VOLUME_RANK] = { 0 };
	const char *source = from;
	char *target = to;
	struct gather g;
	unsigned k;

	if (gather->rank == 0) {
		memcpy(to, from, gather->item);
		return;
	}
	g = turned(gather);
	do { /* as a counter whose digits are the outer axes */
		copy_plane(&g, source, target);
		for (k = g.rank > 2 ? g.rank - 2 : 0; k-- > 0;) {
			source += g.axes[k].from;
			target += g.axes[k].to;
			if (++at[k] < g.axes[k].count)
				break;
			source -= g.axes[k].from * at[k];
			target -= g.axes[k].to * at[k];
			at[k] = 0;
		}
	} while (k != (unsigned)-1);
}
