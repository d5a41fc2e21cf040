/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write_whole.h: write(2), as often as that takes.
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_WRITE_WHOLE_H
#define GRANARY_OS_WRITE_WHOLE_H

#include <stddef.h>

/* 0 or a negative errno, and then some of the bytes may have been written. */
int write_whole(int fd, const void *bytes, size_t size);

#endif
