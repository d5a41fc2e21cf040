/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_file.h: opens an index by its path.
 *
 * Its card is checked first, with a few small reads. The whole file is copied once, when
 * it is used, and the copy is checked again, since the file may have changed meanwhile.
 */
#ifndef GRANARY_PLACE_INDEX_FILE_H
#define GRANARY_PLACE_INDEX_FILE_H

#include "base/error.h"
#include "index/card.h"
#include "index/index.h"

struct index_file;

/* Opens the file and reads its card: 0, or a negative errno and *e with the path. */
int index_file_open(const char *path, struct index_file **out, struct error *e);
void index_file_close(struct index_file *file);

/* The same file, which then is to be closed once more. */
struct index_file *index_file_share(struct index_file *file);

/* Live as long as the file. */
const struct card *index_file_card(const struct index_file *file);
const struct source *index_file_source(const struct index_file *file);

/*
 * Reads the whole file into memory (source/load.h), and opens that (index_open_memory):
 * 0, or a negative errno and *e with the path.
 */
int index_file_load(const struct index_file *file, struct index **out, struct error *e);

/* index_file_open and index_file_load. */
int index_open(const char *path, struct index **out, struct error *e);

#endif
