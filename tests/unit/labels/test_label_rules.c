/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules, by tables: from a catalogue to what is shown and what labels it. */
#include "unit.h"

#include <errno.h>

#include "labels/label_rules.h"

enum { ITEMS = 6 };

/* Short for an item: its name, type and dimensions. */
struct line {
	const char *name;
	enum item_type type;
	uint64_t bytes, dims[4];
	bool fact; /* floats are whole, rows one-hot, bytes an image */
};

static void add(struct catalogue *catalogue, const struct line *line)
{
	struct catalogue_item item = { .name = (char *)(uintptr_t)line->name,
				       .type = line->type, .bytes = line->bytes,
				       .place = catalogue->items.count + 1 };

	while (item.rank < 4 && line->dims[item.rank]) {
		item.dims[item.rank] = line->dims[item.rank];
		item.rank++;
	}
	item.numbered = line->type == ITEM_INTEGER || line->type == ITEM_TEXT ||
			line->type == ITEM_ENUM;
	item.is_numpy = item.rank > 1 && line->type != ITEM_TEXT && line->type != ITEM_BYTES;
	item.whole = line->fact && line->type == ITEM_FLOAT;
	item.one_hot = line->fact && item.rank == 2;
	assert_int_equal(vec_push(&catalogue->items, item), 0);
}

static char told[4096];

static void tell(void *context, const char *sentence)
{
	size_t n = strlen(told);

	(void)context;
	snprintf(told + n, sizeof(told) - n, "%s\n", sentence);
}

#define ROWS(name, n) { name, ITEM_BYTES, 16, { n }, false }
#define PIXELS(name, ...) { name, ITEM_INTEGER, 1, { __VA_ARGS__ }, false }
#define INTS(name, ...) { name, ITEM_INTEGER, 8, { __VA_ARGS__ }, false }
#define WHOLE(name, ...) { name, ITEM_FLOAT, 4, { __VA_ARGS__ }, true }
#define HALVES(name, ...) { name, ITEM_FLOAT, 4, { __VA_ARGS__ }, false }
#define TEXTS(name, n) { name, ITEM_TEXT, 8, { n }, false }

/* "array:labels" of each, or "array!" for a class of its own; what is told has `words`. */
static const struct {
	struct line items[ITEMS];
	const char *chosen, *want, *words;
} cases[] = {
	{ { ROWS("images", 9), INTS("targets", 9) }, NULL, "images:targets ", "" },
	{ { ROWS("images", 9), INTS("targets", 9, 1) }, NULL, "images:targets ", "" },
	{ { ROWS("images", 9), WHOLE("y", 1, 9) }, NULL, "images:y ", "" },
	{ { PIXELS("x", 9, 8, 8, 3), WHOLE("Y", 9, 3) }, NULL, "x:Y ", "" },
	{ { ROWS("images", 9), HALVES("labels", 9) }, NULL, "images:- ", "not all are whole" },
	{ { ROWS("images", 9), INTS("labels", 9, 4) }, NULL, "images:- ",
	  "does not hold one class" },
	/* the key goes before the name that all use */
	{ { ROWS("trainX", 9), INTS("labels", 9), INTS("trainY", 9) }, NULL, "trainX:trainY ",
	  "-o labels=labels" },
	/* never those of another split */
	{ { ROWS("testX", 9), INTS("trainY", 9) }, NULL, "testX:- ", "" },
	{ { ROWS("photos", 9), INTS("coarse_labels", 9), INTS("fine_labels", 9) }, NULL,
	  "photos:- ", "'coarse_labels', 'fine_labels': it gets none" },
	{ { ROWS("photos", 9), INTS("fine_labels", 9) }, NULL, "photos:fine_labels ", "" },
	/* an option is for what it fits */
	{ { ROWS("images", 9), HALVES("boxes", 7, 4), INTS("digit", 9), INTS("labels", 7) },
	  "digit", "images:digit unfit", "" },
	{ { ROWS("images", 9), INTS("digit", 7) }, "digit", "images:- unfit",
	  "shown without labels" },
	/* other labels are no array's */
	{ { ROWS("images", 9), INTS("labels", 8) }, NULL, "refused", "" },
	{ { ROWS("images", 9), INTS("labels", 8), ROWS("thumbs", 8) }, NULL,
	  "images:- thumbs:labels ", "another array's" },
	{ { ROWS("images", 9), INTS("label", 1) }, NULL, "images:- ", "label" },
	/* what fits otherwise is offered by its name */
	{ { PIXELS("images", 4, 3, 8, 8), INTS("label_start_ix", 4), INTS("labels", 20, 16) },
	  NULL, "images:- ", "-o labels=label_start_ix" },
	{ { ROWS("images", 9), TEXTS("filenames", 8) }, NULL, "images:- ",
	  "does not have one name for each" },
	{ { ROWS("images", 9), TEXTS("filenames", 9) }, NULL, "images:- ", "" },
	{ { ROWS("images", 9), TEXTS("labels", 9) }, NULL, "images:labels ", "" },
	{ { ROWS("cat", 9), ROWS("dog", 9) }, NULL, "cat! dog! ", "" },
	{ { PIXELS("cat", 9, 8, 8, 3), PIXELS("dog", 7, 8, 8, 3) }, NULL, "cat! dog! ", "" },
	{ { PIXELS("cam_high", 9, 8, 8, 3), PIXELS("cam_low", 9, 8, 8, 3) }, NULL,
	  "cam_high:- cam_low:- ", "" },
	{ { PIXELS("things", 9, 8, 8, 4) }, NULL, "things:- ", "" },
	{ { PIXELS("things", 9, 8, 8) }, NULL, "", "" },
	{ { PIXELS("image", 8, 8, 3) }, NULL, "", "" },
	{ { HALVES("tas", 9, 8) }, NULL, "", "" },
	{ { HALVES("tas", 9, 8), INTS("label", 9) }, NULL, "tas:label ", "" },
};

static void describe(const struct catalogue *catalogue, const struct binding_plan *plan,
		     int err, char *out, size_t room)
{
	size_t n = 0;

	*out = '\0';
	if (err) {
		snprintf(out, room, "%s", err == -EBADMSG && *plan->problem ? "refused" : "?");
		return;
	}
	for (size_t i = 0; i < plan->items.count; i++) {
		const struct binding *b = &plan->items.items[i];
		const struct catalogue_item *items = catalogue->items.items;

		n += (size_t)snprintf(out + n, room - n, "%s%s%s ", items[b->array].name,
				      b->is_class ? "!" : ":", b->is_class ? "" :
				      b->labels == RULE_NONE ? "-" : items[b->labels].name);
		assert_true(items[b->array].used);
	}
	if (*plan->unfit)
		snprintf(out + n, room - n, "unfit");
}

static void test_rules(void **state)
{
	size_t i = unit_row(state);
	struct rule_options options = { .labels = cases[i].chosen, .where = "/",
					.report = tell };
	struct catalogue catalogue = { 0 };
	struct binding_plan plan;
	char got[400];
	int err;

	*told = '\0';
	for (size_t k = 0; k < ITEMS && cases[i].items[k].name; k++)
		add(&catalogue, &cases[i].items[k]);
	err = label_rules_bind(&catalogue, &options, &plan);
	describe(&catalogue, &plan, err, got, sizeof(got));
	if (!strstr(told, cases[i].words) || (!*cases[i].words && *told))
		print_message("# row %zu: told: %s\n", i, told);
	assert_string_equal(got, cases[i].want);
	assert_non_null(strstr(told, cases[i].words));
	assert_int_equal(*told != 0, *cases[i].words != 0);
	binding_plan_free(&plan);
	vec_free(&catalogue.items);
}

/* Two names of one array: what labels is used under both. */
static void test_two_names(void **state)
{
	static const struct line lines[] = { ROWS("images", 9), INTS("labels", 9),
					     INTS("other", 9) };
	struct rule_options options = { .where = "/" };
	struct catalogue catalogue = { 0 };
	struct binding_plan plan;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		add(&catalogue, &lines[i]);
	catalogue.items.items[2].place = catalogue.items.items[1].place;
	assert_int_equal(label_rules_bind(&catalogue, &options, &plan), 0);
	assert_true(catalogue.items.items[2].used);
	binding_plan_free(&plan);
	vec_free(&catalogue.items);
}

/* A column or lists say splits, unless the array's own name does. */
static void test_splits(void **state)
{
	static const struct line lines[] = { ROWS("images", 9), TEXTS("split", 9),
					     INTS("test_idx", 3), INTS("train_idx", 6),
					     ROWS("train_x", 9) };
	struct rule_options options = { .where = "/" };
	struct catalogue catalogue = { 0 };
	struct binding_plan plan;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		add(&catalogue, &lines[i]);
	assert_int_equal(label_rules_bind(&catalogue, &options, &plan), 0);
	assert_int_equal(plan.items.count, 2);
	assert_int_equal(plan.items.items[0].split_column, 1);
	assert_false(plan.items.items[0].has_split_lists);
	assert_int_equal(plan.items.items[1].split_column, RULE_NONE);
	binding_plan_free(&plan);
	catalogue.items.items[1].dims[0] = 8; /* of other rows */
	assert_int_equal(label_rules_bind(&catalogue, &options, &plan), 0);
	assert_true(plan.items.items[0].has_split_lists);
	assert_int_equal(plan.split_lists.count, 2);
	binding_plan_free(&plan);
	vec_free(&catalogue.items);
}

static const struct {
	uint64_t dims[4];
	bool reversed, is;
	uint64_t colours, width, height;
} shapes[] = {
	{ { 9, 6, 5, 3 }, false, true, 3, 5, 6 }, { { 9, 3, 6, 5 }, false, true, 3, 5, 6 },
	{ { 9, 6, 5, 1 }, false, true, 1, 5, 6 }, { { 9, 6, 5 }, false, true, 1, 5, 6 },
	{ { 9, 3, 5, 6 }, true, true, 3, 5, 6 }, { { 9, 5, 6 }, true, true, 1, 5, 6 },
	{ { 9, 6, 5, 3 }, true, false, 0, 0, 0 }, { { 9, 6, 5, 4 }, false, false, 0, 0, 0 },
	{ { 9, 6 }, false, false, 0, 0, 0 },
};

static void test_shapes(void **state)
{
	size_t i = unit_row(state);
	struct catalogue_item item = { .type = ITEM_INTEGER, .bytes = 1,
				       .reversed = shapes[i].reversed };
	struct image_shape shape;

	while (item.rank < 4 && shapes[i].dims[item.rank]) {
		item.dims[item.rank] = shapes[i].dims[item.rank];
		item.rank++;
	}
	assert_int_equal(label_rules_shape(&item, &shape), shapes[i].is);
	assert_int_equal(shape.colours, shapes[i].colours);
	assert_int_equal(shape.width, shapes[i].width);
	assert_int_equal(shape.height, shapes[i].height);
}

static const struct CMUnitTest tests[] = {
	unit_rows(test_rules, cases),
	cmocka_unit_test(test_two_names),
	cmocka_unit_test(test_splits),
	unit_rows(test_shapes, shapes),
};

UNIT_MAIN_IN(tests, NULL, NULL)
