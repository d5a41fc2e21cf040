/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_maps.c: what -o names= says of rows. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "base/unique.h"
#include "maps/maps_texts.h"
#include "names/split_words.h"
#include "view/view_parts.h"

/* ---- Whose keys ---- */

/*
 * The rest of a path behind the split; NULL: the path is of another split. Of several
 * directories with the split's name the last one with a class behind it counts, if any.
 */
static const char *path_after_split(const char *path, const char *split)
{
	const char *found = NULL, *slash;

	for (; (slash = strchr(path, '/')); path = slash + 1)
		if (split_is_same(path, (size_t)(slash - path), split, strlen(split)) &&
		    (!found || strchr(slash + 1, '/')))
			found = slash + 1;
	return found;
}

/* "n01440764/x.JPEG", of a dataset without splits. */
static const char *last_two(const char *path)
{
	const char *name = filename_of(path), *at = name;

	if (at > path)
		at--;
	while (at > path && at[-1] != '/')
		at--;
	return at;
}

/* Has the path a directory that is called as a split? */
static bool has_split(const char *path)
{
	const char *slash;

	for (; (slash = strchr(path, '/')); path = slash + 1)
		if (split_is_word(path, (size_t)(slash - path)))
			return true;
	return false;
}

/*
 * The rest of a key behind the split; of one that has no directory of any split all that
 * counts, where the map's own name says the split: "cat/1.jpg" in train.lst. NULL: the key is
 * of another split.
 */
static const char *rest_of(const struct name_map_item *item, const struct view_map *from,
			   const char *split)
{
	const char *rest = path_after_split(item->key, split);
	char said[SPLIT_BYTES];

	if (rest || has_split(item->key) || !split_of_path(from->path, said))
		return rest;
	return split_is_same(said, strlen(said), split, strlen(split)) ? last_two(item->key) : NULL;
}

static int view_maps_add_key(struct view *view, struct array *array, size_t map,
			     size_t i)
{
	const struct view_map *from = &view->config.names[map];
	struct map_key key = { .item = name_map_get(from->map, i), .map_path = from->path };

	key.rest = *array->split ?
		rest_of(key.item, from, filename_of(array->split)) : last_two(key.item->key);
	if (!key.rest)
		return 0;
	view->map_used[map] = true;
	return vec_push(&array->keys, key);
}

/* Without splits it is the map with as many names as there are rows. */
static bool map_may_fit(const struct view *view, const struct array *array, size_t map)
{
	return *array->split || view->config.name_count == 1 ||
	       name_map_count(view->config.names[map].map) == array->rows;
}

static int add_keys_of_map(struct view *view, struct array *array, struct error *e)
{
	for (size_t m = 0; m < view->config.name_count; m++) {
		size_t n = name_map_count(view->config.names[m].map);

		for (size_t i = 0; i < n && map_may_fit(view, array, m); i++)
			if (view_maps_add_key(view, array, m, i) < 0)
				return error_no_memory(e, NULL);
	}
	return 0;
}

/* ---- Do they fit? ---- */

static int check_count(const struct array *array, struct error *e)
{
	if (array->keys.count == array->rows)
		return 0;
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s has %zu names for '/%.100s', whose array '%.100s' has %" PRIu64
			 " rows; is it the map of another dataset?",
			 array->keys.items[0].map_path, array->keys.count, array->split,
			 array->name, array->rows);
}

/* The first row on which the map and the dataset do not agree. */
static int view_maps_check_labels(const struct array *array, struct error *e)
{
	struct rows rows = { .array = array };
	struct row row;

	while (array->numbered && view_next_row(&rows, &row)) {
		const struct name_map_item *item = row.key->item;

		if (item->class_name || item->label == row.sample.label ||
		    (item->label < 0 && row.sample.label < 0))
			continue;
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s says of row %" PRIu64 " of '/%.100s', '%.300s', that its "
				 "label is %" PRId64 ", and '%.100s' that it is %" PRId64
				 "; is it the map of another dataset?",
				 row.key->map_path, row.number, array->split, item->key,
				 item->label, array->source, row.sample.label);
	}
	return 0;
}

/* ---- Rows that have names in the file ---- */

/* The item of a map for a row, if it is one of the row's split; NULL: there is none. */
static const struct name_map_item *view_maps_item_of(const struct name_map *map,
						     const struct array *array,
						     const char *name, bool alone)
{
	const struct name_map_item *item = name_map_find(map, name);

	if (!item)
		item = name_map_find_stem(map, name);
	if (!item || !map_directories_agree(item->key, name) ||
	    (!alone && !strchr(item->key, '/')))
		return NULL;
	if (*array->split && strchr(item->key, '/') &&
	    !path_after_split(item->key, filename_of(array->split)))
		return NULL;
	return item;
}

/* Of names only if the dataset has both: "n01440764" and "tench" may be one class. */
static bool contradicts(const struct name_map_item *item, const struct array *array,
			const struct row *row)
{
	const char *text = view_class_text(array, row);
	int64_t label;

	if (item->class_name && text)
		return strcmp(item->class_name, text) != 0 && array->texts.count &&
		       bsearch(&item->class_name, array->texts.items, array->texts.count,
			       sizeof(text), view_compare_texts);
	return !item->class_name && !text && array->numbered && item->label >= 0 &&
	       view_label(array, row, &label) && label >= 0 && item->label != label;
}

static int refuse_label(const struct view_map *map, const struct name_map_item *item,
			const struct array *array, const struct row *row, struct error *e)
{
	const char *text = view_class_text(array, row);
	char says[100], has[100];

	snprintf(says, sizeof(says), "%" PRId64, item->label);
	snprintf(has, sizeof(has), "%" PRId64, row->sample.label);
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s says of '%.300s' in '/%.100s' that its label is '%.80s', and "
			 "'%.100s' of %.300s that it is '%.80s'; is it the map of another "
			 "dataset?", map->path, row->sample.name, array->split,
			 item->class_name ? item->class_name : says, array->source,
			 array->path, text ? text : has);
}

static int compare_array(const struct array *array, const struct view_map *map, bool alone,
			 struct error *e)
{
	struct rows rows = { .array = array };
	struct row row;

	while (view_next_row(&rows, &row)) {
		const struct name_map_item *item =
			row.sample.name ? view_maps_item_of(map->map, array,
							     row.sample.name, alone)
					 : NULL;

		if (item && contradicts(item, array, &row))
			return refuse_label(map, item, array, &row, e);
	}
	return 0;
}

int view_compare_maps(const struct view *view, struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < view->arrays.count && !err; i++) {
		const struct array *array = &view->arrays.items[i];

		if (array->named == 0 || !array->source)
			continue;
		for (size_t m = 0; m < view->config.name_count && !err; m++)
			err = compare_array(array, &view->config.names[m],
					    view->arrays.count == 1, e);
	}
	return err;
}

/* ---- What labels are called ---- */

/* A label and the directory that a key of it is in. */
struct view_maps_place {
	int64_t label;
	const char *text;
	size_t length;
	const struct map_key *key;
};

struct places {
	VEC(struct view_maps_place) items;
	size_t compact_at;
};

static int view_maps_compare_texts(const struct view_maps_place *a,
				   const struct view_maps_place *b)
{
	size_t n = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->text, b->text, n);

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int view_maps_compare_places(const void *left, const void *right)
{
	const struct view_maps_place *a = left, *b = right;

	if (a->label != b->label)
		return a->label < b->label ? -1 : 1;
	return view_maps_compare_texts(a, b);
}

static struct view_maps_place view_maps_place_of(const struct map_key *key, int64_t label)
{
	const char *slash = strrchr(key->rest, '/'), *text = slash;

	if (key->item->class_name)
		return (struct view_maps_place){ label, key->item->class_name,
				       strlen(key->item->class_name), key };
	while (text && text > key->rest && text[-1] != '/')
		text--;
	return (struct view_maps_place){ label, text, text ? (size_t)(slash - text) : 0,
					 key };
}

static int view_maps_collect_places(const struct array *array, struct places *places)
{
	struct rows rows = { .array = array };
	struct row row;

	while (view_next_row(&rows, &row)) {
		struct view_maps_place place;
		int64_t label;

		if (!view_label(array, &row, &label))
			continue;
		place = view_maps_place_of(row.key, label);
		if (place.length == 0)
			continue;
		places->items.count = unique_compact(places->items.items,
						     places->items.count,
						     sizeof(place),
						     view_maps_compare_places,
						     &places->compact_at);
		if (vec_push(&places->items, place) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int refuse_two(const struct view_maps_place *a, const struct view_maps_place *b,
		      struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s: label %" PRId64 " is called '%.*s' (%.300s) and '%.*s' (%.300s); "
			 "correct the map, or name the classes with -o classes=",
			 a->key->map_path, a->label, (int)(a->length < 60 ? a->length : 60),
			 a->text, a->key->item->key, (int)(b->length < 60 ? b->length : 60),
			 b->text, b->key->item->key);
}

static int name_places(struct view *view, const struct places *places, struct error *e)
{
	const struct view_maps_place *items = places->items.items;

	for (size_t i = 0; i < places->items.count; i++) {
		struct label_name name = { .label = items[i].label };

		if (i && items[i - 1].label == items[i].label)
			return refuse_two(&items[i - 1], &items[i], e);
		name.name = arena_copy(&view->arena, items[i].text, items[i].length);
		if (!name.name || vec_push(&view->key_names, name) < 0)
			return error_no_memory(e, NULL);
	}
	return 0;
}

/* From the directories of all keys, whichever split they are of. */
static int learn_names(struct view *view, struct error *e)
{
	struct places places = { VEC_INIT, UNIQUE_COMPACT_AT };
	int err = 0;

	for (size_t i = 0; i < view->arrays.count && !err; i++) {
		const struct array *array = &view->arrays.items[i];

		if (array->keys.count && view_maps_collect_places(array, &places) < 0)
			err = error_no_memory(e, NULL);
	}
	places.items.count =
		unique_sort(places.items.items, places.items.count,
			    sizeof(*places.items.items), view_maps_compare_places);
	if (!err)
		err = name_places(view, &places, e);
	vec_free(&places.items);
	return err;
}

/* ---- Which arrays ---- */

bool view_split_has_labels(const struct view *view, size_t first, size_t *end)
{
	const struct array *items = view->arrays.items;
	bool found = false;

	for (*end = first; *end < view->arrays.count; ++*end) {
		if (strcmp(items[*end].split, items[first].split) != 0)
			break;
		found |= items[*end].source != NULL;
	}
	return found;
}

bool view_wants_keys(const struct array *array, bool labels)
{
	if (array->rows == 0 || array->named || (array->source && !array->numbered))
		return false;
	return array->source || !labels;
}

int view_match_maps(struct view *view, struct error *e)
{
	bool labels = false;
	size_t end = 0;
	int err = 0;

	for (size_t i = 0; i < view->arrays.count && !err; i++) {
		struct array *array = &view->arrays.items[i];

		if (i == end) /* they are sorted by their splits */
			labels = view_split_has_labels(view, i, &end);
		if (!view_wants_keys(array, labels))
			continue;
		err = add_keys_of_map(view, array, e);
		if (!err && array->keys.count)
			err = check_count(array, e);
		if (!err && array->keys.count)
			err = view_maps_check_labels(array, e);
	}
	/* with a list, what the keys say is not asked for */
	if (!err && !view->config.classes)
		err = learn_names(view, e);
	return err;
}
