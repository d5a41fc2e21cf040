/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Items that hold one label a row, as far as their types and shapes say. */
#include "labels/label_rules.h"

#include <string.h>

#include "labels/row_splits.h"
#include "names/label_words.h"

bool label_rules_name_counts(const char *name, const char *chosen)
{
	char split[SPLIT_BYTES];

	if (name_class_list_rank(name) >= 0 || name_file_list_rank(name) >= 0 ||
	    name_is_split_list(name, split) || name_may_say_split(name))
		return true;
	return chosen ? name_is_chosen(name, chosen, NULL) : name_has_label_word(name);
}

int label_rules_axis(const struct catalogue_item *item)
{
	int wide = 0, axis = 0;

	if (item->rank < 1)
		return -1;
	for (int i = 0; i < item->rank; i++)
		if (item->dims[i] != 1) {
			wide++;
			axis = i;
		}
	return wide == 0 ? 0 : wide == 1 && (axis == 0 || item->rank == 2) ? axis : -1;
}

static bool is_number(const struct catalogue_item *item)
{
	return item->numbered || item->type == ITEM_BOOL ||
	       (item->type == ITEM_FLOAT && item->whole);
}

uint64_t label_rules_count(const struct catalogue_item *item)
{
	int axis = label_rules_axis(item);

	if (axis >= 0)
		return is_number(item) ? item->dims[axis] : 0;
	return item->one_hot ? item->dims[0] : 0;
}

bool label_rules_fit(const struct catalogue_item *item, uint64_t rows,
		     enum label_form *form)
{
	*form = label_rules_axis(item) < 0 ? LABEL_ONE_HOT : LABEL_NUMBER;
	return rows && label_rules_count(item) == rows;
}

bool label_rules_may_label(const struct catalogue_item *item, const char *chosen)
{
	return chosen ? name_is_chosen(item->name, chosen, NULL) :
			name_has_label_word(item->name) || name_may_label_any(item->name);
}

bool label_rules_may_split(const struct catalogue_item *item, uint64_t rows)
{
	return label_rules_count(item) == rows && name_may_say_split(item->name);
}

bool label_rules_find_folds(const struct catalogue *catalogue, const struct binding_plan *plan,
			    size_t *one, size_t *other)
{
	size_t n = plan->split_lists.count;
	const size_t *lists = plan->split_lists.items;
	char a[SPLIT_BYTES], b[SPLIT_BYTES];

	for (size_t i = 1; i < n && i < ROW_SPLITS_MOST; i++)
		for (size_t k = 0; k < i; k++) {
			name_is_split_list(catalogue->items.items[lists[k]].name, a);
			name_is_split_list(catalogue->items.items[lists[i]].name, b);
			if (!split_is_same(a, strlen(a), b, strlen(b)))
				continue;
			*one = lists[k];
			*other = lists[i];
			return true;
		}
	return false;
}
