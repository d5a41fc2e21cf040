/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * safe_output.h: makes files in a directory, each whole or not at all, and nowhere else.
 *
 * Each directory is opened from the destination's descriptor, component after component,
 * with O_NOFOLLOW. So no link leads out, neither an old one nor one of the same archive.
 * select.h has checked names: none holds a slash, and none is `..`.
 *
 * Threads: a landing may be shared; a struct safe_output_cursor belongs to one.
 */
#ifndef GRANARY_TOOL_SAFE_OUTPUT_H
#define GRANARY_TOOL_SAFE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "select.h"
#include "base/error.h"

/* For a file that exists already. */
enum existing_policy { EXISTING_REFUSE, EXISTING_SKIP, EXISTING_REPLACE };

struct safe_output {
	int root;              /* the destination's descriptor */
	bool made;             /* by safe_output_open */
	enum existing_policy existing;
	const struct selection *selection;
	VEC(bool) made_directories; /* by number: made here */
};

/* Opens the destination, and makes it if only its last component is missing. */
int safe_output_open(struct safe_output *output, const char *destination,
		     const struct selection *selection, enum existing_policy existing,
		     struct error *e);
void safe_output_close(struct safe_output *output);

/* The directory that was opened last: the next file often lies in the same. */
struct safe_output_cursor {
	const struct safe_output *output;
	int fd;
	uint32_t directory;
};

#define SAFE_OUTPUT_CURSOR(l) { .output = (l), .fd = -1 }

/*
 * A descriptor of the directory, owned by the cursor, or a negative errno: -ELOOP or
 * -ENOTDIR where a link or a file has the name.
 */
int safe_output_directory(struct safe_output_cursor *cursor, uint32_t directory);
void safe_output_close_cursor(struct safe_output_cursor *cursor);

/* Makes a directory with mode 0700. Its parent must exist. 0 or -errno. */
int safe_output_make_directory(struct safe_output *output,
			       struct safe_output_cursor *cursor,
			    uint32_t directory);

/* A file without a name, or with a temporary one. */
struct safe_output_file {
	int fd;
	int directory;      /* the cursor's */
	char temporary[64]; /* "": it has no name */
};

/*
 * Begins a file in the cursor's directory. -EEXIST, before anything is written, where a
 * file exists and may not be replaced.
 */
int safe_output_begin(const struct safe_output *output, int directory, const char *name,
		      struct safe_output_file *file);

/* Names the file, and removes the temporary name in any case. 0 or -errno, as above. */
int safe_output_publish(const struct safe_output *output, struct safe_output_file *file,
			const char *name);

/* Removes the file. */
void safe_output_drop(struct safe_output_file *file);

/* As safe_output_publish, for links. `from` is the directory of `first`. */
int safe_output_symlink(const struct safe_output *output, int directory, const char *name,
			const char *target);
/* -EPERM where `first` has another size or time than `st`: it is an older file. */
int safe_output_link(const struct safe_output *output, int from, const char *first,
		     const struct tree_stat *st, int directory, const char *name);

#endif
