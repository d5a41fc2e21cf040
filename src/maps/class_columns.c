/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/class_columns.h"

#include <ctype.h>
#include <string.h>

enum { TITLE_BYTES = 32 };

/* Small letters and digits only: "Class_Id" is "classid". */
static const char *const label_titles[] = {
	"classid", "labelid", "categoryid", "classindex", "classidx", "classnumber",
	"label",   "id",      "ids",	    "index",	  "idx",      "target",
	"number",  "num",     "no",	    "nr",	  "code",     "key",
	"value",   "y",	      "class",	    "",
};

static const char *const name_titles[] = {
	"name",		"names",    "classname",   "classnames",    "labelname",
	"categoryname", "signname", "label",	   "labels",	    "class",
	"classes",	"category", "categories",  "title",	    "wnid",
	"synset",	"species",  "description", "supercategory",
};

#define COUNT_OF(list) (sizeof(list) / sizeof(*(list)))

static bool plain_title(const char *title, size_t size, char out[TITLE_BYTES])
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		if (strchr(" _-#", title[i]))
			continue;
		if (!isalnum((unsigned char)title[i]) || n + 1 == TITLE_BYTES)
			return false;
		out[n++] = (char)tolower((unsigned char)title[i]);
	}
	out[n] = '\0';
	return true;
}

/* Where the title stands in a list; its length where it does not. */
static size_t title_rank(const char *title, size_t size, const char *const *list,
			 size_t n)
{
	char plain[TITLE_BYTES];
	size_t rank = 0;

	if (!plain_title(title, size, plain))
		return n;
	while (rank < n && strcmp(list[rank], plain) != 0)
		rank++;
	return rank;
}

static size_t label_rank(const struct class_column *column)
{
	return title_rank(column->title, column->title_size, label_titles,
			  COUNT_OF(label_titles));
}

static size_t name_rank(const struct class_column *column)
{
	return title_rank(column->title, column->title_size, name_titles,
			  COUNT_OF(name_titles));
}

static bool class_columns_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

bool class_title_of_labels(const char *title, size_t size)
{
	static const char *const ends[] = {"id",  "ids",    "index",
					   "idx", "number", "label"};
	char plain[TITLE_BYTES];

	if (title_rank(title, size, label_titles, COUNT_OF(label_titles)) <
	    COUNT_OF(label_titles))
		return true;
	if (!plain_title(title, size, plain))
		return false;
	for (size_t i = 0; i < COUNT_OF(ends); i++)
		if (class_columns_ends_with(plain, ends[i]))
			return true;
	return false;
}

bool class_title_of_names(const char *title, size_t size)
{
	return size > 0 && title_rank(title, size, name_titles, COUNT_OF(name_titles)) <
				   COUNT_OF(name_titles);
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
	size_t found = n, count = 0, best = COUNT_OF(label_titles);

	for (size_t i = 0; i < n; i++) {
		size_t rank = titles ? label_rank(&columns[i]) : best;

		if (!is_numbers(&columns[i], rows))
			continue;
		count++;
		if (rank < best || found == n)
			found = i;
		best = rank < best ? rank : best;
	}
	return count == 1 || best < COUNT_OF(label_titles) ? found : n;
}

/* Of the other columns the one of wnids, the only one of words, or that with the title.
 */
static size_t class_columns_find_name(const struct class_column *columns, size_t n,
				      size_t rows, size_t label, bool titles)
{
	size_t found = n, words = 0, titled = n, best = COUNT_OF(name_titles);

	for (size_t i = 0; i < n; i++) {
		size_t rank = titles ? name_rank(&columns[i]) : best;

		if (i == label)
			continue;
		if (rows > 1 && columns[i].wnids == rows - 1)
			return i;
		if (rank < best)
			titled = i, best = rank;
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
		if (name_rank(&columns[i]) == COUNT_OF(name_titles))
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
