/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * embedded.h: packed files that begin somewhere inside another file: behind a program, a
 * script or a boot loader, or in a container image.
 *
 * They are named, with the option that opens them, and never opened by themselves: the
 * place is often found by searching, and a file may have several.
 */
#ifndef GRANARY_FORMAT_EMBEDDED_H
#define GRANARY_FORMAT_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "source/source.h"

/*
 * Looks into the window, which is of no format and begins with the n bytes of `head`. An
 * error (-EBADMSG) that says what the file is and where the packed file begins; 0 where
 * there is none. `known`: its kind has a name. Then only a file of a kind that packed
 * files are put behind is searched, and else any.
 */
int embedded_refuse(const struct source *source, uint64_t base, uint64_t length,
		    const char *label, const unsigned char *head, size_t n, bool known,
		    struct error *e);

#endif
