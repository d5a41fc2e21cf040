/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * findings.h: what `granary info` has to say besides where names and labels come from.
 */
#ifndef GRANARY_BUILD_FINDINGS_H
#define GRANARY_BUILD_FINDINGS_H

#include "index/index.h"

/* Adds a line to the summary's notes. Where there is no more room, "..." says so. */
void note(struct index_summary *summary, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
