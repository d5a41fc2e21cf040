/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_directory.h: the Arrow files of a directory that Hugging Face's save_to_disk()
 * wrote.
 *
 * state.json of a Dataset lists its files, in order, and those of the numbers of its
 * rows; dataset_dict.json of a DatasetDict its splits, a directory each. datasets 1.x
 * wrote dataset.arrow, and beside it indices.arrow where rows were chosen: then the table
 * may have rows of other splits. Facts: arrow_dataset.py and dataset_dict.py of
 * huggingface/datasets.
 *
 * The caller reads these files with its own rights, which may be root's; a child without
 * rights parses them (source/json_names.h).
 *
 * Threads: as json_names.h.
 */
#ifndef GRANARY_SOURCE_SAVED_DIRECTORY_H
#define GRANARY_SOURCE_SAVED_DIRECTORY_H

#include "source/json_names.h"

/*
 * Appends the files of the directory: 1. 0: save_to_disk() did not write the directory.
 * Or -EBADMSG and *e if such a file is damaged, or -ENOMEM.
 */
int saved_directory_list(const char *directory, size_t *left, struct path_list *list,
		      struct error *e);

/*
 * Appends the files of row numbers beside a file "dataset.arrow": those of state.json, or
 * without one indices.arrow, if it exists. 0, or as above.
 */
int saved_indices_list(const char *path, size_t *left, struct path_list *list,
		       struct error *e);

#endif
