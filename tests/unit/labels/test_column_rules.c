/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that are images and labels, by tables without a file. */
#include "unit.h"

#include "labels/column_rules.h"

enum { COLUMNS_MOST = 5 };

/* Columns: a name; behind it `!`: no type of labels, `*`: noted as classes, `?`: unfit. */
static size_t make_columns(const char *text, struct label_column_facts out[COLUMNS_MOST],
			   char names[COLUMNS_MOST][32])
{
	size_t n = 0;

	for (const char *at = text; *at; n++) {
		size_t size = strcspn(at, "!*? ");

		assert_true(n < COLUMNS_MOST);
		snprintf(names[n], sizeof(names[n]), "%.*s", (int)size, at);
		at += size;
		out[n] = (struct label_column_facts){ .name = names[n], .can_label = *at != '!',
						      .classes = *at == '*', .unfit = *at == '?' };
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	return n;
}

static const struct {
	const char *columns;
	int taken, other;
} labels[] = {
	{ "image! label", 1, -1 },
	{ "image! caption", -1, -1 },
	{ "y image! label", 2, 0 },
	{ "label! y", 1, -1 },
	{ "label? y", 1, -1 },
	{ "label? image!", -1, -1 },
	{ "label kind*", 1, 0 },
	{ "image! label superclass", 1, 2 },
	{ "image! label* label2", 1, 2 },
	{ "image! label class_count", 1, -1 },
	{ "scene* light*", -1, 0 },
	{ "scene* light* other*", -1, 0 },
	{ "coarse_label* fine_label*", 1, 0 },
	{ "fine_label* coarse*", 0, 1 },
	{ "coarse* fine_label*", 1, 0 },
	{ "Image! Label", 1, -1 },
	{ "image! class_name", 1, -1 },
	{ "image! label_fine label_coarse", -1, 1 },
	{ "image! wnid y", 2, 1 },
	{ "", -1, -1 },
};

static void test_labels(void **state)
{
	size_t i = unit_row(state);
	struct label_column_facts columns[COLUMNS_MOST];
	char names[COLUMNS_MOST][32];
	size_t n = make_columns(labels[i].columns, columns, names);
	struct label_column_choice choice = label_column_choose(columns, n);

	if (choice.taken != labels[i].taken || choice.other != labels[i].other)
		fail_msg("'%s' is %d and %d, not %d and %d", labels[i].columns,
			 choice.taken, choice.other, labels[i].taken, labels[i].other);
}

/* Columns: `i` begins like images, `b` does not, `0` has nothing but null. */
static const struct {
	const char *columns, *left_out; /* NULL: no column has bytes */
} images[] = {
	{ "i", "." }, { "b", "." }, { "ib", ".x" }, { "bi", "x." }, { "bb", ".." },
	{ "ii", ".." }, { "i0", ".x" }, { "b0", ".x" }, { "0ib", "x.x" }, { "0", NULL },
	{ "00", NULL },
};

static void test_images(void **state)
{
	size_t i = unit_row(state);
	struct image_column_facts facts[COLUMNS_MOST] = { { 0 } };
	bool left_out[COLUMNS_MOST];
	size_t n = strlen(images[i].columns);

	for (size_t k = 0; k < n; k++)
		facts[k] = (struct image_column_facts){ images[i].columns[k] == 'i',
							images[i].columns[k] == '0' };
	assert_int_equal(image_columns_choose(facts, n, left_out),
			 images[i].left_out != NULL);
	for (size_t k = 0; k < n && images[i].left_out; k++)
		assert_int_equal(left_out[k], images[i].left_out[k] == 'x');
}

static const struct CMUnitTest choices[] = {
	unit_table(test_labels, labels, columns),
	unit_table(test_images, images, columns),
};

UNIT_MAIN(choices)
