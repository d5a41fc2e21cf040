/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/pickled_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/pickle.h"

/* Limits above all metadata of images (thousands of tags), and below an attack's. */
enum {
	VALUES_MOST = 16384,
	LINE_MOST = 512,     /* bytes, of a module's or class's name */
	TEXT_MOST = 255,     /* bytes, of a text that is looked at */
	STEPS_MOST = 200000, /* opcodes of one image */
};

struct pickled_image_reader {
	struct wds_window *window;
	bool pil; /* a class of PIL's was named */
	const char *why;
};

static const char pil_module[] = "PIL.";

struct pickled_image_reader *pickled_image_new(struct wds_window *window)
{
	struct pickled_image_reader *pyd = calloc(1, sizeof(*pyd));

	if (pyd)
		pyd->window = window;
	return pyd;
}

void pickled_image_free(struct pickled_image_reader *pyd)
{
	free(pyd);
}

/* ---- What a pickled image may hold ---- */

static int get_pyd(void *context, uint64_t at, size_t n, const unsigned char **out)
{
	return wds_window_get(context, at, n, out);
}

/* Classes are noted, and never looked up. */
static int name_of_class(void *context, const char *class_name)
{
	struct pickled_image_reader *pyd = context;

	pyd->pil |= strncmp(class_name, pil_module, sizeof(pil_module) - 1) == 0;
	return 0;
}

static int refuse_call(struct pickle_reader *r, uint32_t class, uint32_t arguments)
{
	struct pickled_image_reader *pyd = pickle_context(r);

	pyd->why = pickle_protocol(r) < 3
			   ? "it is pickled in protocol 2, where pixels are text"
			   : "its pickle calls a function";
	return -ENOTSUP;
}

/* ---- The image ---- */

static int pil_image_refuse(struct pickled_image_reader *pyd, const char *why)
{
	pyd->why = why;
	return -ENOTSUP;
}

static bool pil_image_is_text(const struct pickle_value *value, const char *text)
{
	return value->kind == PICKLE_STR && value->text && value->size == strlen(text) &&
	       memcmp(value->text, text, value->size) == 0;
}

/* Its class is PIL's, and a list is its state; NULL: it is none. */
static const struct pickle_value *state_of_image(const struct pickle *pickle)
{
	const struct pickle_value *root = pickle_root(pickle), *class, *state;

	if (root->kind != PICKLE_OBJECT || !root->object.state_plus_1)
		return NULL;
	class = pickle_value(pickle, root->object.class);
	state = pickle_value(pickle, root->object.state_plus_1 - 1);
	if (strncmp(class->text, pil_module, sizeof(pil_module) - 1) != 0 ||
	    state->kind != PICKLE_LIST)
		return NULL;
	return state;
}

static bool pil_image_read_size(const struct pickle *pickle,
				const struct pickle_value *size, struct wds_image *out)
{
	struct pickle_walk walk = pickle_items(pickle, size);
	const struct pickle_value *width = pickle_next(&walk),
				  *height = pickle_next(&walk);

	if (size->kind != PICKLE_TUPLE || !height || pickle_next(&walk) ||
	    width->kind != PICKLE_INT || height->kind != PICKLE_INT ||
	    width->number <= 0 || height->number <= 0)
		return false;
	out->width = (uint64_t)width->number;
	out->height = (uint64_t)height->number;
	return true;
}

/* The state of PIL's Image: info, mode, size, palette, pixels, and what is newer. */
static int pil_image_set_image(struct pickled_image_reader *pyd,
			       const struct pickle *pickle, struct wds_image *out)
{
	const struct pickle_value *state = state_of_image(pickle), *items[5] = {NULL};
	struct pickle_walk walk;
	uint64_t length;

	if (!state)
		return pil_image_refuse(pyd, "it is not one image");
	walk = pickle_items(pickle, state);
	for (size_t i = 0; i < 5; i++)
		items[i] = pickle_next(&walk);
	if (!items[4] || items[1]->kind != PICKLE_STR || items[4]->kind != PICKLE_BYTES ||
	    !pil_image_read_size(pickle, items[2], out))
		return pil_image_refuse(pyd, "its pickle is not as PIL writes one");
	out->channels = pil_image_is_text(items[1], "RGB") ? 3
			: pil_image_is_text(items[1], "L") ? 1
							   : 0;
	if (!out->channels)
		return pil_image_refuse(pyd, "its mode is neither RGB nor L");
	if (!checked_mul(out->width, out->height, &length) ||
	    !checked_mul(length, out->channels, &length) || length != items[4]->size)
		return pil_image_refuse(pyd,
					"its pixels are not as many as its size says");
	out->offset = items[4]->place;
	out->length = length;
	return 0;
}

int pickled_image_find(struct pickled_image_reader *pyd, uint64_t offset, uint64_t size,
		       struct wds_image *out, const char **why)
{
	const struct pickle_policy policy = {
		.values_most = VALUES_MOST,
		.steps_most = STEPS_MOST,
		.line_most = LINE_MOST,
		.text_most = TEXT_MOST,
		.leave_bytes = true,
		.objects = true,
		.context = pyd,
		.name = name_of_class,
		.call = refuse_call,
		.build = pickle_note_state,
	};
	struct pickle_input input = {get_pyd, pyd->window, offset, 0, false};
	struct pickle *pickle = NULL;
	int err;

	if (!checked_add(offset, size, &input.end))
		return -EIO;
	pyd->pil = false;
	pyd->why = NULL;
	err = pickle_run(&input, &policy, "", &pickle, NULL);
	if (!err)
		err = pil_image_set_image(pyd, pickle, out);
	else if (err == -EBADMSG)
		err = pil_image_refuse(pyd, "its pickle is damaged");
	else if (err == -ENOTSUP && !pyd->why)
		err = pil_image_refuse(pyd, "its pickle holds what no image needs");
	pickle_free(pickle);
	*why = pyd->why;
	return err == -ENOTSUP && !pyd->pil ? -ENODATA : err;
}
