/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "labels/sample_rules.h"

#include <errno.h>
#include <string.h>

#include "names/label_words.h"

static const struct catalogue_item *
sample_rules_item_of(const struct catalogue *catalogue, const struct binding *b)
{
	return &catalogue->items.items[b->array];
}

/* Shapes */

static bool is_colours(uint64_t n)
{
	return n == 1 || n == 3;
}

static bool is_uint8(const struct catalogue_item *item)
{
	return item->type == ITEM_INTEGER && item->bytes == 1 && !item->is_signed;
}

/* MATLAB's H x W x C x N is stored as N x C x W x H. */
static void shape_reversed(const struct catalogue_item *item, struct image_shape *out)
{
	const uint64_t *n = item->dims;
	static const uint8_t grey[] = { 0, 2, 1 }, colour[] = { 0, 3, 2, 1 };
	bool flat = item->rank == 3;

	out->colours = flat ? 1 : n[1];
	out->width = flat ? n[1] : n[2];
	out->height = flat ? n[2] : n[3];
	out->ordered = true;
	memcpy(out->order, flat ? grey : colour, flat ? sizeof(grey) : sizeof(colour));
}

static void shape_stored(const struct catalogue_item *item, struct image_shape *out)
{
	static const uint8_t interleaved[] = { 0, 2, 3, 1 };
	const uint64_t *n = item->dims;
	bool pixels = item->rank == 4 && is_colours(n[3]);
	bool planes = item->rank == 4 && !pixels && is_colours(n[1]);

	out->colours = pixels ? n[3] : planes ? n[1] : 1;
	out->height = planes ? n[2] : n[1];
	out->width = planes ? n[3] : n[2];
	out->planes = out->ordered = planes && out->colours > 1;
	out->ambiguous = pixels && is_colours(n[1]) && n[1] > 1;
	memcpy(out->order, interleaved, sizeof(interleaved));
}

bool label_rules_shape(const struct catalogue_item *item, struct image_shape *out)
{
	const uint64_t *n = item->dims;

	*out = (struct image_shape){ 0 };
	if (!is_uint8(item) || item->rank < 3 || item->rank > 4)
		return false;
	if (item->rank == 4 && !is_colours(n[1]) && (item->reversed || !is_colours(n[3])))
		return false;
	if (item->reversed)
		shape_reversed(item, out);
	else
		shape_stored(item, out);
	return true;
}

/* Samples */

static bool is_wide(const struct catalogue_item *item)
{
	bool wide = false;

	for (int i = 0; i < item->rank; i++) {
		if (item->dims[i] == 0)
			return false;
		wide |= i > 0 && item->dims[i] != 1;
	}
	return wide;
}

static bool is_sample(const struct catalogue_item *item, struct binding *out)
{
	if (item->encoded)
		out->form = SAMPLE_PADDED;
	else if (item->type == ITEM_BYTES)
		out->form = SAMPLE_ROWS;
	else if (!is_wide(item))
		return false;
	else if (label_rules_shape(item, &out->shape))
		out->form = SAMPLE_PIXELS;
	else if (item->is_numpy && !name_has_label_word(item->name))
		out->form = SAMPLE_NUMBERS;
	else
		return false;
	return true;
}

/* H x W x 3: without labels it is one picture, and no rows of grey ones. */
static bool is_one_picture(const struct catalogue_item *item)
{
	return item->rank == 3 && item->dims[2] == 3;
}

/* N x H x W x 1, 3 or 4, or N x 3 x H x W of a size that images have. */
static bool has_image_shape(const struct catalogue_item *item)
{
	const uint64_t *n = item->dims;

	return is_uint8(item) && item->rank == 4 &&
	       (((is_colours(n[3]) || n[3] == 4) && n[1] > 4 && n[2] > 4) ||
		(n[1] == 3 && n[2] > 4 && n[3] > 4));
}

bool sample_rules_guessed(const struct catalogue *catalogue, const struct binding *b)
{
	const struct catalogue_item *item = sample_rules_item_of(catalogue, b);

	return b->labels == RULE_NONE && !b->is_class &&
	       (b->form == SAMPLE_PIXELS || b->form == SAMPLE_NUMBERS) &&
	       !name_has_image_word(item->name) && has_image_shape(item);
}

bool sample_rules_shown(const struct catalogue *catalogue, const struct binding *b)
{
	const struct catalogue_item *item = sample_rules_item_of(catalogue, b);

	if (b->form == SAMPLE_ROWS || b->form == SAMPLE_PADDED || b->labels != RULE_NONE ||
	    b->is_class || has_image_shape(item))
		return true;
	return b->form == SAMPLE_PIXELS && name_has_image_word(item->name) &&
		!is_one_picture(item);
}

/* One array for each class */

static bool may_be_class(const struct catalogue *catalogue, const struct binding *b)
{
	const struct catalogue_item *item = sample_rules_item_of(catalogue, b);

	return b->form == SAMPLE_ROWS || b->form == SAMPLE_PADDED ||
	       (b->form == SAMPLE_PIXELS && has_image_shape(item));
}

/* Several arrays of images and no labels: the name of each is the class of its rows. */
static void sample_rules_find_classes(const struct catalogue *catalogue,
				      struct binding_plan *plan)
{
	size_t arrays = 0, wnids = 0;

	for (size_t i = 0; i < plan->items.count; i++) {
		const struct binding *b = &plan->items.items[i];
		const char *name = sample_rules_item_of(catalogue, b)->name;

		if (!may_be_class(catalogue, b))
			continue;
		if (name_has_image_word(name))
			return;
		arrays++;
		wnids += name_is_wnid(name, strlen(name));
	}
	for (size_t i = 0; i < plan->items.count && (arrays > 1 || wnids > 0); i++)
		plan->items.items[i].is_class =
			may_be_class(catalogue, &plan->items.items[i]);
}

int sample_rules_list(const struct catalogue *catalogue, bool has_labels,
		      struct binding_plan *out)
{
	for (size_t i = 0; i < catalogue->items.count; i++) {
		const struct catalogue_item *item = &catalogue->items.items[i];
		struct binding b = { .array = i, .rows = item->rank ? item->dims[0] : 0,
				    .labels = RULE_NONE, .class_list = RULE_NONE,
				    .files = RULE_NONE, .split_column = RULE_NONE };

		if (!item->elsewhere && is_sample(item, &b) && vec_push(&out->items, b) < 0)
			return -ENOMEM;
	}
	if (!has_labels)
		sample_rules_find_classes(catalogue, out);
	return 0;
}
