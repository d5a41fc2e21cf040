/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/maps_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "labels/column_rules.h"
#include "labels/label_text.h"
#include "names/column_titles.h"
#include "names/label_words.h"

enum { NONE = -1, LISTED_BYTES = 400 };

/* The column, but one, with the most usual title for names of files; NONE: there is none. */
static int find_key(const struct map_value *titles, size_t n, int but)
{
	int found = NONE, best = -1;

	for (size_t i = 0; i < n; i++)
		if ((int)i != but &&
		    title_is_better(TITLE_FILE, titles[i].text, titles[i].size, &best))
			found = (int)i;
	return found;
}

static int find_chosen(const struct map_input *input, const struct map_value *titles, size_t n)
{
	for (size_t i = 0; i < n && input->labels; i++)
		if (titles[i].size == strlen(input->labels) &&
		    memcmp(titles[i].text, input->labels, titles[i].size) == 0)
			return (int)i;
	return NONE;
}

static void copy_title(const struct map_value *title, char out[MAP_TITLE_BYTES])
{
	snprintf(out, MAP_TITLE_BYTES, "%.*s",
		 (int)(title->size < MAP_TITLE_BYTES ? title->size : MAP_TITLE_BYTES - 1),
		 title->text);
}

/* The column of labels, and what else could be it, by the rules of all formats. `key` is the
   column of names, or NONE. 0 or -ENOMEM. */
static int choose_label(const struct map_value *titles, size_t n, int key,
			struct label_column_choice *out)
{
	CLEANUP(cleanup_free) struct label_column_facts *facts = calloc(n + 1, sizeof(*facts));
	CLEANUP(cleanup_free) char (*names)[MAP_TITLE_BYTES] = calloc(n + 1, sizeof(*names));

	if (!facts || !names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copy_title(&titles[i], names[i]);
		facts[i] = (struct label_column_facts){ .name = names[i],
							.can_label = (int)i != key };
	}
	*out = label_column_choose(facts, n);
	return 0;
}

/* Titles of which nothing is used; `rival` is a column, or NONE. */
static void note_others(struct map_notes *notes, const struct map_value *titles, size_t n,
			const struct map_columns *columns, int rival)
{
	char title[MAP_TITLE_BYTES];

	notes->hot = columns->hot ? n - 1 : 0;
	copy_title(&titles[columns->value], notes->label);
	if (rival >= 0)
		copy_title(&titles[rival], notes->rival);
	for (size_t i = 0; i < n; i++) {
		copy_title(&titles[i], title);
		notes->splits |= i != columns->value && name_may_say_split(title);
	}
}

static int columns_refuse(const struct map_input *input, const struct map_value *titles,
			  size_t n, int key, int value, struct error *e)
{
	char list[LISTED_BYTES] = "", title[MAP_TITLE_BYTES];
	size_t used = 0;

	for (size_t i = 0; i < n && used < sizeof(list); i++) {
		copy_title(&titles[i], title);
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s'%s'",
					 i ? ", " : "", title);
	}
	if (value >= 0)
		copy_title(&titles[value], title);
	else
		snprintf(title, sizeof(title), "NAME");
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s: line 1: more than two columns (%s), and no titles that say which "
			 "is %s; say which holds the labels with -o labels=%s%s", input->path,
			 list, value >= 0 ? "the name" : key >= 0 ? "the label" :
			 "the name and which the label", title,
			 key >= 0 ? "" : ": the names are then in the first other one");
}

struct map_value map_columns_hot(const struct map_columns *columns,
				 const struct map_value *titles,
				 const struct map_value *row, size_t n)
{
	struct map_value found = { .kind = MAP_NOTHING };
	struct one_hot hot = { 0 };

	for (size_t i = 0; i < n; i++) {
		int64_t number = 0;
		bool known = label_text_read(row[i].text, row[i].size, &number) ==
			     LABEL_TEXT_NUMBER;

		if (i == columns->key)
			continue;
		one_hot_add(&hot, known, number);
		if (number == 1)
			found = titles[i];
	}
	if (hot.odd || hot.count < 2)
		found.kind = MAP_OTHER;
	return found;
}

int map_columns_choose(const struct map_input *input, const struct map_value *titles,
		       const struct map_value *second, size_t n, struct map_columns *out,
		       struct error *e)
{
	int chosen = find_chosen(input, titles, n), value, key;
	struct label_column_choice label;

	if (choose_label(titles, n, NONE, &label) < 0)
		return error_no_memory(e, input->path);
	value = chosen >= 0 ? chosen : label.taken;
	key = find_key(titles, n, value);
	if (n < 2 || (key < 0 && value < 0 && n == 2))
		return 0;
	*out = (struct map_columns){ .key = key >= 0 ? (size_t)key : value == 0 };
	if (value < 0 && n > 2)
		out->hot = second && map_columns_hot(out, titles, second, n).kind == MAP_TEXT;
	if (n > 2 && !out->hot && (value < 0 || (key < 0 && chosen < 0)))
		return columns_refuse(input, titles, n, key, value, e);
	out->value = value >= 0 ? (size_t)value : out->key == 0;
	out->first_word = titles[out->value].size == strlen("predictionstring");
	if (!input->notes)
		return 1;
	input->notes->chosen |= chosen >= 0;
	if (choose_label(titles, n, (int)out->key, &label) < 0)
		return error_no_memory(e, input->path);
	if (out->hot)
		label.other = (int)n - 1 - (out->key == n - 1);
	if (chosen >= 0 || label.other == (int)out->value)
		label.other = NONE;
	note_others(input->notes, titles, n, out, label.other);
	return 1;
}
