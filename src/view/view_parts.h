/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view_parts.h: what the parts of a view share. Private to view/.
 */
#ifndef GRANARY_VIEW_VIEW_PARTS_H
#define GRANARY_VIEW_VIEW_PARTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"
#include "labels/spellings.h"
#include "view/view.h"

enum { VIEW_COMPONENT_BYTES = 255 }; /* of a path, at most */

/* The part of an array in one shard. */
struct view_piece {
	const char *path; /* of the shard */
	const struct sample_group *group; /* number `number` of samples */
	struct samples *samples;
	size_t number;
};

/* The key of a row in a map. */
struct map_key {
	const struct name_map_item *item;
	const char *rest;     /* of its path, behind the split: "n01440764/x.JPEG" */
	const char *map_path; /* for messages */
};

/* The name of a label's directory. */
struct label_name {
	int64_t label;
	const char *name; /* in the view's arena, or as long as the view */
};

enum form {
	FORM_ROWS,    /* <split>/<array>/<row> */
	FORM_NAMES,   /* <split>/<name> */
	FORM_CLASSES, /* <split>/<class>/<name or row> */
};

/* The prefix of a name that makes it unique. */
enum prefix {
	PREFIX_NONE,
	PREFIX_STEM, /* the row of the first that has this stem: what lies beside an image
			still does */
	PREFIX_ROW,
};

enum names_from { NAMES_ARE_NUMBERS, NAMES_OF_LIST, NAMES_OF_KEYS, NAMES_OF_FILE };

struct array {
	const char *split;  /* "train" */
	const char *name;   /* "images" */
	const char *source; /* of the labels: "targets"; NULL: there are none */
	const char *path;   /* of the first shard that has some of it */
	VEC(struct view_piece) pieces;
	uint64_t rows;
	bool in_words;      /* source is no array of the split */
	bool labels_differ; /* shards have them in different places: none is taken */
	bool one_class;     /* the group says the class of all its samples */
	bool numbered;      /* the dataset has labels that are numbers */
	bool below_zero;    /* labels below 0 are classes: -1 and 1 */
	uint64_t unlabelled; /* rows with no label, beside the directories of classes */
	uint64_t named;     /* rows that have a name, */
	bool directories;   /* and some of them directories, */
	bool class_directories; /* which are those of the classes */
	uint64_t unusable;  /* rows whose name can be no file's */
	VEC(int64_t) labels;          /* numbers; once sealed: each once, in order */
	VEC(const char *) texts;      /* classes that are no numbers; the same */
	const struct spellings *spellings; /* of all arrays; NULL: not looked for yet */
	VEC(struct label_name) names; /* of all labels, in order; none: they are numbers */
	enum names_from names_from;
	VEC(struct map_key) keys;     /* one a row, or none */
	enum form form;
	enum prefix prefix;
	const char *directory; /* once sealed: what the files are below */
	uint64_t next_row;     /* applied */
};

struct view {
	struct view_config config;
	struct arena arena; /* the texts of arrays */
	VEC(struct array) arrays; /* once sealed: each once, in order */
	VEC(int64_t) labels; /* once sealed: of all arrays in classes, each once, in order */
	struct spellings spellings;
	VEC(struct label_name) key_names; /* what the keys of maps say of labels */
	size_t classes;      /* directories, and how many of them have a name */
	size_t named_classes;
	bool has_texts;      /* and some of these no number */
	bool has_0;          /* some row has the label 0 */
	int label_digits, row_digits;
	bool *map_used;      /* one a map */
	bool classes_used;
};

/* A row of an array, and what is known of it. */
struct row {
	const struct sample_group *group;
	struct sample sample;
	const struct map_key *key; /* or NULL */
	uint64_t number;
	size_t piece;
};

struct rows {
	const struct array *array;
	size_t piece;
	uint64_t at, number;
};

/* Goes through all rows of an array that are shown, from { .array = array } on. */
bool view_next_row(struct rows *rows, struct row *out);

/* The text that is the row's class, or NULL: then it is its label, if it has one. */
const char *view_class_text(const struct array *array, const struct row *row);
bool view_label(const struct array *array, const struct row *row, int64_t *label);

/* Its name, as it was given; NULL: it has none. */
const char *view_row_name(const struct array *array, const struct row *row);

/* ---- view_text.c: names that can be those of files ---- */

/* A component that is made of `text`; false where none can be. */
bool view_safe_component(const char *text, char out[VIEW_COMPONENT_BYTES + 1]);

/* "a/b.jpg" without what leads elsewhere; false where nothing is left, or too much. */
enum { VIEW_PATH_BYTES = 4096 };
bool view_safe_path(const char *text, char out[VIEW_PATH_BYTES]);

/* ---- view_classes.c: what classes are called ---- */

int view_compare_texts(const void *left, const void *right); /* of pointers to them */

/* Collects labels and texts of all arrays. 0 or -ENOMEM. */
int view_collect_classes(struct view *view);

/* Texts that are numbers, of which some are fractions, are no classes. */
void view_drop_fractions(struct view *view);

/* Texts of one number in several spellings are one class. 0 or -ENOMEM. */
int view_join_spellings(struct view *view);

/* Gives all of them names: 0, -ENOMEM, or -EBADMSG and a sentence. */
int view_name_classes(struct view *view, struct error *e);

/* The directory of this row's class; `out` may be used for it. NULL: none. */
const char *view_class_directory(const struct view *view, const struct array *array,
				 const struct row *row, char out[VIEW_COMPONENT_BYTES + 1]);

/* ---- view_label_order.c ---- */

/*
 * A loader numbers the class directories that it finds: adds where these numbers are not
 * the labels to the findings.
 */
void view_report_label_order(const struct view *view);

/* ---- view_directories.c ---- */

/*
 * Has each class a directory in the names of its samples, and no other is in that? 1, 0,
 * or -ENOMEM. *several: all names have directories, and more than one.
 */
int view_directories_are_classes(const struct array *array, bool *several);

/* ---- view_maps.c: what -o names= says ---- */

/* Gives rows their keys: 0, -ENOMEM, or -EBADMSG and a sentence. */
int view_match_maps(struct view *view, struct error *e);

/*
 * Rows with names of their own have labels, too: 0, or -EBADMSG and a sentence where a map
 * says another of such a name. Once all classes have been collected.
 */
int view_compare_maps(const struct view *view, struct error *e);

/* Has an array of the split that begins there labels? Where the next one begins. */
bool view_split_has_labels(const struct view *view, size_t first, size_t *end);

/*
 * Are this array's rows asked for in maps? Of a split's arrays those with labels have
 * names, or all if none has.
 */
bool view_wants_keys(const struct array *array, bool labels);

/* ---- view_paths.c: the paths of rows ---- */

/* Decides which names of an array need something before them. 0 or -ENOMEM. */
int view_choose_prefix(const struct view *view, struct array *array);

/* The paths of an array's rows, one after the other. */
struct naming {
	const struct view *view;
	const struct array *array;
	char *path;   /* the last that was made */
	size_t room;
	/* with PREFIX_STEM: where names with this stem began */
	const char *stem;
	size_t stem_length, stem_piece;
	uint64_t stem_row;
	const char *stem_class;
};

int view_begin_naming(const struct view *view, const struct array *array,
		      struct naming *out);
void view_end_naming(struct naming *naming);
void view_write_path(struct naming *naming, const struct row *row);

#endif
