/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * landing.h: files that appear in a directory whole or not at all, and nowhere else.
 *
 * Every folder is reached from the destination's descriptor, component after component,
 * and none of them may be a symbolic link (O_NOFOLLOW): whatever lies there already, or
 * has been made from the same archive, nothing leads out. Names have been checked
 * (select.h): none holds a slash, and none is `..`.
 *
 * Threads: a landing may be shared; a struct landing_cursor belongs to one.
 */
#ifndef GRANARY_TOOL_LANDING_H
#define GRANARY_TOOL_LANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "select.h"
#include "base/error.h"

/* What becomes of a file that is there already. */
enum landing_existing { EXISTING_REFUSE, EXISTING_SKIP, EXISTING_REPLACE };

struct landing {
	int root;              /* of the destination */
	bool made;             /* it was not there before */
	enum landing_existing existing;
	const struct selection *selection;
	VEC(bool) made_folders; /* by number: was it not there before? */
};

/* Opens the destination, and makes it if only its last component is missing. */
int landing_open(struct landing *landing, const char *destination,
		 const struct selection *selection, enum landing_existing existing,
		 struct error *e);
void landing_close(struct landing *landing);

/* The folder that was opened last: many files lie in the same. */
struct landing_cursor {
	const struct landing *landing;
	int fd;
	uint32_t folder;
};

#define LANDING_CURSOR(l) { .landing = (l), .fd = -1 }

/*
 * A descriptor of the folder, which the cursor keeps; or a negative errno: -ELOOP or
 * -ENOTDIR where something is in the way.
 */
int landing_folder(struct landing_cursor *cursor, uint32_t folder);
void landing_leave(struct landing_cursor *cursor);

/* Makes a folder, with no rights for others yet; its parent is there. 0 or -errno. */
int landing_make_folder(struct landing *landing, struct landing_cursor *cursor,
			uint32_t folder);

/* A file that nobody sees yet, or under a name that nobody looks for. */
struct landing_file {
	int fd;
	int directory;      /* the cursor's */
	char temporary[64]; /* "": it has no name at all */
};

/*
 * Begins a file in the cursor's folder. -EEXIST where there is one and it may not be
 * replaced: looked for before anything is written.
 */
int landing_begin(const struct landing *landing, int directory, const char *name,
		  struct landing_file *file);

/* Gives it its name; either way what was temporary is gone. 0 or -errno, as above. */
int landing_publish(const struct landing *landing, struct landing_file *file,
		    const char *name);

/* Throws it away. */
void landing_drop(struct landing_file *file);

/* The same for what is no file. `from` is the folder of `first`. */
int landing_symlink(const struct landing *landing, int directory, const char *name,
		    const char *target);
/* -EPERM where `first` is not as `st` says: it is another's, left from before. */
int landing_link(const struct landing *landing, int from, const char *first,
		 const struct tree_stat *st, int directory, const char *name);

#endif
