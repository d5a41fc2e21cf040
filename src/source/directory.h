/* SPDX-License-Identifier: GPL-3.0-or-later */
/* directory.h: a directory that was named as a source: LMDB's, or the error for it. */
#ifndef GRANARY_SOURCE_DIRECTORY_H
#define GRANARY_SOURCE_DIRECTORY_H

#include "source/json_names.h"

/*
 * -EISDIR, and the kind of the directory by the names in it, with the remedy: how to
 * mount its packed files, which library reads such a dataset, or how to pack the
 * directory. The table is directories.def. Threads: any.
 */
int directory_refuse(const char *path, struct error *e);

/*
 * Appends the data.mdb of a directory of LMDB; or those of its directories, in the order of
 * their names, if more than half of them have one (LSUN has a database for each class). 1;
 * 0: there is none; or -ENOMEM and a sentence.
 */
int directory_list_databases(const char *path, struct path_list *list, struct error *e);

/*
 * Appends the directories in `path` that have a file of that name, in the order of their
 * names, unless half of them or more have none: 0, or -ENOMEM and a sentence. One that cannot
 * be looked into is not left out without a word: it is appended, too.
 */
int directory_list_with(const char *path, const char *name, struct path_list *list,
			struct error *e);

#endif
