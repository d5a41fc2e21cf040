/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.h: does an overlay show what is behind it? Private to fuse/.
 *
 * Some kernels make an overlay whose root is empty, or through which nothing can be read.
 * So its root and a folder are listed and compared with the dataset, and a file is read,
 * before anybody sees it. What the bare mount does not do either says nothing against the
 * overlay.
 */
#ifndef GRANARY_FUSE_TRIAL_H
#define GRANARY_FUSE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "dataset/dataset.h"

enum {
	/*
	 * A merged folder is read whole before its first name is given out, and again when
	 * it was forgotten: with more names than this no root is merged. One that is, is
	 * compared whole.
	 */
	TRIAL_MERGED_MOST = 10000,
};

/* What is looked at. Paths are from the root; NULL: there is none. */
struct trial {
	const struct dataset *dataset;
	bool merged;       /* the root is a merged folder */
	char *folder;      /* owned */
	char *file;        /* owned */
};

/* Chooses them; the caller frees them. */
void trial_choose(const struct dataset *dataset, bool merged, struct trial *out);
void trial_free(struct trial *trial);

/*
 * Two directories: the overlay's root and the bare mount's. 0, or 1 and what is wrong with
 * the overlay. Storage is needed for trial_read only, and may hang.
 */
int trial_list(const struct trial *trial, int overlay, int bare, char *why, size_t size);
int trial_read(const struct trial *trial, int overlay, int bare, char *why, size_t size);

#endif
