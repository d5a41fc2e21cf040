/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pages.h: the kernel's pages: 4 KiB on x86, and 4, 16 or 64 KiB on arm64, as the kernel
 * was built. A file takes whole ones in the page cache.
 *
 * Threads: any number.
 */
#ifndef GRANARY_OS_PAGES_H
#define GRANARY_OS_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of one: a power of two. */
size_t pages_size(void);

/* `bytes`, rounded up to whole ones. */
uint64_t pages_round_up(uint64_t bytes);

#endif
