/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maps_kit.h: what maps and lists of classes hold, as text. */
#ifndef GRANARY_TESTS_MAPS_KIT_H
#define GRANARY_TESTS_MAPS_KIT_H

#include "unit.h"

struct fixture {
	const char *bytes;
	size_t n;
	const char *want; /* all of it, or (a fault) a part of what is said */
};

#define CASE(bytes, want) { bytes, sizeof(bytes) - 1, want }

/* A copy without a byte to spare, so that a look beyond it is seen. */
void *exactly(const void *bytes, size_t n);

/* "KEY=LABEL" or "KEY=#7", "7=NAME", a line each; or what is said. To be freed. */
char *read_map(const void *bytes, size_t n);
char *read_list(const void *bytes, size_t n);

void check_case(const struct fixture *fixture, char *(*read)(const void *, size_t));

/* Any length of a file, any value of a byte: an answer, and no read beyond it. */
void check_damage(const struct fixture *fixture, char *(*read)(const void *, size_t));

#endif
