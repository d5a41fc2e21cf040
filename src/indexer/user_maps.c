/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "indexer/user_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "build/findings.h"
#include "maps/name_map.h"

int given_read(const struct indexer_config *config, struct given *out, struct error *e)
{
	const struct indexer_map *list = &config->classes;
	int err = 0;

	*out = (struct given){ .names = calloc(config->name_count + 1, sizeof(*out->names)) };
	if (!out->names)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	if (list->bytes)
		err = class_list_read(list->bytes, list->size, list->path, &out->classes, e);
	for (size_t i = 0; i < config->name_count && !err; i++) {
		const struct indexer_map *from = &config->names[i];
		struct name_map *map;

		err = name_map_read(from->bytes, from->size, from->path, &map, e);
		if (!err)
			out->names[out->name_count++] = (struct view_map){ map, from->path };
	}
	return err;
}

void given_free(struct given *given)
{
	class_list_free(given->classes);
	for (size_t i = 0; i < given->name_count; i++)
		name_map_free((struct name_map *)(uintptr_t)given->names[i].map);
	free(given->names);
}

struct view_config given_view(const struct given *given,
			      const struct indexer_config *config)
{
	return (struct view_config){
		.kind = config->view, .classes = given->classes,
		.classes_path = config->classes.path, .names = given->names,
		.name_count = given->name_count,
	};
}

/* Archives of files; the other formats have arrays. */
static bool is_archive(const char *format)
{
	return strcmp(format, "tar") == 0 || strcmp(format, "squashfs") == 0;
}

static void note_names(const struct indexer_config *config, const struct view *view,
		       bool regrouped, struct index_summary *summary)
{
	bool samples = view_has_samples(view);

	if (view_has_named_rows(view))
		note(summary, "names= does nothing here for rows that have a name in the file: "
		     "classes= says what labels are called");
	else if (!samples && (config->view == VIEW_TREE || config->view == VIEW_ARRAYS))
		note(summary, "names= does nothing here: with view=%s files stay where they are "
		     "stored", config->view == VIEW_TREE ? "tree" : "arrays");
	else if (!view_used_names(view) && !regrouped)
		note(summary, "names= does nothing here: no name in it is that of a %s",
		     samples ? "row" : "file");
}

void given_note_unused(const struct indexer_config *config, const char *format,
		       const struct view *view, bool regrouped,
		       struct index_summary *summary)
{
	bool samples = view_has_samples(view);

	if (config->view == VIEW_ARRAYS && is_archive(format))
		note(summary, "view=arrays does nothing here: a file of this format has no "
		     "arrays");
	if (config->view == VIEW_CLASS && view_class_count(view) == 0 && !regrouped)
		note(summary, "view=class does nothing here: nothing says which classes there "
		     "are%s", samples ? "" : "; names= can");
	if (config->labels && config->view == VIEW_TREE)
		note(summary, "labels=%.60s does nothing here: view=tree shows no classes",
		     config->labels);
	else if (config->labels && !view_has_labels(view, config->labels))
		note(summary, "labels=%.60s does nothing here: there are no samples with such "
		     "labels", config->labels);
	if (config->classes.bytes && !view_used_classes(view) && !regrouped)
		note(summary, "classes= does nothing here: there are no classes with numbers");
	if (config->name_count)
		note_names(config, view, regrouped, summary);
	if (config->hide_sidecars && (view_class_count(view) == 0 ||
				      strcmp(format, "tar") != 0))
		note(summary, "sidecars=hide does nothing here: nothing lies beside an image "
		     "but in the class view of a WebDataset");
}
