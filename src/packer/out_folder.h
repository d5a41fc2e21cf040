/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out_folder.h: the folders that packed files are made in, each followed once.
 *
 * A set takes hours, and its folder may be somebody else's, who puts another one in its
 * place meanwhile. So a folder is opened when the first file of it is asked for, and all
 * files of the same folder are made, looked at and removed below that descriptor.
 *
 * Threads: out_folder by one; a signal handler may call out_folder_known.
 */
#ifndef GRANARY_PACKER_OUT_FOLDER_H
#define GRANARY_PACKER_OUT_FOLDER_H

#include <stdbool.h>

#include "base/error.h"

/*
 * The folder that `path` lies in, for openat(2) and the like, which take filename_of(path):
 * an O_PATH descriptor that stays open until out_folder_forget, or a negative errno and,
 * where `e` is given, a sentence.
 */
int out_folder(const char *path, struct error *e);

/* The same of a folder that was asked for before; or -1. */
int out_folder_known(const char *path);

/* Is there a file, or anything else, of this path? */
bool out_folder_has(const char *path);

/* Removes a file: 0 or a negative errno. */
int out_folder_unlink(const char *path);

/* Opens a file for reading or for more; it is not followed where it is a link. */
int out_folder_open(const char *path, int flags);

/* The next that is asked for is opened anew. */
void out_folder_forget(void);

#endif
