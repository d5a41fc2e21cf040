/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classes.h: finds the directories that a loader such as ImageFolder takes for classes.
 */
#ifndef GRANARY_CLASSES_H
#define GRANARY_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "dataset/dataset.h"

enum { CLASSES_SPLITS_MOST = 8 }; /* further ones are counted, without their names */

/* A directory ("train", "Data/CLS-LOC/val") whose directories are classes. */
struct classes_split {
	char name[128]; /* its path; the end of a longer one */
	uint32_t classes;
};

struct classes {
	uint32_t directories; /* at the root */
	uint32_t at_root;     /* of these, the ones that are classes */
	uint32_t splits;      /* directories further below that have classes */
	bool cut;             /* not all names were visited: there are too many */
	struct classes_split split[CLASSES_SPLITS_MOST];
};

/* Finds the directories to give to an ImageFolder. Visits a bounded number of names. */
void classes_count(const struct dataset *dataset, struct classes *out);

/* The most classes that one ImageFolder could find. */
uint32_t classes_most(const struct classes *classes);

#endif
