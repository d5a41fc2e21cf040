/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * landing.h: makes files in a directory, each whole or not at all, and nowhere else.
 *
 * Each folder is opened from the destination's descriptor, component after component,
 * with O_NOFOLLOW. So no link leads out, neither an old one nor one of the same archive.
 * select.h has checked names: none holds a slash, and none is `..`.
 *
 * Threads: a landing may be shared; a struct landing_cursor belongs to one.
 */
#ifndef GRANARY_TOOL_LANDING_H
#define GRANARY_TOOL_LANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "select.h"
#include "base/error.h"

/* For a file that exists already. */
enum landing_existing { EXISTING_REFUSE, EXISTING_SKIP, EXISTING_REPLACE };

struct landing {
	int root;              /* the destination's descriptor */
	bool made;             /* by landing_open */
	enum landing_existing existing;
	const struct selection *selection;
	VEC(bool) made_folders; /* by number: made here */
};

/* Opens the destination, and makes it if only its last component is missing. */
int landing_open(struct landing *landing, const char *destination,
		 const struct selection *selection, enum landing_existing existing,
		 struct error *e);
void landing_close(struct landing *landing);

/* The folder that was opened last: the next file often lies in the same. */
struct landing_cursor {
	const struct landing *landing;
	int fd;
	uint32_t folder;
};

#define LANDING_CURSOR(l) { .landing = (l), .fd = -1 }

/*
 * A descriptor of the folder, owned by the cursor, or a negative errno: -ELOOP or
 * -ENOTDIR where a link or a file has the name.
 */
int landing_folder(struct landing_cursor *cursor, uint32_t folder);
void landing_leave(struct landing_cursor *cursor);

/* Makes a folder with mode 0700. Its parent must exist. 0 or -errno. */
int landing_make_folder(struct landing *landing, struct landing_cursor *cursor,
			uint32_t folder);

/* A file without a name, or with a temporary one. */
struct landing_file {
	int fd;
	int directory;      /* the cursor's */
	char temporary[64]; /* "": it has no name */
};

/*
 * Begins a file in the cursor's folder. -EEXIST, before anything is written, where a file
 * exists and may not be replaced.
 */
int landing_begin(const struct landing *landing, int directory, const char *name,
		  struct landing_file *file);

/* Names the file, and removes the temporary name in any case. 0 or -errno, as above. */
int landing_publish(const struct landing *landing, struct landing_file *file,
		    const char *name);

/* Removes the file. */
void landing_drop(struct landing_file *file);

/* As landing_publish, for links. `from` is the folder of `first`. */
int landing_symlink(const struct landing *landing, int directory, const char *name,
		    const char *target);
/* -EPERM where `first` has another size or time than `st`: it is an older file. */
int landing_link(const struct landing *landing, int from, const char *first,
		 const struct tree_stat *st, int directory, const char *name);

#endif
