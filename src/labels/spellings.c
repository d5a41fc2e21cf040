/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "labels/spellings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labels/label_text.h"

/* A text that is a whole number. */
struct spelled_number {
	int64_t number;
	bool decimal; /* "1.0", "1e0" */
	const char *text;
};

typedef VEC(struct spelled_number) spelled_numbers;

/* Of one number those of digits alone come first, the shortest before the others. */
static int compare_numbers(const void *left, const void *right)
{
	const struct spelled_number *a = left, *b = right;
	size_t n = strlen(a->text), m = strlen(b->text);

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->decimal != b->decimal)
		return a->decimal ? 1 : -1;
	return n != m ? (n < m ? -1 : 1) : strcmp(a->text, b->text);
}

static int compare_spellings(const void *left, const void *right)
{
	return strcmp(((const struct spelling *)left)->text,
		      ((const struct spelling *)right)->text);
}

static int list_numbers(const char *const *texts, size_t n, spelled_numbers *out)
{
	for (size_t i = 0; i < n; i++) {
		struct spelled_number item = { .text = texts[i] };

		if (label_text_read(item.text, strlen(item.text), &item.number) !=
		    LABEL_TEXT_NUMBER)
			continue;
		item.decimal = strpbrk(item.text, ".eE");
		if (vec_push(out, item) < 0)
			return -ENOMEM;
	}
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), compare_numbers);
	return 0;
}

static int compare_labels(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static bool has_label(struct number_labels numbers, int64_t label)
{
	return numbers.count && bsearch(&label, numbers.items, numbers.count, sizeof(label),
					compare_labels);
}

/* Rows, and their texts with them, are freed before the spellings are. */
static int copy_texts(struct spelled_number *items, size_t n, struct arena *arena)
{
	for (size_t i = 0; i < n; i++) {
		items[i].text = arena_copy(arena, items[i].text, strlen(items[i].text));
		if (!items[i].text)
			return -ENOMEM;
	}
	return 0;
}

/* The spellings of one number; `is_label`: it is a label, too. */
static int join_spellings(struct spelled_number *items, size_t n, bool is_label,
			  struct arena *arena, struct spellings *out)
{
	bool whole = is_label || !items[0].decimal; /* there is one without a fraction */
	const char *digits, *class;

	if (n == 1 && !is_label)
		return 0;
	digits = arena_print(arena, "%" PRId64, items[0].number);
	if (!digits || copy_texts(items, n, arena) < 0)
		return -ENOMEM;
	class = is_label ? NULL : whole ? items[0].text : digits;
	for (size_t i = 0; i < n; i++) {
		struct spelling spelling = { items[i].text, class, items[i].number };
		bool same = items[i].decimal ||
			    (is_label && strcmp(items[i].text, digits) == 0);

		if (same && vec_push(&out->items, spelling) < 0)
			return -ENOMEM;
		if (same || (i == 0 && !is_label))
			continue;
		out->zeros[0] = is_label ? digits : items[0].text;
		out->zeros[1] = items[i].text;
	}
	return 0;
}

int spellings_find(const char *const *texts, size_t n, struct number_labels labels,
		   struct arena *arena, struct spellings *out)
{
	spelled_numbers numbers = VEC_INIT;
	int err = list_numbers(texts, n, &numbers);

	*out = (struct spellings){ .zeros = { NULL } };
	for (size_t i = 0, end; i < numbers.count && !err; i = end) {
		for (end = i + 1; end < numbers.count; end++)
			if (numbers.items[end].number != numbers.items[i].number)
				break;
		err = join_spellings(numbers.items + i, end - i,
				     has_label(labels, numbers.items[i].number), arena, out);
	}
	if (out->items.count)
		qsort(out->items.items, out->items.count, sizeof(*out->items.items),
		      compare_spellings);
	vec_free(&numbers);
	return err;
}

void spellings_free(struct spellings *spellings)
{
	vec_free(&spellings->items);
}

const struct spelling *spellings_get(const struct spellings *spellings, const char *text)
{
	const struct spelling key = { .text = text };

	return spellings->items.count ? bsearch(&key, spellings->items.items,
						spellings->items.count, sizeof(key),
						compare_spellings) : NULL;
}

bool spellings_describe(const struct spellings *spellings, char out[SPELLINGS_TEXT_BYTES])
{
	const struct spelling *first = spellings->items.items;
	int n = 0;

	if (spellings->items.count)
		n = snprintf(out, SPELLINGS_TEXT_BYTES, "the label '%.24s' is the number %"
			     PRId64 ", and in the class that is called so (%zu such labels)",
			     first->text, first->number, spellings->items.count);
	if (spellings->zeros[0])
		n += snprintf(out + n, SPELLINGS_TEXT_BYTES - (size_t)n,
			      "%sthe labels '%.24s' and '%.24s' are one number, and two classes",
			      n ? "; " : "", spellings->zeros[0], spellings->zeros[1]);
	return n > 0;
}
