/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crc32c.h: CRC-32C (Castagnoli), as TFRecord files have it.
 *
 * Threads: any.
 */
#ifndef GRANARY_BASE_CRC32C_H
#define GRANARY_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Of these bytes behind those whose CRC is `before`; 0: behind none. */
uint32_t crc32c(uint32_t before, const void *bytes, size_t n);

#endif
