/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_charts.h: the drawings of the page, as SVG. Private to report/. */
#ifndef GRANARY_REPORT_PAGE_CHARTS_H
#define GRANARY_REPORT_PAGE_CHARTS_H

#include <stdio.h>

#include "report/figures.h"

void page_bandwidth(const struct figures *figures, FILE *out);
void page_hit_rate(const struct figures *figures, FILE *out);
void page_latency(const struct figures *figures, FILE *out);

#endif
