/* SPDX-License-Identifier: GPL-3.0-or-later */
/* findings.h: notes for `granary info`, besides the sources of names and labels. */
#ifndef GRANARY_BUILD_FINDINGS_H
#define GRANARY_BUILD_FINDINGS_H

#include "index/index.h"

/* Adds a line to the summary's notes. "..." marks the end of the room. */
void note(struct index_summary *summary, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
