/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * charset.h: converts names from a character set that a user names to UTF-8.
 *
 * libc reads its tables from files, and a process without a file system (os/sandbox.h)
 * cannot: charset_load is called before, in the same process or its parent, and the
 * tables stay.
 *
 * Threads: charset_load only while the process has one; a struct charset belongs to one
 * thread at a time.
 */
#ifndef GRANARY_OS_CHARSET_H
#define GRANARY_OS_CHARSET_H

#include <stddef.h>
#include <sys/types.h>

struct charset;

/* 0, or -EINVAL: libc knows no such set. */
int charset_load(const char *name);

/* NULL, with errno: EINVAL (not known, or not loaded), or ENOMEM. */
struct charset *charset_open(const char *name);
void charset_close(struct charset *charset);

/*
 * Converts all `n` bytes: the number of bytes in `out`, or -EILSEQ: they are no text in
 * that set, -E2BIG: `room` is too small (CHARSET_GROWTH times `n` never is).
 */
enum { CHARSET_GROWTH = 6 };
ssize_t charset_to_utf8(struct charset *charset, const char *in, size_t n, char *out,
			size_t room);

#endif
