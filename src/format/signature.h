/*
 * signature.h: what a file is that we do not mount, by its first bytes.
 */
#ifndef GRANARY_FORMAT_SIGNATURE_H
#define GRANARY_FORMAT_SIGNATURE_H

#include <stddef.h>

struct signature {
	size_t offset;       /* where the magic bytes are */
	const char *magic;
	size_t magic_size;
	const char *what;    /* "a gzip-compressed file" */
	const char *remedy;  /* a format for one %s, the path; or NULL */
};

/* The signature that `head` begins with, or NULL. */
const struct signature *signature_find(const unsigned char *head, size_t n);

#endif
