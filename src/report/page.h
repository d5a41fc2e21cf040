/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.h: figures as one page of HTML, which loads nothing and runs no script.
 *
 * Threads: one.
 */
#ifndef GRANARY_REPORT_PAGE_H
#define GRANARY_REPORT_PAGE_H

#include <stdio.h>

#include "report/figures.h"

/* Errors are the stream's: ferror(). */
void page_write(const struct figures *figures, FILE *out);

/* Text of a file, escaped; bytes that are no UTF-8 become U+FFFD. */
void page_text(FILE *out, const char *text);

#endif
