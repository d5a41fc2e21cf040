/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_names.h: the names of files or directories that a JSON file of save_to_disk()
 * lists.
 *
 * The file may be a stranger's, and root may be the caller: so a child in the sandbox
 * (os/sandbox.h) parses it, and the caller checks each name that comes back.
 *
 * Threads: as bounded_run (os/bounded.h); the process should have one.
 */
#ifndef GRANARY_SOURCE_SAVED_NAMES_H
#define GRANARY_SOURCE_SAVED_NAMES_H

#include "base/error.h"
#include "base/vec.h"

struct path_list {
	char **items; /* owned */
	size_t count, room;
};

void path_list_free(struct path_list *list);

/*
 * The file's member `key` is a list of names, or of objects with "filename". Appends the
 * last component of each, without a slash and neither "." nor ".."; null and a missing
 * member have none. The file is read first: `text` is its `size` bytes, and `path` its name
 * in messages. 0, -EBADMSG and a sentence, or another negative errno and a sentence.
 */
int saved_names_list(const char *path, const void *text, size_t size, const char *key,
		     struct path_list *list, struct error *e);

/* -EBADMSG, and "'PATH' WHAT; " with the remedy. */
int saved_names_refuse(const char *path, const char *what, struct error *e);

#endif
