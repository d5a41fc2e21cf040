/*
 * index_file.h: an index by its path.
 */
#ifndef GRANARY_DATASET_INDEX_FILE_H
#define GRANARY_DATASET_INDEX_FILE_H

#include "tree/index.h"
#include "util/error.h"

/*
 * Reads the file once, into memory, as a source is read (source/load.h), and opens that
 * (index_open_memory): 0, or a negative errno and a sentence that names the path.
 */
int index_open(const char *path, struct index **out, struct error *e);

#endif
