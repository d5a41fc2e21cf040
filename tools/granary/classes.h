/*
 * classes.h: what a loader such as ImageFolder would take for classes.
 */
#ifndef GRANARY_CLASSES_H
#define GRANARY_CLASSES_H

#include <stdint.h>

#include "dataset/dataset.h"

enum { CLASSES_SPLITS_MOST = 8 }; /* more are counted, not named */

/* The directories of a split ("train"), each of which is a class. */
struct classes_split {
	char name[64]; /* cut off where it is longer */
	uint32_t classes;
};

struct classes {
	uint32_t directories; /* at the root */
	uint32_t at_root;     /* of these, the ones that hold files: classes */
	uint32_t splits;      /* the others that hold directories */
	struct classes_split split[CLASSES_SPLITS_MOST];
};

/* Looks at the two uppermost levels of what is shown. */
void classes_count(const struct dataset *dataset, struct classes *out);

/* The most that one ImageFolder could find. */
uint32_t classes_most(const struct classes *classes);

#endif
