/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "labels/column_rules.h"

#include <string.h>

#include "names/column_titles.h"
#include "names/label_words.h"

/* The best of the usual names, but for one column. */
static int best_label(const struct label_column_facts *columns, size_t n, int but)
{
	int found = COLUMN_NONE, best = -1;

	for (size_t i = 0; i < n; i++) {
		const char *name = columns[i].name;

		if ((int)i != but && columns[i].can_label && !columns[i].unfit &&
		    title_is_better(TITLE_LABEL, name, strlen(name), &best))
			found = (int)i;
	}
	return found;
}

/* What may be labels beside those that are taken, by its name alone. */
static int first_rival(const struct label_column_facts *columns, size_t n, int but)
{
	for (size_t i = 0; i < n; i++)
		if ((int)i != but && columns[i].can_label && !columns[i].unfit &&
		    name_may_be_rival(columns[i].name))
			return (int)i;
	return COLUMN_NONE;
}

struct label_column_choice label_column_choose(const struct label_column_facts *columns,
					       size_t n)
{
	struct label_column_choice choice = {COLUMN_NONE, COLUMN_NONE};
	int noted[2] = {COLUMN_NONE, COLUMN_NONE};
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (!columns[i].classes)
			continue;
		if (count < 2)
			noted[count] = (int)i;
		count++;
	}
	choice.taken = count == 1 ? noted[0] : best_label(columns, n, COLUMN_NONE);
	choice.other = best_label(columns, n, choice.taken);
	if (count > 1 && (choice.other < 0 || choice.taken < 0))
		choice.other = noted[noted[0] == choice.taken];
	if (choice.other < 0)
		choice.other = first_rival(columns, n, choice.taken);
	return choice;
}

bool image_columns_choose(const struct image_column_facts *columns, size_t n,
			  bool *left_out)
{
	bool known = false, filled = false;

	for (size_t i = 0; i < n; i++) {
		known |= columns[i].known;
		filled |= !columns[i].empty;
	}
	for (size_t i = 0; i < n; i++)
		left_out[i] =
			filled && (columns[i].empty || (known && !columns[i].known));
	return filled;
}
