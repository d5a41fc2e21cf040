/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/name_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/pickle.h"
#include "base/vec.h"
#include "labels/label_text.h"
#include "maps/maps_pairs.h"
#include "maps/maps_texts.h"

/* The part of a path that is compared. */
enum part { PART_ALL, PART_NAME, PART_STEM, PARTS };

struct name_map {
	const char *path; /* for messages, while it is read */
	VEC(struct name_map_item) items;
	VEC(unsigned char) contradicted; /* of an item: bit PART */
	struct idmap index[PARTS];
	struct arena keys;
	struct map_texts classes;
	bool texts, numbers; /* what the labels are */
	bool words;          /* some of the texts are no numbers, nor fractions */
	char fraction[40];   /* the place of the first text that is one, "line 3" */
	size_t unlabelled;   /* items */
	struct map_notes notes;
};

struct name_map_piece {
	const char *text;
	size_t size;
	enum part part;
	uint32_t hash; /* of find_piece */
};

/* "a/b.tar.gz": all of it, "b.tar.gz", or "b.tar"; a leading dot begins no suffix. */
static struct name_map_piece part_of(const char *path, enum part part)
{
	const char *name = part == PART_ALL ? path : filename_of(path);
	const char *dot = part == PART_STEM ? strrchr(name, '.') : NULL;

	return (struct name_map_piece){ .text = name, .part = part,
			       .size = dot && dot > name ? (size_t)(dot - name) :
							   strlen(name) };
}

static bool is_piece(const void *context, uint32_t id, const void *key)
{
	const struct name_map *map = context;
	const struct name_map_piece *wanted = key;
	struct name_map_piece there = part_of(map->items.items[id].key, wanted->part);

	return there.size == wanted->size &&
	       memcmp(there.text, wanted->text, there.size) == 0;
}

/* The number of the first item with that piece, or -1. */
static int64_t find_piece(const struct name_map *map, struct name_map_piece *wanted)
{
	struct idmap_slot *slot;

	wanted->hash = (uint32_t)hash_bytes(wanted->text, wanted->size, 0);
	slot = idmap_find(&map->index[wanted->part], wanted->hash, is_piece, map, wanted);
	return slot ? (int64_t)slot->id_plus_1 - 1 : -1;
}

static bool name_map_same_label(const struct name_map_item *a,
				const struct name_map_item *b)
{
	/* names of classes are kept once */
	return a->class_name == b->class_name && a->label == b->label;
}

static int name_map_refuse_pair(const struct name_map *map, const struct map_pair *pair,
				const char *what, struct error *e)
{
	const char *key = pair->key.kind == MAP_TEXT ? pair->key.text : "";
	int size = pair->key.kind != MAP_TEXT ? 0 :
		   pair->key.size > 200 ? 200 : (int)pair->key.size;

	return error_set(e, ERROR_DATASET, EBADMSG, "%s: %s %zu: '%.*s' %s", map->path,
			 pair->unit, pair->place, size, key, what);
}

static int name_map_refuse_contradiction(const struct name_map *map,
					 const struct map_pair *pair,
					 const struct name_map_item *a,
					 const struct name_map_item *b, struct error *e)
{
	char what[600];

	if (a->class_name && b->class_name)
		snprintf(what, sizeof(what),
			 "is of class '%.200s' here, and was of class "
			 "'%.200s' before; remove one of the two",
			 b->class_name, a->class_name);
	else
		snprintf(what, sizeof(what), "has label %" PRId64 " here, and had label %"
			 PRId64 " before; remove one of the two", b->label, a->label);
	return name_map_refuse_pair(map, pair, what, e);
}

static int name_map_check_pair(struct name_map *map, const struct map_pair *pair,
			       struct error *e)
{
	const char *fault;

	if (pair->key.kind != MAP_TEXT)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: %s %zu has no path as its "
				 "key; a map from paths to labels is needed",
				 map->path, pair->unit, pair->place);
	fault = map_path_fault(pair->key.text, pair->key.size);
	if (fault)
		return name_map_refuse_pair(map, pair, fault, e);
	if ((pair->value.in_list && pair->value.kind != MAP_NUMBER) ||
	    pair->value.kind == MAP_OTHER)
		return name_map_refuse_pair(
			map, pair, "has neither a number nor a name as its label", e);
	if (pair->value.kind == MAP_NUMBER)
		map->numbers = true;
	else if (pair->value.kind == MAP_TEXT)
		map->texts = true;
	if (map->numbers && map->texts)
		return name_map_refuse_pair(
			map, pair,
			"has a label of another kind than those before "
			"it: all must be numbers, or all names",
			e);
	return 0;
}

/* What a text in the place of a label is. */
static struct map_value read_label(struct name_map *map, const struct map_pair *pair)
{
	struct map_value value = pair->value;
	enum label_text kind = LABEL_TEXT_NAME;

	if (value.kind == MAP_TEXT)
		kind = label_text_read(value.text, value.size, &value.number);
	if (kind == LABEL_TEXT_NONE)
		value.kind = MAP_NOTHING;
	if (kind == LABEL_TEXT_HOT)
		value.kind = MAP_NUMBER;
	if (kind == LABEL_TEXT_LIST)
		value.kind = MAP_OTHER;
	if (kind == LABEL_TEXT_FRACTION && !*map->fraction)
		snprintf(map->fraction, sizeof(map->fraction), "%s %zu", pair->unit, pair->place);
	map->words |= value.kind == MAP_TEXT && kind == LABEL_TEXT_NAME;
	return value;
}

static int name_map_set_label(struct name_map *map, const struct map_pair *pair,
			      struct name_map_item *item, struct error *e)
{
	const struct map_value *value = &pair->value;
	const char *fault;

	item->label = value->kind == MAP_NUMBER ? value->number : -1;
	map->unlabelled += value->kind != MAP_TEXT && item->label < 0;
	if (value->kind != MAP_TEXT)
		return 0;
	fault = map_class_fault(value->text, value->size);
	if (fault) {
		char what[100];

		snprintf(what, sizeof(what), "has a label that %s", fault);
		return name_map_refuse_pair(map, pair, what, e);
	}
	item->class_name = map_texts_intern(&map->classes, value->text, value->size);
	return item->class_name ? 0 : error_no_memory(e, map->path);
}

static int add_pair(void *context, const struct map_pair *pair, struct error *e)
{
	struct name_map *map = context;
	struct name_map_item item = { 0 };
	struct map_pair read = *pair;
	struct name_map_piece whole;
	int64_t before;
	int err;

	read.value = read_label(map, pair);
	err = name_map_check_pair(map, &read, e);
	if (!err)
		err = name_map_set_label(map, &read, &item, e);
	if (err)
		return err;
	if (map->items.count >= INT32_MAX)
		return name_map_refuse_pair(map, pair,
					    "is beyond the 2^31 names that can be held",
					    e);
	item.key = arena_copy(&map->keys, pair->key.text, pair->key.size);
	if (!item.key)
		return error_no_memory(e, map->path);
	whole = part_of(item.key, PART_ALL);
	before = find_piece(map, &whole);
	if (before >= 0 && !name_map_same_label(&map->items.items[before], &item))
		return name_map_refuse_contradiction(map, pair, &map->items.items[before],
						     &item, e);
	if (vec_push(&map->items, item) < 0 ||
	    (before < 0 && idmap_insert(&map->index[PART_ALL], whole.hash,
					(uint32_t)map->items.count - 1) < 0))
		return error_no_memory(e, map->path);
	return 0;
}

/* A table's numbers are texts until all have been seen: "0012" may be a name. */
static int make_numbers(struct name_map *map, struct error *e)
{
	if (map->words || !map->texts)
		return 0;
	if (*map->fraction)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: %s: the label is a fraction, and all others are numbers: "
				 "values of a regression are no classes; say which column holds "
				 "classes with -o labels=NAME", map->path, map->fraction);
	for (size_t i = 0; i < map->items.count; i++) {
		struct name_map_item *item = &map->items.items[i];

		if (!item->class_name)
			continue;
		label_text_read(item->class_name, strlen(item->class_name), &item->label);
		map->unlabelled += item->label < 0;
		item->class_name = NULL;
	}
	return 0;
}

/* Names of classes that are one number are one class. */
static int join_spellings(struct name_map *map, struct error *e)
{
	const struct number_labels none = { NULL, 0 };
	struct spellings spellings;
	int err = spellings_find(map->classes.items.items,
				 map->words ? map->classes.items.count : 0, none,
				 &map->classes.arena, &spellings);

	for (size_t i = 0; i < map->items.count && spellings.items.count && !err; i++) {
		struct name_map_item *item = &map->items.items[i];
		const struct spelling *spelling =
			item->class_name ? spellings_get(&spellings, item->class_name) : NULL;

		if (spelling)
			item->class_name = spelling->class;
	}
	if (!err)
		spellings_describe(&spellings, map->notes.spelled);
	spellings_free(&spellings);
	return err ? error_no_memory(e, map->path) : 0;
}

static int index_part(struct name_map *map, enum part part)
{
	for (size_t i = 0; i < map->items.count; i++) {
		struct name_map_piece piece = part_of(map->items.items[i].key, part);
		int64_t before = find_piece(map, &piece);

		if (before < 0) {
			if (idmap_insert(&map->index[part], piece.hash, (uint32_t)i) < 0)
				return -ENOMEM;
		} else if (!name_map_same_label(&map->items.items[before],
						&map->items.items[i])) {
			map->contradicted.items[before] |= (unsigned char)(1u << part);
		}
	}
	return 0;
}

static int index_names(struct name_map *map, struct error *e)
{
	if (map->items.count == 0)
		return error_set(e, ERROR_DATASET, EBADMSG, "%s: it is empty; a map from "
				 "paths to labels is needed", map->path);
	if (vec_reserve(&map->contradicted, map->items.count) < 0)
		return error_no_memory(e, map->path);
	memset(map->contradicted.items, 0, map->items.count);
	if (index_part(map, PART_NAME) < 0 || index_part(map, PART_STEM) < 0)
		return error_no_memory(e, map->path);
	return 0;
}

static int name_map_visit_text(struct map_input *input, struct error *e)
{
	char *buffer;
	int err = map_decode_text(input, &buffer, e);

	if (!err && map_are_records(input))
		err = map_visit_records(input, e);
	else if (!err)
		err = map_is_json(input) ? map_visit_json(input, e) : map_visit_table(input, e);
	free(buffer);
	return err;
}

int name_map_read(const void *bytes, size_t n, const char *path, const char *labels,
		  struct name_map **out, struct error *e)
{
	struct name_map *map = calloc(1, sizeof(*map));
	struct map_input input = { .bytes = bytes, .n = n, .path = path, .visit = add_pair,
				   .labels = labels };
	int err;

	*out = NULL;
	if (!map)
		return error_no_memory(e, path);
	map->path = path;
	input.context = map;
	input.notes = &map->notes;
	if (pickle_detect(bytes, n))
		err = map_visit_pickle(&input, e);
	else
		err = name_map_visit_text(&input, e);
	if (!err)
		err = make_numbers(map, e);
	if (!err)
		err = join_spellings(map, e);
	if (!err)
		err = index_names(map, e);
	if (err)
		name_map_free(map);
	else
		*out = map;
	return err;
}

void name_map_free(struct name_map *map)
{
	if (!map)
		return;
	vec_free(&map->items);
	vec_free(&map->contradicted);
	for (int part = 0; part < PARTS; part++)
		idmap_free(&map->index[part]);
	arena_free(&map->keys);
	map_texts_free(&map->classes);
	free(map);
}

const struct map_notes *name_map_notes(const struct name_map *map)
{
	return &map->notes;
}

size_t name_map_unlabelled(const struct name_map *map)
{
	return map->unlabelled;
}

size_t name_map_count(const struct name_map *map)
{
	return map->items.count;
}

const struct name_map_item *name_map_get(const struct name_map *map, size_t i)
{
	return &map->items.items[i];
}

/* NULL: there is none, or others with that part say another label. */
static const struct name_map_item *name_map_item_at(const struct name_map *map,
						    int64_t found, enum part part)
{
	if (found < 0 || map->contradicted.items[found] & 1u << part)
		return NULL;
	return &map->items.items[found];
}

/*
 * The path as it is; then its name as one of a key, as a key's without its suffix, and
 * without its own suffix as that of a key that has none.
 */
const struct name_map_item *name_map_find(const struct name_map *map, const char *name)
{
	struct name_map_piece whole = part_of(name, PART_ALL),
			      last = part_of(name, PART_NAME);
	struct name_map_piece stem = part_of(name, PART_STEM);
	enum part part = PART_ALL;
	int64_t found = find_piece(map, &whole);

	if (found < 0)
		found = find_piece(map, &last), part = PART_NAME;
	if (found < 0) {
		last.part = PART_STEM;
		found = find_piece(map, &last), part = PART_STEM;
	}
	if (found < 0) {
		stem.part = PART_NAME;
		found = find_piece(map, &stem), part = PART_NAME;
	}
	return name_map_item_at(map, found, part);
}

const struct name_map_item *name_map_find_stem(const struct name_map *map,
					       const char *name)
{
	struct name_map_piece stem = part_of(name, PART_STEM);

	return name_map_item_at(map, find_piece(map, &stem), PART_STEM);
}
