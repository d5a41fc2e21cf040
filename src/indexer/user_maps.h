/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * user_maps.h: the maps and the list that the user gave, read; and what came of them.
 */
#ifndef GRANARY_INDEXER_USER_MAPS_H
#define GRANARY_INDEXER_USER_MAPS_H

#include "format/format.h"
#include "indexer/indexer.h"
#include "view/view.h"

struct given {
	struct class_list *classes; /* NULL: none was given */
	struct view_map *names;
	size_t name_count;
};

/* 0, or a negative errno and a sentence; the caller frees *out, whatever it is. */
int given_read(const struct indexer_config *config, struct given *out, struct error *e);
void given_free(struct given *given);

/* What a view has to know. */
struct view_config given_view(const struct given *given,
			      const struct indexer_config *config);

/*
 * Notes how a list of classes was read, and the options that change nothing in this
 * dataset, of that format, so that nobody believes they did. `regrouped`: maps
 * and list have been used for files that have names.
 */
void given_note(const struct given *given, const struct indexer_config *config,
		const struct format *format, const struct view *view, bool regrouped,
		struct index_summary *summary);

#endif
