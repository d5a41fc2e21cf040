/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out_folder.h: the folders in which packed files are made, each resolved once.
 *
 * Packing takes hours, and another user who owns the folder may replace it meanwhile. So
 * a folder is opened for its first file; all files in it are made, read and removed below
 * that descriptor.
 *
 * Threads: out_folder by one; a signal handler may call out_folder_opened.
 */
#ifndef GRANARY_PACKER_OUT_FOLDER_H
#define GRANARY_PACKER_OUT_FOLDER_H

#include <stdbool.h>

#include "base/error.h"

/*
 * The folder of `path`, for openat(2) and the like, which take filename_of(path). An
 * O_PATH descriptor that stays open until out_folder_close_all, or a negative errno and,
 * where `e` is given, a sentence.
 */
int out_folder(const char *path, struct error *e);

/* The same if the folder is already open; else -1. */
int out_folder_opened(const char *path);

/* Does anything exist at this path? */
bool out_folder_has(const char *path);

/* Removes a file: 0 or a negative errno. */
int out_folder_unlink(const char *path);

/* Opens a file; a symbolic link is not followed. A descriptor or a negative errno. */
int out_folder_open(const char *path, int flags);

/* Closes all folders. */
void out_folder_close_all(void);

#endif
