/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * user_maps.h: the user's maps and class list, parsed, and their use.
 */
#ifndef GRANARY_INDEXER_USER_MAPS_H
#define GRANARY_INDEXER_USER_MAPS_H

#include "format/format.h"
#include "indexer/indexer.h"
#include "view/view.h"

struct given {
	struct class_list *classes; /* NULL: not given */
	struct view_map *names;
	size_t name_count;
};

/*
 * 0, or a negative errno and *e; the caller frees *out in both cases. How a list of classes
 * was read is a finding.
 */
int given_read(const struct indexer_config *config, struct given *out,
	       struct findings *findings, struct error *e);
void given_free(struct given *given);

/* The settings of a view. */
struct view_config given_view(const struct given *given,
			      const struct indexer_config *config,
			      struct findings *findings);

/*
 * Adds the options that change nothing in this dataset, of that format, so that nobody
 * believes they did. `regrouped`: maps and list have been used for files that have names.
 */
void given_note(const struct indexer_config *config, const struct format *format,
		const struct view *view, bool regrouped, struct findings *findings);

#endif
