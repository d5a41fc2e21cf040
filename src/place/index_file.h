/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_file.h: an index by its path.
 *
 * It is judged by its card first, which costs a few small reads. All of it is copied where
 * it is taken, once; and what is judged then is the copy, since the file may have changed
 * in between.
 */
#ifndef GRANARY_PLACE_INDEX_FILE_H
#define GRANARY_PLACE_INDEX_FILE_H

#include "base/error.h"
#include "index/card.h"
#include "index/index.h"

struct index_file;

/* Opens it, and reads its card: 0, or a negative errno and a sentence that names the path. */
int index_file_open(const char *path, struct index_file **out, struct error *e);
void index_file_close(struct index_file *file);

/* The same file, which then is to be closed once more. */
struct index_file *index_file_hold(struct index_file *file);

/* Live as long as the file. */
const struct card *index_file_card(const struct index_file *file);
const struct source *index_file_source(const struct index_file *file);

/*
 * Reads the file once, into memory, as a source is read (source/load.h), and opens that
 * (index_open_memory): 0, or a negative errno and a sentence that names the path.
 */
int index_file_load(const struct index_file *file, struct index **out, struct error *e);

/* Opens and loads it. */
int index_open(const char *path, struct index **out, struct error *e);

#endif
