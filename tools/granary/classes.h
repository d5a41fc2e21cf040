/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classes.h: what a loader such as ImageFolder would take for classes.
 */
#ifndef GRANARY_CLASSES_H
#define GRANARY_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "dataset/dataset.h"

enum { CLASSES_SPLITS_MOST = 8 }; /* more are counted, not named */

/* A directory ("train", "Data/CLS-LOC/val") whose directories are classes. */
struct classes_split {
	char name[128]; /* its path; of a longer one the end */
	uint32_t classes;
};

struct classes {
	uint32_t directories; /* at the root */
	uint32_t at_root;     /* of these, the ones that are classes */
	uint32_t splits;      /* directories further below that have classes */
	bool cut;             /* there were too many names to look at them all */
	struct classes_split split[CLASSES_SPLITS_MOST];
};

/* Looks for the directories that an ImageFolder would be given, in a bounded time. */
void classes_count(const struct dataset *dataset, struct classes *out);

/* The most that one ImageFolder could find. */
uint32_t classes_most(const struct classes *classes);

#endif
