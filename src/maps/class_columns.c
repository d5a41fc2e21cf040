/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/class_columns.h"

#include "names/column_titles.h"

bool class_title_of_labels(const char *title, size_t size)
{
	return title_rank(TITLE_CLASS_NUMBER, title, size) >= 0 ||
	       title_ends_as_number(title, size);
}

bool class_title_of_names(const char *title, size_t size)
{
	return size > 0 && title_rank(TITLE_CLASS_NAME, title, size) >= 0;
}

/* Most rows behind the first hold numbers: a column of labels, or one with a gap. */
static bool is_numbers(const struct class_column *column, size_t rows)
{
	return rows == 1 ? column->title_number : 2 * column->numbers > rows - 1;
}

/* The one column of labels, or that with the best title; n: none, or several. */
static size_t find_label(const struct class_column *columns, size_t n, size_t rows,
			 bool titles)
{
	size_t found = n, count = 0;
	int best = -1;

	for (size_t i = 0; i < n; i++) {
		const struct class_column *column = &columns[i];

		if (!is_numbers(column, rows))
			continue;
		count++;
		if ((titles && title_is_better(TITLE_CLASS_NUMBER, column->title,
					       column->title_size, &best)) || found == n)
			found = i;
	}
	return count == 1 || best >= 0 ? found : n;
}

/* Of the other columns the one of wnids, the only one of words, or that with the title.
 */
static size_t class_columns_find_name(const struct class_column *columns, size_t n,
				      size_t rows, size_t label, bool titles)
{
	size_t found = n, words = 0, titled = n;
	int best = -1;

	for (size_t i = 0; i < n; i++) {
		const struct class_column *column = &columns[i];

		if (i == label)
			continue;
		if (rows > 1 && columns[i].wnids == rows - 1)
			return i;
		if (titles && title_is_better(TITLE_CLASS_NAME, column->title,
					      column->title_size, &best))
			titled = i;
		if (is_numbers(&columns[i], rows))
			continue;
		words++;
		found = i;
	}
	return words == 1 ? found : titled;
}

/* Names in the order of their labels, below titles: no row of a list looks like them. */
static struct class_columns_choice choose_titled(const struct class_column *columns,
						 size_t n, size_t rows)
{
	struct class_columns_choice choice = {.found = CLASS_COLUMNS_NONE,
					      .titles = true};

	for (size_t i = 0; i < n; i++)
		if (title_rank(TITLE_CLASS_NAME, columns[i].title, columns[i].title_size) < 0)
			return choice;
	choice.name = class_columns_find_name(columns, n, rows, n, true);
	if (choice.name < n && rows > 1)
		choice.found = CLASS_COLUMNS_TITLED;
	return choice;
}

struct class_columns_choice class_columns_choose(const struct class_column *columns,
						 size_t n, size_t rows)
{
	struct class_columns_choice choice = {.found = CLASS_COLUMNS_MANY};
	size_t numbers = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_numbers(&columns[i], rows))
			continue;
		numbers++;
		choice.titles |= !columns[i].title_number;
	}
	if (numbers == 0)
		return choose_titled(columns, n, rows);
	choice.label = find_label(columns, n, rows, choice.titles);
	if (choice.label == n)
		return choice;
	choice.name =
		class_columns_find_name(columns, n, rows, choice.label, choice.titles);
	if (choice.name == n && n == 2 && choice.titles)
		choice.name = 1 - choice.label;
	if (choice.name < n)
		choice.found = CLASS_COLUMNS_NUMBERED;
	return choice;
}
