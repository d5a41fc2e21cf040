/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maps_columns.h: which columns of a table, or items of JSON objects, are the name of a file
 * and its label, by their titles.
 *
 * Threads: none.
 */
#ifndef GRANARY_MAPS_MAPS_COLUMNS_H
#define GRANARY_MAPS_MAPS_COLUMNS_H

#include "maps/maps_pairs.h"

struct map_columns {
	size_t key, value;
	bool hot;        /* each column but the key is a class, and has 0 or 1 */
	bool first_word; /* the label is the first word of `value` */
};

/*
 * Looks at n titles; `second`, if it is not NULL, has the n values of the first row behind
 * them. 1: they say it; 0: they are no titles, or do not say it; -EBADMSG and a sentence that
 * lists them where there are more than two. Their other findings are added to input->notes.
 */
int map_columns_choose(const struct map_input *input, const struct map_value *titles,
		       const struct map_value *second, size_t n, struct map_columns *out,
		       struct error *e);

/* The label of a row of 0 and 1, one a class: MAP_NOTHING of zeros, MAP_OTHER of others. */
struct map_value map_columns_hot(const struct map_columns *columns,
				 const struct map_value *titles,
				 const struct map_value *row, size_t n);

#endif
