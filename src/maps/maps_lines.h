/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maps_lines.h: the lines of a list of classes.
 *
 * Threads: none.
 */
#ifndef GRANARY_MAPS_MAPS_LINES_H
#define GRANARY_MAPS_MAPS_LINES_H

#include "base/arena.h"
#include "base/vec.h"
#include "maps/maps_pairs.h"

struct map_line {
	const char *raw;  /* where it begins in the input */
	const char *text; /* without blanks around it */
	size_t size;
	size_t indent; /* blanks before it */
	size_t place;  /* from 1 */
};

/* To be freed in any case. */
struct map_lines {
	VEC(struct map_line) items; /* neither empty ones nor comments */
	size_t comments;	    /* that were left out */
	size_t blank; /* the place of an empty one between two others; 0: none */
	size_t last_blank;
	struct arena arena; /* texts without their quotes */
};

/* Line ends are those of Unix, Windows or old Macs. -EBADMSG with a sentence, -ENOMEM. */
int map_lines_read(const struct map_input *input, struct map_lines *lines,
		   struct error *e);
void map_lines_free(struct map_lines *lines);

/* Without the blanks around a text. */
void map_trim(const char **text, size_t *size);

/* Without the quotes around all of a text; twice within is a quote. 0 or -ENOMEM. */
int map_unquote(struct map_lines *lines, const char **text, size_t *size);

#endif
