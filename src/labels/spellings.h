/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spellings.h: texts that are one number in several spellings, and so one class: "1" and
 * "1.0". Numbers of digits alone keep their zeros: "007" and "7" may be two names.
 *
 * Threads: one table belongs to one thread at a time while it is made.
 */
#ifndef GRANARY_LABELS_SPELLINGS_H
#define GRANARY_LABELS_SPELLINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

struct spelling {
	const char *text;  /* "1.0" */
	const char *class; /* "1"; NULL: the class is the label `number` */
	int64_t number;
};

struct spellings {
	VEC(struct spelling) items; /* once made: in the order of the texts */
	const char *zeros[2];       /* two texts that differ in their zeros only: "7", "007" */
};

/* Labels beside texts: some are numbers, each once, in order. */
struct number_labels {
	const int64_t *items;
	size_t count;
};

/*
 * Compares n texts, each of them once. `class` of an item is one of them, or in the arena.
 * 0 or -ENOMEM; spellings_free in any case.
 */
int spellings_find(const char *const *texts, size_t n, struct number_labels numbers,
		   struct arena *arena, struct spellings *out);
void spellings_free(struct spellings *spellings);

/* How a text is spelled otherwise; NULL: it is its own class. */
const struct spelling *spellings_get(const struct spellings *spellings, const char *text);

enum { SPELLINGS_TEXT_BYTES = 240 };

/* For a finding: which texts are one class, or may be. false: there are none. */
bool spellings_describe(const struct spellings *spellings, char out[SPELLINGS_TEXT_BYTES]);

#endif
