/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "indexer/user_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "base/log.h"
#include "build/findings.h"
#include "maps/name_map.h"

/* How a list of classes was read, to the log or into the notes if there are any. */
static void say_classes(const struct given *given, const struct indexer_config *config,
			struct index_summary *notes)
{
	char text[300];

	if (!given->classes || !class_list_says(given->classes, text, sizeof(text)))
		return;
	if (notes)
		note(notes, "'%.60s' %s", filename_of(config->classes.path), text);
	else
		log_warn("'%s' %s", config->classes.path, text);
}

int given_read(const struct indexer_config *config, struct given *out, struct error *e)
{
	const struct indexer_map *list = &config->classes;
	int err = 0;

	*out = (struct given){ .names = calloc(config->name_count + 1, sizeof(*out->names)) };
	if (!out->names)
		return error_no_memory(e, NULL);
	if (list->bytes)
		err = class_list_read(list->bytes, list->size, list->path, &out->classes, e);
	if (!err)
		say_classes(out, config, NULL);
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

static void note_formats(const struct indexer_config *config, const struct format *format,
			 const struct view *view, struct index_summary *summary)
{
	const char *option;
	size_t next = 0;

	while ((option = format_options_find_unused(&config->formats, format->name, &next)))
		note(summary, "%s= does nothing here: it is an option of another format", option);
	if (config->formats.sidecars == SIDECARS_HIDE && view_class_count(view) == 0 &&
	    strcmp(format->name, "tar") == 0)
		note(summary, "sidecars=hide does nothing here: nothing lies beside an image "
		     "but in the class view of a WebDataset");
}

void given_note(const struct given *given, const struct indexer_config *config,
		const struct format *format, const struct view *view, bool regrouped,
		struct index_summary *summary)
{
	const char *labels = config->formats.labels;
	bool samples = view_has_samples(view);

	say_classes(given, config, summary);

	if (config->view == VIEW_ARRAYS && !format->rows)
		note(summary, "view=arrays does nothing here: a file of this format has no "
		     "arrays");
	if (config->view == VIEW_CLASS && view_class_count(view) == 0 && !regrouped)
		note(summary, "view=class does nothing here: nothing says which classes there "
		     "are%s", samples ? "" : "; names= can");
	if (labels && config->view == VIEW_TREE)
		note(summary, "labels=%.60s does nothing here: view=tree shows no classes",
		     labels);
	else if (labels && !view_has_labels(view, labels))
		note(summary, "labels=%.60s does nothing here: there are no samples with such "
		     "labels", labels);
	if (config->classes.bytes && !view_used_classes(view) && !regrouped)
		note(summary, "classes= does nothing here: there are no classes with numbers");
	if (config->name_count)
		note_names(config, view, regrouped, summary);
	note_formats(config, format, view, summary);
}
