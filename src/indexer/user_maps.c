/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "indexer/user_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "maps/name_map.h"

/* What a map says besides, and what is not used of it. */
static void report_map(const struct name_map *map, const char *path, struct findings *findings)
{
	const struct map_notes *notes = name_map_notes(map);

	path = filename_of(path);
	if (notes->splits)
		findings_add(findings, FINDING_CHOSEN,
			     "'%s' has a column that says the split of each file, which is "
			     "not used: files of all splits lie in one directory of a "
			     "class; give a table of the rows of one split", path);
	if (notes->hot)
		findings_add(findings, FINDING_CHOSEN,
			     "'%s': its %zu columns besides the names have 0 or 1, and are taken "
			     "for a class each; labels=%s takes one of them for the labels", path,
			     notes->hot, notes->rival);
	else if (*notes->rival)
		findings_add(findings, FINDING_CHOSEN,
			     "'%s': the labels are taken from the column '%s'; '%s' could be "
			     "meant, too: labels=%s takes it", path, notes->label, notes->rival,
			     notes->rival);
	if (*notes->spelled)
		findings_add(findings, FINDING_CHOSEN, "'%s': %s", path, notes->spelled);
	if (name_map_unlabelled(map))
		findings_add(findings, FINDING_LEFT_OUT,
			     "'%s': %zu of its %zu names have no label (empty, null, NaN or "
			     "below 0): they are in no class", path, name_map_unlabelled(map),
			     name_map_count(map));
}

int user_maps_read(const struct indexer_config *config, struct user_maps *out,
		   struct findings *findings, struct error *e)
{
	const struct indexer_map *list = &config->classes;
	char text[300];
	int err = 0;

	*out = (struct user_maps){ .names = calloc(config->name_count + 1,
						   sizeof(*out->names)) };
	if (!out->names)
		return error_no_memory(e, NULL);
	if (list->bytes)
		err = class_list_read(list->bytes, list->size, list->path, &out->classes, e);
	if (out->classes && class_list_describe(out->classes, text, sizeof(text)))
		findings_add(findings, FINDING_CHOSEN,
			     "'%s' %s", filename_of(list->path), text);
	for (size_t i = 0; i < config->name_count && !err; i++) {
		const struct indexer_map *from = &config->names[i];
		struct name_map *map;

		err = name_map_read(from->bytes, from->size, from->path,
				    config->formats.labels, &map, e);
		if (err)
			break;
		report_map(map, from->path, findings);
		out->labels |= name_map_notes(map)->chosen;
		out->names[out->name_count++] = (struct view_map){ map, from->path };
	}
	return err;
}

void user_maps_free(struct user_maps *maps)
{
	class_list_free(maps->classes);
	for (size_t i = 0; i < maps->name_count; i++)
		name_map_free((struct name_map *)(uintptr_t)maps->names[i].map);
	free(maps->names);
}

struct view_config user_maps_view_config(const struct user_maps *maps,
					 const struct indexer_config *config,
					 struct findings *findings)
{
	return (struct view_config){
		.kind = config->view, .classes = maps->classes,
		.classes_path = config->classes.path, .names = maps->names,
		.name_count = maps->name_count, .findings = findings,
	};
}

static void note_names(const struct indexer_config *config, struct findings *findings)
{
	if (config->view == VIEW_TREE || config->view == VIEW_ARRAYS)
		findings_add(findings, FINDING_UNUSED,
			     "names= does nothing here: with view=%s files stay where they are "
			     "stored", config->view == VIEW_TREE ? "tree" : "arrays");
}

static void note_formats(const struct indexer_config *config, const struct format *format,
			 const struct view *view, struct findings *findings)
{
	const char *option;
	size_t next = 0;

	while ((option = format_options_find_unused(&config->formats, format->name, &next)))
		findings_add(findings, FINDING_UNUSED,
			     "%s= does nothing here: it is an option of another format",
			     option);
	if (config->formats.sidecars == SIDECARS_HIDE && view_class_count(view) == 0 &&
	    (strcmp(format->name, "tar") == 0 || strcmp(format->name, "zip") == 0))
		findings_add(findings, FINDING_UNUSED,
			     "sidecars=hide does nothing here: nothing lies beside an "
			     "image but in the class view of a WebDataset");
}

void user_maps_add_notes(const struct user_maps *maps, const struct indexer_config *config,
			 const struct format *format, const struct view *view, bool regrouped,
			 struct findings *findings)
{
	const char *labels = config->formats.labels;
	bool samples = view_has_samples(view);

	if (config->view == VIEW_ARRAYS && !format->rows)
		findings_add(findings, FINDING_UNUSED,
			     "view=arrays does nothing here: a file of this format has "
			     "no arrays");
	if (config->view == VIEW_CLASS && view_class_count(view) == 0 && !regrouped)
		findings_add(findings, FINDING_UNUSED,
			     "view=class does nothing here: nothing says which classes "
			     "there are%s", samples ? "" : "; names= can");
	if (labels && config->view == VIEW_TREE)
		findings_add(findings, FINDING_UNUSED,
			     "labels=%.60s does nothing here: view=tree shows no classes",
			     labels);
	else if (labels && !maps->labels && !view_has_labels(view, labels))
		findings_add(findings, FINDING_UNUSED,
			     "labels=%.60s does nothing here: there are no samples with "
			     "such labels", labels);
	if (config->classes.bytes && !view_used_classes(view) && !regrouped)
		findings_add(findings, FINDING_UNUSED,
			     "classes= does nothing here: there are no classes with "
			     "numbers");
	if (config->name_count && !samples)
		note_names(config, findings);
	note_formats(config, format, view, findings);
}
