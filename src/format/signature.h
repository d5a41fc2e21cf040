/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signature.h: what a file is that we do not mount, by its first bytes.
 *
 * The table is signatures.def. Any thread may call.
 */
#ifndef GRANARY_FORMAT_SIGNATURE_H
#define GRANARY_FORMAT_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

struct signature {
	const char *what;   /* "a gzip-compressed file" */
	const char *remedy; /* a format for one %s, the path, or without it */
	bool stream;        /* compressed: another file is in it, see peek.h */
};

/* The signature that the `n` bytes of `head` have, or NULL. */
const struct signature *signature_find(const unsigned char *head, size_t n);

#endif
