/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The splits that rows say, by tables. */
#include "unit.h"

#include "labels/row_splits.h"

static const struct {
	const char *words;   /* of rows, one behind the other */
	const char *numbers; /* of their splits */
} tables[] = {
	{ "train test train", "0 1 0 " },
	{ "val validation valid", "0 0 0 " },
	{ "Val val", "0 1 " },
	{ "extra test", "0 1 " },
	{ "a b c d e f g h i j k l m n o p q a", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 -1 0 " },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b", "0 1 " },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b", "-1 0 " },
	{ "", "" },
};

static void test_words(void **state)
{
	size_t i = unit_row(state), n;
	struct row_splits splits = { .count = 0 };
	char numbers[100] = "";

	for (const char *at = tables[i].words; *at; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		snprintf(numbers + strlen(numbers), sizeof(numbers) - strlen(numbers), "%d ",
			 row_splits_number(&splits, at, n));
	}
	assert_string_equal(numbers, tables[i].numbers);
}

static const struct CMUnitTest tests[] = {
	unit_table(test_words, tables, words),
};

UNIT_MAIN_IN(tests, NULL, NULL)
