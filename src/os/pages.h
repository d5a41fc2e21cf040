/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pages.h: the size of the kernel's pages: 4 KiB on x86; 4, 16 or 64 KiB on arm64. A file
 * takes whole pages in the page cache.
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_PAGES_H
#define GRANARY_OS_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a page: a power of two. */
size_t pages_size(void);

/* `bytes`, rounded up to whole pages. */
uint64_t pages_round_up(uint64_t bytes);

#endif
