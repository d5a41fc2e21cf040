/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idx.h: the list of a shard's members that DALI's wds2idx wrote beside it.
 *
 * It says where the data of each file are, how much, and what it is called, so that the
 * headers need not be read. It says nothing of the rest: mode, owner and time are
 * those of the first member for all, and what it leaves out (directories, links, names
 * that begin with a dot) is left out. So it is used only where the user asks for it.
 */
#ifndef GRANARY_FORMAT_TAR_IDX_H
#define GRANARY_FORMAT_TAR_IDX_H

#include "format/format.h"
#include "format/tar/window.h"

/*
 * Appends what the list says: 1. 0 where there is no list, or any doubt about it: then
 * a warning has said why, nothing has been appended, and the tar has to be read. Or an
 * error of memory.
 */
int tar_idx_scan(struct scan *scan, struct tar_window *window, struct error *e);

/*
 * Where the list of a tar may be: of x.tar x.idx, or else x.tar.idx. The i'th, which the
 * caller frees; NULL: there is none, or no memory.
 */
enum { TAR_IDX_PATHS = 2 };
char *tar_idx_path(const char *tar, unsigned i);

/*
 * Opens one: a descriptor or a negative errno. A process that may open nothing has
 * another one call it.
 *
 * Threads: tar_idx_open_by only while the process has one.
 */
int tar_idx_open(const char *path);
void tar_idx_open_by(int (*open)(const char *path));

#endif
