/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out_directory.h: the directories in which packed files are made, each resolved once.
 *
 * Packing takes hours, and another user who owns the directory may replace it meanwhile.
 * So a directory is opened for its first file; all files in it are made, read and removed
 * below that descriptor.
 *
 * Threads: out_directory by one; a signal handler may call out_directory_opened.
 */
#ifndef GRANARY_PACKER_OUT_DIRECTORY_H
#define GRANARY_PACKER_OUT_DIRECTORY_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"

/*
 * The directory of `path`, for openat(2) and the like, which take filename_of(path). An
 * O_PATH descriptor that stays open until out_directory_close_all, or a negative errno
 * and, where `e` is given, a sentence.
 */
int out_directory(const char *path, struct error *e);

/* The same if the directory is already open; else -1. */
int out_directory_opened(const char *path);

/* As lstat(2): 0 or a negative errno. */
int out_directory_stat(const char *path, struct stat *st);

/* Does anything exist at this path? */
bool out_directory_has(const char *path);

/* Removes a file: 0 or a negative errno. */
int out_directory_unlink(const char *path);

/* Opens a file; a symbolic link is not followed. A descriptor or a negative errno. */
int out_directory_open(const char *path, int flags);

/* Closes all directories. */
void out_directory_close_all(void);

#endif
