/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * epochs.h: epochs, as the accesses to files tell them.
 *
 * A new epoch begins when files come again that the present one has seen: a twentieth of its
 * files, and ten at least. An access shortly after the file's last one is the same access:
 * a program opens a file, and then reads it in pieces. Files that the kernel had in its page
 * cache are in no trace, unless programs send an ioctl at each open().
 *
 * Threads: one.
 */
#ifndef GRANARY_REPORT_EPOCHS_H
#define GRANARY_REPORT_EPOCHS_H

#include "report/figures.h"

struct epochs {
	struct trace_files *files;
	struct epoch *list; /* EPOCHS_MOST of them */
	uint32_t count;
	uint64_t accesses; /* so far, */
	uint64_t again;    /* of files that the epoch has seen */
	uint64_t again_at; /* the first of these */
};

void epochs_begin(struct epochs *epochs, struct trace_files *files, struct epoch *list);

/* A file was opened or read; NO_FILE is nothing. */
void epochs_access(struct epochs *epochs, uint32_t file, uint64_t at);

/* In the present epoch. */
void epochs_read(struct epochs *epochs, uint64_t bytes, bool hit);
void epochs_stored(struct epochs *epochs, uint64_t bytes);
void epochs_open(struct epochs *epochs);

#endif
