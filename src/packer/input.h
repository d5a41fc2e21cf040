/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * input.h: a tree that is packed and is no directory: a dataset.
 *
 * Its owner lists the entries with pack_scan_add (scan.h), and reads the contents of files.
 *
 * Threads: list is called by one; read by any number at once.
 */
#ifndef GRANARY_PACKER_INPUT_H
#define GRANARY_PACKER_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct pack_scan;
struct pack_scan_entry;

struct pack_input {
	/* Adds all entries, the root first. 0, or a negative errno and a sentence. */
	int (*list)(void *context, struct pack_scan *scan, struct error *e);
	/*
	 * Reads `length` bytes of a file, all of them below its size: 0 or a negative errno.
	 * -EBADMSG: the stored bytes are damaged; -EPIPE: nothing can be read any more.
	 */
	int (*read)(void *context, const struct pack_scan_entry *entry, void *bytes,
		    size_t length, uint64_t offset);
	/* Is this file read? Then no packed file replaces it. */
	bool (*uses)(void *context, dev_t device, ino_t inode);
	/* Is what is read as it was? 0, or a negative errno and a sentence. */
	int (*check)(void *context, struct error *e);
	void *context;
	uint64_t copies_most; /* of its paths, targets and attributes, bytes */
	uint64_t identity; /* of what it reads; decides whether a set can be continued */
};

#endif
