/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row_names.h: names of the rows of tables: the classes that Hugging Face's
 * library notes, the names of samples.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_ROW_NAMES_H
#define GRANARY_FORMAT_ROW_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"
#include "build/samples.h"

enum { ROW_NAME_BYTES = 255 };

/*
 * The classes of the column in the JSON that is kept under "huggingface": how many, in
 * *out and in the arena; 0: it has none. -ENOMEM, or -EBADMSG where it is no such JSON.
 */
int row_names_classes(const char *json, size_t n, const char *column,
		      struct arena *arena, const char ***out, size_t *count);

/* How many columns are said to hold classes there; the names of the first two. */
struct row_class_columns {
	unsigned count;
	char names[2][ROW_NAME_BYTES + 1];
};
void row_class_columns(const char *json, size_t n, struct row_class_columns *out);

/* The names of one group of samples, each of which may come once. */
struct row_names {
	struct idmap known;
	uint64_t again; /* how many came again */
	char text[2 * ROW_NAME_BYTES];
};

void row_names_begin(struct row_names *names);
void row_names_end(struct row_names *names);

/*
 * A file's name made of the stored `path` of n bytes, which the last group of `samples`
 * does not have yet: what is behind its last slash; with the row's number before it, if
 * that came before; with the extension, if it has no suffix. NULL: it makes no name. It
 * is valid until the next call.
 */
const char *row_names_make(struct row_names *names, struct samples *samples,
			     const char *path, size_t n, uint64_t row,
			     const char *extension);

/* Notes the name of the row that was added last. 0 or -ENOMEM. */
int row_names_note(struct row_names *names, const char *name, uint64_t row);

#endif
