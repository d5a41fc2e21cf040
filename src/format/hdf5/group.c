/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/group.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "format/hdf5/arrays.h"
#include "format/hdf5/column.h"
#include "format/hdf5/emit.h"
#include "format/hdf5/labels.h"
#include "format/hdf5/row_samples.h"
#include "names/split_words.h"

int hdf5_group_add_table(struct hdf5_group *group, const char *name,
			 const struct hdf5_dataset *dataset)
{
	struct hdf5_table table = { strdup(name), dataset->address, dataset->use };

	if (table.name && vec_push(&group->tables, table) == 0)
		return hdf5_find_seen(group->walk, table.address)
			       ? 0
			       : hdf5_add_seen(group->walk, table.address, SIZE_MAX);
	free(table.name);
	return hdf5_out_of_memory(group->walk);
}

/* Where a soft link leads to, unless that is nothing. */
static haddr_t follow(hid_t id, const char *name)
{
	hid_t object = H5Oopen(id, name, H5P_DEFAULT);
	H5O_info_t info = { .addr = HADDR_UNDEF };

	if (object < 0 || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0)
		info.addr = HADDR_UNDEF;
	if (object >= 0)
		H5Oclose(object);
	H5Eclear2(H5E_DEFAULT);
	return info.addr;
}

int hdf5_group_hold(struct hdf5_group *group, hid_t id, const char *name,
		    const H5L_info_t *link)
{
	struct hdf5_held held = { .name = strdup(name),
				 .address = link->u.address,
				 .soft = link->type == H5L_TYPE_SOFT };

	if (held.soft) {
		held.size = link->u.val_size;
		held.address = follow(id, name);
	}
	if (held.name && vec_push(&group->held, held) == 0)
		return 0;
	free(held.name);
	return hdf5_out_of_memory(group->walk);
}

void hdf5_group_free(struct hdf5_group *group)
{
	for (size_t i = 0; i < group->tables.count; i++)
		free(group->tables.items[i].name);
	for (size_t i = 0; i < group->held.count; i++)
		free(group->held.items[i].name);
	vec_free(&group->tables);
	vec_free(&group->held);
}

void hdf5_note_candidate(struct hdf5_walk *walk, const struct hdf5_dataset *d)
{
	size_t n = strlen(walk->candidates), room = sizeof(walk->candidates) - n;
	char what[80];

	if (!walk->scan->rows->labels || !hdf5_is_column(d) || room < 100 ||
	    (d->kind != H5T_INTEGER && d->kind != H5T_ENUM && d->kind != H5T_STRING))
		return;
	hdf5_dataset_describe(d, what, sizeof(what));
	snprintf(walk->candidates + n, room, "%s'%.60s' (%s)", n ? ", " : "",
		 walk->path.items, what);
}

/* One array for each class */

/* "n01440764", as ImageNet names its classes. */
static bool is_wnid(const char *name, size_t n)
{
	if (n != 9 || name[0] != 'n')
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isdigit((unsigned char)name[i]))
			return false;
	return true;
}

/* Names that say that there are images, and not of which class. */
static bool is_array_name(const char *name)
{
	static const char *const names[] = { "data", "x", "X", "rows", "jpegs", "jpeg", "records" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return strstr(name, "image") || strstr(name, "img") || strstr(name, "data") ||
	       (n > 2 &&
		(strcmp(name + n - 2, "_x") == 0 || strcmp(name + n - 2, "_X") == 0));
}

/* Several arrays of rows and no labels: the name of each is the class of its rows. */
static bool is_class_for_each(const struct hdf5_group *group)
{
	size_t rows = 0, wnids = 0;

	if (group->held.count || group->walk->scan->rows->labels)
		return false;
	for (size_t i = 0; i < group->tables.count; i++) {
		const struct hdf5_table *table = &group->tables.items[i];

		if (table->use != HDF5_USE_ROWS)
			continue;
		if (is_array_name(table->name))
			return false;
		rows++;
		wnids += is_wnid(table->name, strlen(table->name));
	}
	return rows > 1 || wnids > 0;
}

/* Of "dir/n01440764.hdf5", where a file holds no more than `data`: its name. */
static char *class_of_file(const struct hdf5_group *group)
{
	const struct scan *scan = group->walk->scan;
	const char *name = filename_of(scan->label), *dot = strrchr(name, '.');
	size_t n = dot ? (size_t)(dot - name) : strlen(name);

	if (group->walk->depth || group->held.count || group->tables.count != 1 ||
	    scan->rows->labels || strcmp(group->tables.items[0].name, "data") != 0)
		return NULL;
	if (n == 0 || (scan->alone && !is_wnid(name, n)))
		return NULL;
	return split_is_small_word(name, n) ? NULL : strndup(name, n);
}

/* All of them */

static int take_array(const struct hdf5_array *array)
{
	bool taken = false;
	int err = hdf5_take_array(array, is_array_name(array->name), &taken);

	if (!err && !taken)
		hdf5_leave_out(array->walk, array->dataset);
	return err;
}

static int take_table(struct hdf5_group *group, hid_t id, const struct hdf5_table *table,
		      const char *class_name)
{
	struct hdf5_walk *walk = group->walk;
	struct hdf5_dataset dataset;
	struct hdf5_array array = { .walk = walk, .dataset = &dataset, .group = id,
				    .name = table->name };
	hid_t object = H5Oopen_by_addr(id, table->address);
	int err;

	if (class_name && table->use == HDF5_USE_ROWS)
		array.name = array.class_name = class_name;
	if (object < 0)
		return hdf5_refuse_library(walk, "cannot open");
	err = hdf5_dataset_open(walk, object, &dataset);
	if (!err && table->use == HDF5_USE_ROWS)
		err = hdf5_take_rows(&array);
	else if (!err)
		err = take_array(&array);
	hdf5_dataset_close(&dataset);
	return err;
}

static int leave_out_table(struct hdf5_group *group, hid_t id,
			   const struct hdf5_table *table)
{
	struct hdf5_walk *walk = group->walk;
	struct hdf5_dataset dataset;
	hid_t object = H5Oopen_by_addr(id, table->address);
	int err;

	if (object < 0)
		return hdf5_refuse_library(walk, "cannot open");
	err = hdf5_dataset_open(walk, object, &dataset);
	if (!err)
		hdf5_leave_out(walk, &dataset);
	hdf5_dataset_close(&dataset);
	return err;
}

/* With the path of the table: 0, or what `visit` returned. */
static int at_table(struct hdf5_group *group, hid_t id, size_t i, const char *class_name)
{
	struct hdf5_walk *walk = group->walk;
	const struct hdf5_table *table = &group->tables.items[i];
	size_t length = walk->path.count;
	int err = hdf5_set_path(walk, length, table->name);

	if (!err && table->use != HDF5_USE_NONE)
		err = take_table(group, id, table, class_name);
	else if (!err && !hdf5_is_used(walk, table->address))
		err = leave_out_table(group, id, table);
	if (!err)
		hdf5_reset_path(walk, length);
	return err;
}

static void mark_held(struct hdf5_group *group)
{
	for (size_t i = 0; i < group->held.count; i++)
		group->held.items[i].used |=
			hdf5_is_used(group->walk, group->held.items[i].address);
}

/* First the samples, which say what else is used. */
int hdf5_group_take_tables(struct hdf5_group *group, hid_t id)
{
	CLEANUP(cleanup_free) char *file_class = class_of_file(group);
	bool each = is_class_for_each(group);
	size_t first = group->taken, end = group->tables.count;
	int err = 0;

	group->walk->group = group;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = first; i < end && !err; i++) {
			const struct hdf5_table *table = &group->tables.items[i];
			bool samples = table->use != HDF5_USE_NONE;

			if (samples == (pass == 0))
				err = at_table(group, id, i,
					       each ? table->name : file_class);
		}
	group->walk->group = NULL;
	group->taken = end;
	mark_held(group);
	return err;
}
