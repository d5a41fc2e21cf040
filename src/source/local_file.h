/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * local_file.h: sources that are local files or block devices. Private to source/.
 */
#ifndef GRANARY_SOURCE_LOCAL_FILE_H
#define GRANARY_SOURCE_LOCAL_FILE_H

#include "source/source.h"

/* Opens `path` and describes it; the caller closes the descriptor. */
int file_open(const char *path, int *fd, struct source_info *info, struct error *e);

/* Describes what is open already, and has it closed on exec. */
int file_adopt(const char *path, int fd, struct source_info *info, struct error *e);

/* Describes an open file as it is now: 0 or a negative errno. */
int file_describe(int fd, struct source_info *info);

/* The absolute path of an open file; NULL where it is not known. The caller frees it. */
char *file_place(int fd);

/* lseek(2) with SEEK_DATA; `offset` where that is not known. */
uint64_t file_next_data(int fd, uint64_t offset, uint64_t size);

#endif
