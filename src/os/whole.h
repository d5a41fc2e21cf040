/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * whole.h: write(2), pwrite(2) and pread(2), as often as that takes.
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_WHOLE_H
#define GRANARY_OS_WHOLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* 0 or a negative errno, and then some of the bytes may have been written. */
int write_whole(int fd, const void *bytes, size_t size);
int write_whole_at(int fd, const void *bytes, size_t size, uint64_t offset);

/* The number of bytes, less than `size` only at the end of the file; or a negative errno. */
ssize_t read_whole_at(int fd, void *bytes, size_t size, uint64_t offset);

#endif
