/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts that are one number, by tables. */
#include "unit.h"

#include "labels/spellings.h"

enum { TEXTS_MOST = 5 };

static const struct {
	const char *texts[TEXTS_MOST + 1];
	const char *classes; /* of each */
	const char *zeros;   /* "7 007", or "" */
} tables[] = {
	{ { "1", "1.0" }, "1 1 ", "" },
	{ { "1.0", "1" }, "1 1 ", "" },
	{ { "1.0", "2.0" }, "1.0 2.0 ", "" },
	{ { "1.00", "1.0", "2" }, "1 1 2 ", "" },
	{ { "cat", "1", "1e0", "10e-1" }, "cat 1 1 1 ", "" },
	{ { "-1", "-1.0", "1" }, "-1 -1 1 ", "" },
	{ { "007", "7" }, "007 7 ", "7 007" },
	{ { "007", "7.0", "7" }, "007 7 7 ", "7 007" },
	{ { "007", "7.0" }, "007 007 ", "" },
	{ { "0.5", "1" }, "0.5 1 ", "" },
	{ { "", "nan", "0 1", "1" }, " nan 0 1 1 ", "" },
	{ { "5.0", "-5", "8", "9.0" }, "number number number 9.0 ", "" },
	{ { "5", "05", "5e0" }, "number 05 number ", "5 05" },
	{ { "08" }, "08 ", "8 08" },
	{ { NULL }, "", "" },
};

static void test_texts(void **state)
{
	size_t i = unit_row(state), n = 0;
	char classes[200] = "", zeros[40] = "", text[SPELLINGS_TEXT_BYTES];
	static const int64_t labels[] = { -5, 5, 8 };
	const struct number_labels numbers = { labels, COUNT(labels) };
	struct arena arena = { NULL };
	struct spellings spellings;
	bool several;

	while (tables[i].texts[n])
		n++;
	assert_int_equal(spellings_find(tables[i].texts, n, numbers, &arena, &spellings), 0);
	for (size_t k = 0; k < n; k++) {
		const char *class = tables[i].texts[k];
		const struct spelling *spelling = spellings_get(&spellings, class);

		if (spelling)
			class = spelling->class ? spelling->class : "number";
		snprintf(classes + strlen(classes), sizeof(classes) - strlen(classes), "%s ",
			 class);
	}
	if (spellings.zeros[0])
		snprintf(zeros, sizeof(zeros), "%s %s", spellings.zeros[0], spellings.zeros[1]);
	several = spellings_describe(&spellings, text);
	assert_int_equal(several, spellings.items.count || *zeros);
	spellings_free(&spellings);
	arena_free(&arena);
	assert_string_equal(classes, tables[i].classes);
	assert_string_equal(zeros, tables[i].zeros);
}

static const struct CMUnitTest tests[] = {
	unit_table(test_texts, tables, classes),
};

UNIT_MAIN_IN(tests, NULL, NULL)
