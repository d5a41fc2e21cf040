/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * part_names.h: names of the parts of a file that was cut, by the rules of
 * part_names.def. No file is touched.
 *
 * Threads: any.
 */
#ifndef GRANARY_SOURCE_PART_NAMES_H
#define GRANARY_SOURCE_PART_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { PART_DIGITS = 1, PART_LETTERS = 2 };

struct part_rule {
	const char *separator;
	unsigned kinds; /* PART_ */
	bool extension;
	const char *last;
};

/* Points into the path that was parsed. */
struct part_name {
	const struct part_rule *rule;
	const char *path;
	size_t stem;       /* bytes of the path before the separator */
	const char *count; /* digits or letters, to the end; "" of the rule's last */
	bool doubtful;     /* they are an extension, too: "x.tar.gz" */
};

/* Is it the name of a part? One alone may be any file. */
bool part_name_parse(const char *path, struct part_name *out);

/* May both be parts of one file? */
bool part_name_is_sibling(const struct part_name *a, const struct part_name *b);

/* Their order: negative, 0 or positive. */
int part_name_compare(const struct part_name *a, const struct part_name *b);

/* Is `b` the part directly behind `a`? */
bool part_name_is_next(const struct part_name *a, const struct part_name *b);

/*
 * Are parts missing between the two, which are in order and no neighbours? Of distant
 * numbers one is rather no part: x.tar.aa and x.tar.lz; and so is a doubtful one.
 */
bool part_name_is_gap(const struct part_name *a, const struct part_name *b);

/* Is it the number that the parts of a file begin with: 0, 1 or "aa"? */
bool part_name_is_first(const struct part_name *name);

/* The path of the part behind `name`. The caller frees it; NULL: no memory. */
char *part_name_next(const struct part_name *name);

#endif
