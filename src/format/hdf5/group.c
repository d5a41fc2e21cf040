/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "base/text.h"
#include "build/findings.h"
#include "format/hdf5/arrays.h"
#include "format/hdf5/column.h"
#include "format/hdf5/emit.h"
#include "format/hdf5/facts.h"
#include "format/hdf5/vlen_rows.h"
#include "labels/sample_rules.h"
#include "names/label_words.h"
#include "names/split_words.h"

static const char *group_path_of(const struct hdf5_walk *walk)
{
	return walk->path.count ? walk->path.items : "/";
}

void hdf5_note_candidate(struct hdf5_walk *walk, const struct hdf5_dataset *d)
{
	size_t room = sizeof(walk->candidates);
	char what[80];

	if (!walk->scan->rows->labels || !hdf5_is_column(d) ||
	    room - strlen(walk->candidates) < 100 ||
	    (d->kind != H5T_INTEGER && d->kind != H5T_ENUM && d->kind != H5T_STRING))
		return;
	hdf5_dataset_describe(d, what, sizeof(what));
	buffer_print(walk->candidates, room, "%s'%.60s' (%s)", *walk->candidates ? ", " : "",
		     walk->path.items, what);
}

static int add_item(struct hdf5_group *group, struct catalogue_item *item,
		    const struct hdf5_table *table)
{
	if (vec_push(&group->catalogue.items, *item) < 0)
		return hdf5_out_of_memory(group->walk);
	if (vec_push(&group->tables, *table) == 0)
		return 0;
	group->catalogue.items.count--;
	return hdf5_out_of_memory(group->walk);
}

int hdf5_group_add(struct hdf5_group *group, const char *name, struct hdf5_dataset *d,
		   time_t mtime, size_t soft)
{
	struct hdf5_walk *walk = group->walk;
	const struct scan *scan = walk->scan;
	struct catalogue_item item = { .name = strdup(name) };
	struct hdf5_table table = { .walk = walk, .address = d->address, .use = d->use,
				   .mtime = mtime, .soft = soft > 0, .size = soft };
	bool labels = !scan->rows->arrays && (label_rules_name_counts(name, scan->rows->labels) ||
						  scan->labels_of);
	int err = item.name ? hdf5_facts_read(walk, d, labels, &item) : hdf5_out_of_memory(walk);

	if (d->use == HDF5_USE_ROWS)
		table.pickled = hdf5_attribute_is(d, "PSEUDOATOM", "object");
	if (!err)
		err = add_item(group, &item, &table);
	if (err) {
		free(item.name);
		return err;
	}
	return soft || d->use == HDF5_USE_FILE || hdf5_find_seen(walk, d->address) ? 0 :
		       hdf5_add_seen(walk, d->address, SIZE_MAX);
}

/* Addresses of two files may be equal, and their complements are not. */
int hdf5_group_add_partner(struct hdf5_group *group, struct hdf5_walk *walk,
			   const char *name, struct hdf5_dataset *d)
{
	struct catalogue_item item = { .name = strdup(name), .elsewhere = true };
	struct hdf5_table table = { .walk = walk, .address = d->address };
	int err = item.name ? hdf5_facts_read(walk, d, true, &item) : hdf5_out_of_memory(walk);

	item.place = ~item.place;
	if (!err)
		err = add_item(group, &item, &table);
	if (err)
		free(item.name);
	return err;
}

void hdf5_group_free(struct hdf5_group *group)
{
	for (size_t i = 0; i < group->catalogue.items.count; i++)
		free(group->catalogue.items.items[i].name);
	vec_free(&group->catalogue.items);
	vec_free(&group->tables);
	hdf5_split_lines_free(&group->lines);
	binding_plan_free(&group->plan);
}

int hdf5_group_open(struct hdf5_group *group, size_t item, struct hdf5_dataset *out)
{
	struct hdf5_walk *walk = group->tables.items[item].walk;
	haddr_t address = group->tables.items[item].address;
	hid_t id = H5Oopen_by_addr(walk->file.id, address);
	int err;

	if (id < 0)
		return hdf5_refuse_library(walk, "cannot open");
	err = hdf5_dataset_open(walk, id, out);
	out->address = address;
	if (err)
		hdf5_dataset_close(out);
	return err;
}

/* The plan */

static void group_add_finding(void *context, const char *sentence)
{
	findings_add(context, FINDING_CHOSEN, "%s", sentence);
}

static bool may_have_samples(const struct hdf5_group *group)
{
	for (size_t i = 0; i < group->tables.count; i++)
		if (group->tables.items[i].use == HDF5_USE_ROWS ||
		    group->tables.items[i].use == HDF5_USE_ARRAY ||
		    group->catalogue.items.items[i].encoded)
			return true;
	return false;
}

/* Columns may be lists, and are no samples. */
static bool has_samples(const struct hdf5_group *group)
{
	for (size_t i = 0; i < group->tables.count; i++) {
		const struct catalogue_item *item = &group->catalogue.items.items[i];
		enum hdf5_use use = group->tables.items[i].use;

		if (use == HDF5_USE_ROWS || item->encoded ||
		    (use == HDF5_USE_ARRAY && label_rules_axis(item) < 0))
			return true;
	}
	return false;
}

/* Moves an item to the parent's catalogue: 1, 0 where it is no list of rows, or -errno. */
static int raise_item(struct hdf5_group *group, struct catalogue_item *item,
		      const struct hdf5_table *table)
{
	struct catalogue_item raised = *item;
	char path[NAME_KEY_BYTES], split[SPLIT_BYTES];
	int err;

	if (item->type != ITEM_INTEGER || label_rules_axis(item) < 0 ||
	    snprintf(path, sizeof(path), "%s/%s", group->name, item->name) >=
		    (int)sizeof(path) || !name_is_split_list(path, split))
		return 0;
	raised.name = strdup(path);
	err = raised.name ? add_item(group->above, &raised, table) :
			    hdf5_out_of_memory(group->walk);
	free(err ? raised.name : item->name);
	return err ? err : 1;
}

int hdf5_group_raise_lists(struct hdf5_group *group)
{
	struct catalogue_item *items = group->catalogue.items.items;
	size_t n = group->tables.count, kept = 0;
	int r = 0;

	if (!group->above || has_samples(group))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (r >= 0)
			r = raise_item(group, &items[i], &group->tables.items[i]);
		if (r == 1)
			continue;
		items[kept] = items[i];
		group->tables.items[kept++] = group->tables.items[i];
	}
	group->catalogue.items.count = group->tables.count = kept;
	return r < 0 ? r : 0;
}

static int bind_catalogue(struct hdf5_group *group)
{
	struct hdf5_walk *walk = group->walk;
	const struct scan *scan = walk->scan;
	struct rule_options options = {.labels = scan->rows->arrays ? NULL
								    : scan->rows->labels,
				       .where = group_path_of(walk),
				       .tree = scan->rows->tree,
				       .has_splits = group->lines.count > 0,
				       .report = group_add_finding,
				       .context = walk->scan->findings};
	int err = label_rules_bind(&group->catalogue, &options, &group->plan);

	walk->labels_found |= group->plan.chosen_found;
	if (*group->plan.unfit && !*walk->unfit)
		snprintf(walk->unfit, sizeof(walk->unfit), "%s", group->plan.unfit);
	if (err == -ENOMEM)
		return hdf5_out_of_memory(walk);
	return err ? hdf5_refuse(walk, "%s", group->plan.problem) : 0;
}

/* Of "dir/n01440764.hdf5", where a file holds no more than `data`: its name. */
static char *class_of_file(const struct hdf5_group *group)
{
	const struct scan *scan = group->walk->scan;
	const char *name = filename_of(scan->label), *dot = strrchr(name, '.');
	size_t n = dot ? (size_t)(dot - name) : strlen(name);

	if (group->walk->depth || group->tables.count != 1 ||
	    group->tables.items[0].use != HDF5_USE_ROWS || scan->rows->labels ||
	    strcmp(group->catalogue.items.items[0].name, "data") != 0)
		return NULL;
	if (n == 0 || (scan->alone && !name_is_wnid(name, n)))
		return NULL;
	return split_is_lowercase_word(name, n) ? NULL : strndup(name, n);
}

/* Why an array is shown, where another could think otherwise. */
static void report_guess(struct hdf5_group *group, const struct binding *b)
{
	const struct catalogue_item *item = &group->catalogue.items.items[b->array];
	struct findings *findings = group->walk->scan->findings;
	const char *path = group->walk->path.items;

	if (group->walk->scan->rows->arrays)
		return;
	if (group->tables.items[b->array].pickled)
		findings_add(findings, FINDING_CHOSEN,
			     "'%.200s' holds pickled objects of Python (PyTables' "
			     "ObjectAtom), not images: its rows are shown as .pkl files; "
			     "unpickle none that a stranger wrote", path);
	else if (b->form == SAMPLE_PADDED)
		findings_add(findings, FINDING_CHOSEN,
			     "'%.200s' (%s) holds whole .%s files, padded with zeros: "
			     "each row is one; -o view=arrays shows the array as it is "
			     "stored", path, item->what, item->encoded);
	else if (sample_rules_guessed(&group->catalogue, b))
		findings_add(findings, FINDING_CHOSEN,
			     "'%.200s' (%s) has the shape of images: its rows are shown; "
			     "-o view=arrays shows the array as it is stored", path,
			     item->what);
	else if (b->form == SAMPLE_PIXELS && b->is_class)
		findings_add(findings, FINDING_CHOSEN,
			     "'%.200s' has images, and no labels lie beside it: its name "
			     "is their class; -o view=arrays shows the array as it is "
			     "stored", path);
	if (b->shape.ambiguous)
		findings_add(findings, FINDING_CHOSEN,
			     "'%.200s' (%s) could be images as planes or as pixels: they "
			     "are taken for pixels (N x H x W x C); -o view=arrays shows "
			     "them as they are stored", path, item->what);
	if (b->form == SAMPLE_PIXELS && item->reversed)
		findings_add(findings, FINDING_CHOSEN,
			     "'%.200s' (%s) was written by MATLAB, whose dimensions are "
			     "in reverse: its images are shown upright; -o view=arrays "
			     "shows the array as it is stored", path, item->what);
}

static int add_binding(struct hdf5_group *group, const struct binding *b,
		       const char *file_class)
{
	struct hdf5_walk *walk = group->walk;
	const char *name = group->catalogue.items.items[b->array].name;
	size_t length = walk->path.count;
	struct hdf5_dataset dataset;
	struct hdf5_row_set set = { .group = group, .binding = b, .dataset = &dataset,
				   .name = name, .rows = b->rows };
	int err = hdf5_set_path(walk, length, name);

	if (file_class)
		set.name = set.class_name = file_class;
	else if (b->is_class)
		set.class_name = name;
	if (err)
		return err;
	err = hdf5_group_open(group, b->array, &dataset);
	if (err)
		return err;
	report_guess(group, b);
	err = b->form == SAMPLE_ROWS ? hdf5_add_vlen_rows(&set) :
		hdf5_add_array_rows(&set);
	hdf5_dataset_close(&dataset);
	if (!err)
		hdf5_reset_path(walk, length);
	return err;
}

int hdf5_group_add_samples(struct hdf5_group *group)
{
	CLEANUP(cleanup_free) char *file_class = class_of_file(group);
	int err = 0;

	if (group->tables.count == 0)
		return 0;
	if (may_have_samples(group) && !group->walk->scan->rows->arrays)
		err = hdf5_split_lines_read(group->walk, group->id, &group->lines);
	if (!err)
		err = bind_catalogue(group);
	for (size_t i = 0; i < group->plan.items.count && !err; i++)
		err = add_binding(group, &group->plan.items.items[i], file_class);
	return err;
}
