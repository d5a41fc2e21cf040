/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The name of labels goes with that of the rows (x and y, train_images and train_labels),
 * or is one that all courses use.
 */
#include "format/hdf5/label_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "names/split_words.h"

static const char *const label_names[] = {
	"targets", "labels", "label", "target", "y", "Y", "ans", "class", "classes",
	"Labels", "Label", "Targets", "Target", "category",
};

/* What in the name of an array becomes what in the name of its labels. */
static const struct {
	const char *rows, *labels;
} pairs[] = {
	{ "_x", "_y" },	        { "_X", "_y" },	        { "_X", "_Y" },
	{ "x_", "y_" },	        { "X_", "y_" },	        { "X_", "Y_" },
	{ "images", "labels" }, { "images", "targets" }, { "image", "label" },
	{ "image", "labels" },  { "imgs", "labels" },   { "imgs", "targets" },
	{ "img", "labels" },    { "img", "label" },     { "data", "labels" },
	{ "data", "label" },    { "data", "targets" },
};

enum {
	NAMES = sizeof(label_names) / sizeof(*label_names),
	PAIRS = sizeof(pairs) / sizeof(*pairs),
};

/* "train" of "train_images": its length; 0: it begins otherwise. */
static size_t split_before(const char *name)
{
	size_t n = strcspn(name, "_");

	return name[n] == '_' && split_is_word(name, n) ? n : 0;
}

static bool is_chosen(const char *name, const char *chosen)
{
	size_t n = split_before(name);

	return strcmp(name, chosen) == 0 || (n && strcmp(name + n + 1, chosen) == 0);
}

bool hdf5_is_label_name(const char *name, const char *chosen)
{
	size_t n = strlen(name);

	if (chosen)
		return is_chosen(name, chosen);
	for (size_t i = 0; i < NAMES; i++)
		if (strcmp(label_names[i], name) == 0)
			return true;
	return strstr(name, "label") || strstr(name, "target") ||
	       (n > 2 && strcasecmp(name + n - 2, "_y") == 0) ||
	       strncasecmp(name, "y_", 2) == 0;
}

/* "train_set_x" has its labels in "train_set_y". False: the pair does not fit. */
static bool pair_name(const char *name, size_t i, char out[HDF5_LABEL_NAME_BYTES])
{
	const char *at = strstr(name, pairs[i].rows);
	size_t n = strlen(pairs[i].rows);

	if (!at || strlen(name) + 8 > HDF5_LABEL_NAME_BYTES ||
	    (pairs[i].rows[0] == '_' && at[n]) || (pairs[i].rows[1] == '_' && at != name))
		return false;
	snprintf(out, HDF5_LABEL_NAME_BYTES, "%.*s%s%s", (int)(at - name), name,
		 pairs[i].labels, at + n);
	return true;
}

/* All of them, with repetitions; an empty one does not fit. */
static bool any_name(const char *name, size_t i, char out[HDF5_LABEL_NAME_BYTES])
{
	*out = '\0';
	if (i < PAIRS) {
		if (!pair_name(name, i, out))
			*out = '\0';
		return true;
	}
	if (i - PAIRS >= NAMES)
		return false;
	if (strcmp(label_names[i - PAIRS], name) != 0)
		snprintf(out, HDF5_LABEL_NAME_BYTES, "%s", label_names[i - PAIRS]);
	return true;
}

static bool came_before(const char *name, size_t i, const char *what)
{
	char other[HDF5_LABEL_NAME_BYTES];

	for (size_t k = 0; k < i; k++)
		if (any_name(name, k, other) && strcmp(other, what) == 0)
			return true;
	return false;
}

/* Not center_y, num_labels, label_names or is_labeled. */
bool hdf5_label_may_stand_alone(const char *name)
{
	static const char *const inside[] = { "num", "count", "len", "name", "offset", "weight" };
	static const char *const before[] = { "is_", "has_", "n_" };

	for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++)
		if (strcasestr(name, inside[i]))
			return false;
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		if (strncasecmp(name, before[i], strlen(before[i])) == 0)
			return false;
	return strcasestr(name, "label") || strcasestr(name, "target") ||
	       strcasecmp(name, "y") == 0;
}

bool hdf5_label_is_vague(const char *name)
{
	return strcmp(name, "class") == 0 || strcmp(name, "classes") == 0 ||
	       strcmp(name, "category") == 0;
}

bool hdf5_label_may_go_with(const char *labels, const char *array)
{
	char theirs[SPLIT_BYTES], own[SPLIT_BYTES];

	return !split_of_path(labels, theirs) || !split_of_path(array, own) ||
	       strcasecmp(theirs, own) == 0 ||
	       split_is_same(theirs, strlen(theirs), own, strlen(own));
}

static bool chosen_name(const char *name, const char *chosen, size_t i,
			char out[HDF5_LABEL_NAME_BYTES])
{
	size_t own = split_before(name);

	if (strlen(chosen) + own + 2 > HDF5_LABEL_NAME_BYTES)
		return false;
	if (i == 0 && hdf5_label_may_go_with(chosen, name))
		snprintf(out, HDF5_LABEL_NAME_BYTES, "%s", chosen);
	else if (i == 1 && own && !split_before(chosen))
		snprintf(out, HDF5_LABEL_NAME_BYTES, "%.*s_%s", (int)own, name, chosen);
	else
		return false;
	return true;
}

bool hdf5_label_name(const char *name, const char *chosen, size_t i,
		     char out[HDF5_LABEL_NAME_BYTES])
{
	size_t place = 0;

	if (chosen)
		return chosen_name(name, chosen, i, out);
	for (; any_name(name, place, out); place++)
		if (*out && !came_before(name, place, out) && i-- == 0)
			return true;
	return false;
}
