/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chrome.h: a trace in the Trace Event Format, which Perfetto's and Chrome's viewers load: an
 * object with one array, phases that are letters, and times from the trace's begin on.
 *
 * Threads: one.
 */
#ifndef GRANARY_REPORT_CHROME_H
#define GRANARY_REPORT_CHROME_H

#include <stdio.h>

#include "report/figures.h"

/*
 * Reads the trace again: 0 or a negative errno; errors of the stream are the stream's. -EFBIG:
 * at 4 GiB of it there were more events. Paths are their last 256 bytes.
 */
int chrome_write(const struct source *trace, const struct figures *figures, FILE *out);

#endif
