/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * user_maps.h: the user's maps and class list, parsed, and their use.
 */
#ifndef GRANARY_INDEXER_USER_MAPS_H
#define GRANARY_INDEXER_USER_MAPS_H

#include "format/format.h"
#include "indexer/indexer.h"
#include "view/view.h"

struct user_maps {
	struct class_list *classes; /* NULL: not given */
	struct view_map *names;
	size_t name_count;
	bool labels; /* labels=NAME is a column of a map, and none of the packed files' */
};

/*
 * 0, or a negative errno and *e; the caller frees *out in both cases. How a list of classes
 * was read is a finding.
 */
int user_maps_read(const struct indexer_config *config, struct user_maps *out,
		   struct findings *findings, struct error *e);
void user_maps_free(struct user_maps *maps);

/* The settings of a view. */
struct view_config user_maps_view_config(const struct user_maps *maps,
					 const struct indexer_config *config,
					 struct findings *findings);

/*
 * Adds the options that change nothing in this dataset, of that format, so that nobody
 * believes they did. `regrouped`: maps and list have been used for files that have names.
 */
void user_maps_add_notes(const struct user_maps *maps, const struct indexer_config *config,
			 const struct format *format, const struct view *view, bool regrouped,
			 struct findings *findings);

#endif
