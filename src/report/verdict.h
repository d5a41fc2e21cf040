/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * verdict.h: the cause of the loader's waits, in a word and in sentences.
 *
 * Threads: one.
 */
#ifndef GRANARY_REPORT_VERDICT_H
#define GRANARY_REPORT_VERDICT_H

#include <stddef.h>

#include "report/figures.h"

enum { VERDICT_BYTES = 1024 };

/* "loader", "storage", "decode" or "requests"; `out`, of VERDICT_BYTES, has the sentences. */
const char *verdict_of(const struct figures *figures, char *out);

#endif
