/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maps/class_rows.h"
#include "base/pickle.h"
#include "maps/class_text.h"
#include "maps/maps_pairs.h"
#include "maps/maps_texts.h"
#include "maps/name_map.h"

struct class {
	int64_t label;
	const char *name;
	size_t place; /* in the file */
};

struct class_list {
	const char *path; /* for messages, while it is read */
	const char *unit;
	VEC(struct class) items; /* once read: in the order of the labels */
	struct map_texts names;
	struct class_text_reading reading;
	bool ordered; /* it says no labels: they are the names' places */
};

static int class_list_refuse_pair(const struct class_list *list,
				  const struct map_pair *pair, const char *what,
				  struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG, "%s: %s %zu: %s", list->path,
			 pair->unit, pair->place, what);
}

/* The label is one of the two, {"0": "tench"} or {"tench": 0}, or the place in a list. */
static int add_class_pair(struct class_list *list, const struct map_pair *pair,
			  struct class *class, struct map_value *name, struct error *e)
{
	const struct map_value *key = &pair->key, *value = &pair->value;

	*name = *value;
	if (key->kind == MAP_NOTHING && value->kind == MAP_TEXT) {
		class->label = (int64_t)pair->order;
		list->ordered = true;
		return 0;
	}
	if (value->kind == MAP_TEXT) {
		class->label = key->number;
		if (key->kind == MAP_NUMBER ||
		    (key->kind == MAP_TEXT &&
		     map_parse_number(key->text, key->size, &class->label)))
			return 0;
		/* {"tench": "0"} */
		if (key->kind == MAP_TEXT && !value->in_list &&
		    map_parse_number(value->text, value->size, &class->label)) {
			*name = *key;
			return 0;
		}
		return class_list_refuse_pair(
			list, pair,
			"neither its key nor its value is a number: a "
			"class list says which label has which name",
			e);
	}
	if (value->kind == MAP_NUMBER && key->kind == MAP_TEXT && !value->in_list) {
		*name = *key;
		class->label = value->number;
		return 0;
	}
	return class_list_refuse_pair(
		list, pair,
		"is not the name of a class; a class list is text, one "
		"class a line, or a list, or a dict of labels and names",
		e);
}

/* The line of titles of ILSVRC's LOC_val_solution.csv and its like. */
static bool begins_a_table(const struct map_pair *pair, const struct map_value *name)
{
	static const char title[] = "ImageId,";

	return pair->place == 1 && name->size >= sizeof(title) - 1 &&
	       memcmp(name->text, title, sizeof(title) - 1) == 0;
}

static int class_list_add_class(void *context, const struct map_pair *pair,
				struct error *e)
{
	struct class_list *list = context;
	struct class class = { .place = pair->place };
	struct map_value name;
	const char *fault;
	int err = add_class_pair(list, pair, &class, &name, e);

	if (err)
		return err;
	if (begins_a_table(pair, &name))
		return class_list_refuse_pair(list, pair,
					      "a table of files is no list of classes; "
					      "give it to names=",
					      e);
	/* "n01440764 tench, Tinca tinca" of LOC_synset_mapping.txt */
	if (class_wnid_length(name.text, name.size))
		name.size = class_wnid_length(name.text, name.size);
	fault = map_class_fault(name.text, name.size);
	if (fault) {
		char what[400];

		snprintf(what, sizeof(what), "the class '%.*s' %s",
			 name.size > 200 ? 200 : (int)name.size, name.text, fault);
		return class_list_refuse_pair(list, pair, what, e);
	}
	list->unit = pair->unit;
	class.name = map_texts_intern(&list->names, name.text, name.size);
	if (!class.name || vec_push(&list->items, class) < 0)
		return error_no_memory(e, list->path);
	return 0;
}

static int class_list_by_label(const void *left, const void *right)
{
	const struct class *a = left, *b = right;

	return a->label == b->label ? (a->place > b->place) - (a->place < b->place) :
				      (a->label > b->label) - (a->label < b->label);
}

static int class_list_by_name(const void *left, const void *right)
{
	const struct class *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : class_list_by_label(left, right);
}

/* Two classes of one name would lie in one directory, and ImageFolder count one less. */
static int class_list_check_names(const struct class_list *list, struct error *e)
{
	const struct class *items = list->items.items;

	for (size_t i = 1; i < list->items.count; i++)
		if (items[i].label != items[i - 1].label &&
		    strcmp(items[i].name, items[i - 1].name) == 0)
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "%s: %s %zu and %s %zu: "
					 "labels %" PRId64 " and %" PRId64
					 " are both called "
					 "'%.200s'; give them two names",
					 list->path, list->unit, items[i - 1].place,
					 list->unit, items[i].place, items[i - 1].label,
					 items[i].label, items[i].name);
	return 0;
}

/* A label that comes twice with one name counts once. */
static int class_list_check_labels(struct class_list *list, struct error *e)
{
	struct class *items = list->items.items;
	size_t kept = 0;

	for (size_t i = 0; i < list->items.count; i++) {
		if (i == 0 || items[i].label != items[kept - 1].label)
			items[kept++] = items[i];
		else if (items[i].name != items[kept - 1].name)
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "%s: %s %zu: label %" PRId64
					 " is called '%.200s' here and '%.200s' before; "
					 "remove one of the two",
					 list->path, list->unit, items[i].place,
					 items[i].label, items[i].name,
					 items[kept - 1].name);
	}
	list->items.count = kept;
	return 0;
}

static int class_list_check_classes(struct class_list *list, struct error *e)
{
	int err;

	if (list->items.count == 0)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: it is empty; a class list "
				 "has one class a line",
				 list->path);
	qsort(list->items.items, list->items.count, sizeof(*list->items.items),
	      class_list_by_name);
	err = class_list_check_names(list, e);
	if (err)
		return err;
	qsort(list->items.items, list->items.count, sizeof(*list->items.items),
	      class_list_by_label);
	return class_list_check_labels(list, e);
}

static int class_list_visit_text(struct class_list *list, struct map_input *input,
				 struct error *e)
{
	char *buffer;
	int err = map_decode_text(input, &buffer, e);

	if (!err && map_are_records(input))
		err = map_visit_records(input, e);
	else if (!err && map_is_json(input))
		err = map_visit_json(input, e);
	else if (!err)
		err = map_visit_class_text(input, &list->reading, e);
	free(buffer);
	return err;
}

int class_list_read(const void *bytes, size_t n, const char *path,
		    struct class_list **out, struct error *e)
{
	struct class_list *list = calloc(1, sizeof(*list));
	struct map_input input = { .bytes = bytes, .n = n, .path = path, .classes = true,
				   .visit = class_list_add_class };
	int err;

	*out = NULL;
	if (!list)
		return error_no_memory(e, path);
	list->path = path;
	input.context = list;
	if (pickle_detect(bytes, n))
		err = map_visit_pickle(&input, e);
	else
		err = class_list_visit_text(list, &input, e);
	if (!err)
		err = class_list_check_classes(list, e);
	if (err)
		class_list_free(list);
	else
		*out = list;
	return err;
}

void class_list_free(struct class_list *list)
{
	if (!list)
		return;
	vec_free(&list->items);
	map_texts_free(&list->names);
	free(list);
}

size_t class_list_count(const struct class_list *list)
{
	return list->items.count;
}

static int seek_label(const void *key, const void *item)
{
	int64_t label = *(const int64_t *)key,
		there = ((const struct class *)item)->label;

	return (label > there) - (label < there);
}

const char *class_list_name(const struct class_list *list, int64_t label)
{
	const struct class *found = bsearch(&label, list->items.items, list->items.count,
					    sizeof(*list->items.items), seek_label);

	return found ? found->name : NULL;
}

bool class_list_describe(const struct class_list *list, char *text, size_t room)
{
	const struct class_text_reading *reading = &list->reading;
	char left_out[80] = "";

	if (!reading->numbered && !reading->comments)
		return false;
	if (reading->titles || reading->comments)
		snprintf(left_out, sizeof(left_out), "%s%s%zu comment%s left out",
			 reading->titles ? "its titles" : "",
			 reading->titles && reading->comments ? " and " : "", reading->comments,
			 reading->comments == 1 ? "" : "s");
	if (reading->titles && !reading->comments)
		snprintf(left_out, sizeof(left_out), "its titles left out");
	snprintf(text, room, "%s%s%s%s; a JSON list of names, [\"a\", \"b\"], is read in its "
		 "order", reading->numbered ? "says the label of each name, and is read so" :
		 "is read as a name a line", *left_out ? " (" : "", left_out,
		 *left_out ? ")" : "");
	return true;
}

void class_list_labels(const struct class_list *list, struct class_list_labels *out)
{
	*out = (struct class_list_labels){ list->items.items[0].label,
					   list->items.items[list->items.count - 1].label,
					   list->ordered, list->unit };
}
