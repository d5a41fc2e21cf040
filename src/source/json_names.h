/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json_names.h: the names that a JSON file beside packed files lists.
 *
 * The file may be a stranger's, and root may be the caller: so the caller only reads the
 * bytes, a child in the sandbox (os/sandbox.h) parses them, and the caller checks each name
 * that comes back.
 *
 * Threads: as bounded_run (os/bounded.h); the process should have one.
 */
#ifndef GRANARY_SOURCE_JSON_NAMES_H
#define GRANARY_SOURCE_JSON_NAMES_H

#include <stdbool.h>

#include "base/error.h"
#include "base/pyjson.h"
#include "base/vec.h"

struct path_list {
	char **items; /* owned */
	size_t count, room;
};

void path_list_free(struct path_list *list);

/* ---- The file ---- */

/* Before the first call: bytes that the files of all calls may have, a file at least 64 KiB. */
enum { JSON_BYTES_MOST = 64 << 20 };

/* A JSON file in memory. */
struct json_file {
	char *path, *text; /* owned */
	size_t size;
	bool is_empty;
};

/*
 * Reads DIRECTORY/NAME: 1; 0: there is no such file, or an empty one; or a negative errno and a
 * sentence with the remedy. To be freed in any case.
 */
int json_file_read(const char *directory, const char *name, size_t *left,
		   const char *remedy, struct json_file *out, struct error *e);
void json_file_free(struct json_file *file);

/* "DIRECTORY/NAME", which the caller frees; NULL: no memory. */
char *json_file_join(const char *directory, const char *name);

/* ---- Its names ---- */

enum json_names_fault {
	JSON_NAMES_FINE,
	JSON_NAMES_NO_OBJECT,
	JSON_NAMES_UNNAMED, /* an item has no name */
	JSON_NAMES_NO_NAME, /* one that no file has */
	JSON_NAMES_MANY,
	JSON_NAMES_FORMAT,  /* it lists files of another format */
	JSON_NAMES_MEMORY,
	JSON_NAMES_RIGHTS,
};

struct json_names;

struct json_names_kind {
	/* In the child: adds the names of the file, whose root is an object. */
	enum json_names_fault (*read)(struct json_names *names, const struct pyjson_value *root,
				      const char *key);
	const char *key;
	size_t most;                    /* of them, in a list */
	bool (*fits)(const char *name); /* in the caller: may it be one? */
	const char *remedy;             /* "name the Arrow files beside it" */
};

/* In the child: adds a string, decoded, or the text of another value; of null "". */
enum json_names_fault json_names_add(struct json_names *names, const struct pyjson_value *value);

/* The same of a string that is a path: its last component. */
enum json_names_fault json_names_add_last(struct json_names *names,
					  const struct pyjson_value *path);

/* Appends the names: 0, -EBADMSG and a sentence, or another negative errno and a sentence. */
int json_names_list(const struct json_file *file, const struct json_names_kind *kind,
		    struct path_list *list, struct error *e);

/* -EBADMSG, and "'PATH' WHAT; REMEDY". */
int json_names_refuse(const char *path, const char *what, const char *remedy, struct error *e);

#endif
