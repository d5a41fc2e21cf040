/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.h: tests whether an overlay shows the filesystem behind it. Private to fuse/.
 *
 * Some kernels make an overlay with an empty root, or whose files cannot be read. So the
 * root and a directory are compared with the dataset, and a file is read, before
 * processes see the overlay. A failure of the bare mount does not count against the
 * overlay.
 */
#ifndef GRANARY_FUSE_TRIAL_H
#define GRANARY_FUSE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "dataset/dataset.h"

enum {
	/*
	 * A merged directory is read whole before its first name is given out, and again
	 * when it was forgotten: with more names than this no root is merged. One that
	 * is, is compared whole.
	 */
	TRIAL_MERGED_MOST = 10000,
};

/* The paths to test, from the root; NULL: none. */
struct trial {
	const struct dataset *dataset;
	bool merged;       /* the root is a merged directory */
	char *directory;      /* owned */
	char *file;        /* owned */
};

/* Chooses the paths. Call trial_free. */
void trial_choose(const struct dataset *dataset, bool merged, struct trial *out);
void trial_free(struct trial *trial);

/*
 * `overlay` and `bare`: the two root directories. 0, or 1 and the fault of the overlay.
 * Only trial_read needs storage, and may hang.
 */
int trial_list(const struct trial *trial, int overlay, int bare, char *why, size_t size);
int trial_read(const struct trial *trial, int overlay, int bare, char *why, size_t size);

#endif
