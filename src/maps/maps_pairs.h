/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maps_pairs.h: what the files of name_map.h hold, pair by pair, whatever they are made of.
 */
#ifndef GRANARY_MAPS_MAPS_PAIRS_H
#define GRANARY_MAPS_MAPS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "labels/spellings.h"

enum map_kind { MAP_NOTHING, MAP_TEXT, MAP_NUMBER, MAP_OTHER };

struct map_value {
	enum map_kind kind;
	const char *text; /* no NUL behind it, but one may be in it */
	size_t size;
	int64_t number;
	bool in_list; /* it is the first of a list, ["n01440764", "tench"], or one-hot */
};

/* An item of a dict, an element of a list (its key is nothing), a row of a table. */
struct map_pair {
	struct map_value key, value;
	const char *unit; /* "line", "item" */
	size_t place;     /* from 1 */
	size_t order;     /* of an element of a list, from 0 */
};

/* 0, or an errno with a sentence, at which it ends. The texts are gone when it returns.
 */
typedef int map_visit(void *context, const struct map_pair *pair, struct error *e);

enum { MAP_TITLE_BYTES = 64 };

/* What the titles of a table say besides, and nothing is made of. */
struct map_notes {
	bool splits;                 /* one is of the split of each row */
	bool chosen;                 /* labels=NAME is one of them */
	char label[MAP_TITLE_BYTES]; /* the one of the labels, */
	char rival[MAP_TITLE_BYTES]; /* and another that may be; "": none */
	char spelled[SPELLINGS_TEXT_BYTES]; /* numbers in several spellings; "": none */
	size_t hot;                  /* columns that are a class each; `rival` is one */
};

struct map_input {
	const char *bytes;
	size_t n;
	const char *path; /* for messages */
	map_visit *visit;
	void *context;
	bool classes;     /* a list of them is looked for */
	const char *labels; /* labels=NAME, or NULL */
	struct map_notes *notes; /* or NULL */
};

bool map_is_json(const struct map_input *input);

/* 0, or an errno with a sentence: -EBADMSG, -ENOMEM, or what the visitor returned. */
int map_visit_pickle(const struct map_input *input, struct error *e);

/* JSON, or where it is none: a dict or list as Python or YAML write it. */
int map_visit_json(const struct map_input *input, struct error *e);

struct text;
struct pyjson_value;

/* A value of JSON; `text` may hold it, until the next one. -ENOMEM, or -EBADMSG. */
int map_read_json(const struct map_input *input, struct text *text,
		  const struct pyjson_value *json, struct map_value *out, struct error *e);

/* JSON objects, a row each: lines of them, or (of files, not of classes) a list. */
bool map_are_records(const struct map_input *input);
int map_visit_records(const struct map_input *input, struct error *e);

/* Rows of a table with a name and a label each: CSV, tabs, or "name label". */
int map_visit_table(const struct map_input *input, struct error *e);

/*
 * Text as UTF-8, without the mark at its beginning. Refuses what is no text. *buffer is
 * what it lies in, or NULL; the caller frees it in any case.
 */
int map_decode_text(struct map_input *input, char **buffer, struct error *e);

/* Refuses the input for what is in a line: -EBADMSG. */
int map_refuse_line(const struct map_input *input, size_t line, const char *what,
		    struct error *e);

/* The line, from 1, in which a byte of the input is. */
size_t map_line_of(const struct map_input *input, const char *at);

/* A whole number that is written out, as an integer or a float, and nothing else. */
bool map_parse_number(const char *text, size_t size, int64_t *out);

#endif
