/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * name_map.h: files that tell the names and classes of samples.
 *
 * A name map says of files, in the order of the rows, which label or class they have:
 * a dict[str, int] as pickle or JSON (the JSC course's imagenet_train.pkl), or a table
 * (ILSVRC's LOC_val_solution.csv). A class list says what the labels are called: text,
 * one a line, or a table with their numbers; a JSON list; data.yaml; a label map.
 *
 * The bytes are a stranger's. Nothing in them is executed: the pickle reader knows the
 * opcodes that a dict of strings and numbers needs, those of numpy, too, and refuses all
 * others.
 *
 * Threads: none; what has been read is immutable.
 */
#ifndef GRANARY_MAPS_NAME_MAP_H
#define GRANARY_MAPS_NAME_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "maps/maps_pairs.h"

struct name_map;

struct name_map_item {
	const char *key;        /* a path, as it is in the file */
	const char *class_name; /* "n03146219"; NULL: see label */
	int64_t label;          /* below 0: none */
};

/* `path` is for messages; `labels` the title of the labels' column, or NULL. -EBADMSG with a
   sentence, or -ENOMEM. The map is freed. */
int name_map_read(const void *bytes, size_t n, const char *path, const char *labels,
		  struct name_map **out, struct error *e);
void name_map_free(struct name_map *map);

/* What of its table is not used, as long as the map. */
const struct map_notes *name_map_notes(const struct name_map *map);

/* How many names have no label: empty, "nan", null, below 0, a row of zeros. */
size_t name_map_unlabelled(const struct name_map *map);

size_t name_map_count(const struct name_map *map);
const struct name_map_item *name_map_get(const struct name_map *map, size_t i);

/*
 * The item of a file of that name: what is behind the last slash of a key, with its
 * suffix or without one. NULL: none, or two that contradict each other.
 */
const struct name_map_item *name_map_find(const struct name_map *map, const char *name);

/* The same, but whatever suffixes the two have: shards say "x.jpeg" of "x.JPEG". */
const struct name_map_item *name_map_find_stem(const struct name_map *map,
					       const char *name);

/* A map that the user named, and the path that the user gave. */
struct view_map {
	const struct name_map *map;
	const char *path; /* for messages */
};

struct class_list;

int class_list_read(const void *bytes, size_t n, const char *path, struct class_list **out,
		    struct error *e);
void class_list_free(struct class_list *list);
size_t class_list_count(const struct class_list *list);

/* How its text was read, where that could be otherwise: a part of a sentence. */
bool class_list_describe(const struct class_list *list, char *text, size_t room);

/* The least and the greatest label; `ordered`: they are the places of the names. */
struct class_list_labels {
	int64_t first, last;
	bool ordered;
	const char *unit; /* what the names are in: "line", "item" */
};
void class_list_labels(const struct class_list *list, struct class_list_labels *out);

/* The name of a label, or NULL. */
const char *class_list_name(const struct class_list *list, int64_t label);

#endif
