/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "labels/catalogue.h"

#include <errno.h>
#include <stdlib.h>

static int compare_places(const void *a, const void *b)
{
	const struct catalogue_item *const *x = a, *const *y = b;

	if ((*x)->place != (*y)->place)
		return (*x)->place < (*y)->place ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

int catalogue_find_same(struct catalogue *catalogue)
{
	struct catalogue_item *items = catalogue->items.items, **by_place;
	size_t n = catalogue->items.count;

	by_place = calloc(n ? n : 1, sizeof(struct catalogue_item *));
	if (!by_place)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		by_place[i] = &items[i];
	qsort(by_place, n, sizeof(struct catalogue_item *), compare_places);
	for (size_t i = 0; i < n; i++)
		by_place[i]->same = i && by_place[i]->place == by_place[i - 1]->place ?
					    by_place[i - 1]->same : (size_t)(by_place[i] - items);
	free(by_place);
	return 0;
}
