/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_names.h: what the rows of Arrow files are called: the classes that Hugging Face's
 * library notes, the names of samples.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_ARROW_ROW_NAMES_H
#define GRANARY_FORMAT_ARROW_ROW_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"
#include "build/samples.h"

enum { ARROW_NAME_BYTES = 255 };

/*
 * The classes of the column in the JSON that is kept under "huggingface": how many, in
 * *out and in the arena; 0: it has none. -ENOMEM, or -EBADMSG where it is no such JSON.
 */
int arrow_class_names(const char *json, size_t n, const char *column,
		      struct arena *arena, const char ***out, size_t *count);

/* How many columns are said to hold classes there; the names of the first two. */
struct arrow_class_columns {
	unsigned count;
	char names[2][ARROW_NAME_BYTES + 1];
};
void arrow_class_columns(const char *json, size_t n, struct arrow_class_columns *out);

/* The names of one group of samples, each of which may come once. */
struct arrow_names {
	struct idmap known;
	uint64_t again; /* how many came again */
	char text[2 * ARROW_NAME_BYTES];
};

void arrow_names_begin(struct arrow_names *names);
void arrow_names_end(struct arrow_names *names);

/*
 * A file's name made of the stored `path` of n bytes, which the last group of `samples`
 * does not have yet: what is behind its last slash; with the row's number before it, if
 * that came before; with the extension, if it has no suffix. NULL: it makes no name. It
 * is valid until the next call.
 */
const char *arrow_names_make(struct arrow_names *names, const struct samples *samples,
			     const char *path, size_t n, uint64_t row,
			     const char *extension);

/* Notes the name of the row that was added last. 0 or -ENOMEM. */
int arrow_names_note(struct arrow_names *names, const char *name, uint64_t row);

#endif
