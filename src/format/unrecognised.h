/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unrecognised.h: the sentence on a file that is of no format that is read.
 */
#ifndef GRANARY_FORMAT_UNRECOGNISED_H
#define GRANARY_FORMAT_UNRECOGNISED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "source/source.h"

/*
 * -EBADMSG and what was seen in the window [base, base + length), with the remedy; or
 * another errno where it cannot be read. `head` is its first n bytes, in a buffer of
 * FORMAT_HEAD_BYTES that is used for more. Any thread may call.
 */
int format_unrecognised(const struct source *source, uint64_t base, uint64_t length,
		  const char *label, unsigned char *head, size_t n, struct error *e);

#endif
