/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain.h: the headers that nearly all members have, read by ourselves.
 * Private to format/tar/.
 *
 * A plain header leaves nothing to interpret: "ustar" of POSIX or GNU, a file or a
 * directory, octal numbers, an ASCII name, and zeros wherever something else might be
 * said. Whatever is not plain, also if it only might be damaged, is for chain.c,
 * which takes several times longer and reads plain ones to the same effect.
 */
#ifndef GRANARY_FORMAT_TAR_PLAIN_H
#define GRANARY_FORMAT_TAR_PLAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"
#include "format/tar/header.h"
#include "format/tar/window.h"

enum { TAR_PLAIN_PATH = TAR_PATH_BYTES + 1 };

struct tar_plain {
	bool directory;
	uint32_t mode, uid, gid; /* mode: permission bits */
	int64_t mtime;
	uint64_t size;           /* bytes; of a directory 0 */
	char path[TAR_PLAIN_PATH];
};

/* Reads a header block of 512 bytes: false, and nothing is said, if it is not plain. */
bool tar_plain_parse(const unsigned char *block, struct tar_plain *out);

/* A run of plain members. */
struct tar_run {
	uint64_t last;   /* where the last one's header is: valid if there are any */
	uint64_t data_end; /* behind the data of the last one, */
	uint64_t end;    /* and behind what fills their last block */
	uint64_t members;
	uint64_t stop;   /* it ends where it has come here, or past it */
	/* Of a guess: another thread may end it, and packed files inside end it, too. */
	const _Atomic bool *cancelled;
};

/*
 * Appends the plain members from the header at run->end on, as far as they go. 0, or
 * an error of the storage or of memory; where the next header is not plain, or cannot
 * be read, that is run->end. Adds to run->members.
 */
int tar_plain_run(struct scan *scan, struct tar_window *window, struct tar_run *run,
		  struct error *e);

#endif
