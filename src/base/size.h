/* SPDX-License-Identifier: GPL-3.0-or-later */
/* size.h: sizes and counts as users write them. */
#ifndef GRANARY_BASE_SIZE_H
#define GRANARY_BASE_SIZE_H

#include <stddef.h>
#include <stdint.h>

/* "4096", "8G", "1.5T" (powers of 1024), into bytes: 0, -EINVAL, -ERANGE. */
int size_parse(const char *text, uint64_t *out);

enum { SIZE_TEXT_BYTES = 32 };

/* "1.5 GiB"; returns `out`, which holds SIZE_TEXT_BYTES. */
char *size_text(uint64_t bytes, char *out);

/* "1,281,167"; returns `out`, which holds SIZE_TEXT_BYTES. */
char *count_text(uint64_t count, char *out);

#endif
