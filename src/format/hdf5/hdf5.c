/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HDF5 files, through libhdf5.
 *
 * Groups are directories, and datasets that are nothing but bytes are files; rows
 * of variable length are samples. libhdf5 says where the bytes are, reads the
 * metadata through a file driver of ours, and never reads an image.
 *
 * One lock is held over a whole scan, and so over I/O: libhdf5 can be built
 * without support for threads, and where it has it, its own lock would be held
 * over the same I/O.
 */
#include "build/findings.h"
#include "format/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#define SIGNATURE "\211HDF\r\n\032\n"

static int hdf5_probe(const unsigned char *head, size_t n)
{
	/* behind a user block of 512 bytes, or a power of two times that */
	for (size_t at = 0; at + 8 <= n; at = at ? 2 * at : 512)
		if (memcmp(head + at, SIGNATURE, 8) == 0)
			return at ? 60 : 100;
	return 0;
}

#if WITH_HDF5
#include "base/cleanup.h"
#include "format/hdf5/arrays.h"
#include "format/hdf5/column.h"
#include "format/hdf5/emit.h"
#include "format/hdf5/group.h"
#include "format/hdf5/partner.h"
#include "format/limits.h"
#include "names/label_words.h"
#include "os/lock.h"

enum {
	DEPTH_LIMIT = 128, /* groups in groups */
	SOFT_LINK_BYTES = 1 << 16,
	DIRECTORY_MODE = 0755,
	LINK_LEAST = 8, /* bytes of the file that a link takes; more, in fact */
};

static struct lock hdf5_lock = LOCK_INIT;

static int walk_group(struct hdf5_walk *walk, hid_t id, struct hdf5_group *above,
		      const char *name);

/* Datasets */

/*
 * Links that follow are hard links. Each file is remembered: how many links it has
 * is what its header says, and that may be wrong.
 */
static int hdf5_scan_file(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
			  const H5O_info_t *object)
{
	const struct hdf5_seen *seen = hdf5_find_seen(walk, object->addr);
	int err;

	if (seen && seen->entry != SIZE_MAX)
		return hdf5_add_hard_link(walk, seen->entry, object->mtime);
	err = hdf5_add_file(walk, dataset, object->mtime);
	if (!err)
		err = hdf5_add_seen(walk, object->addr,
				    entries_count(walk->scan->entries) - 1);
	return err;
}

/* view=arrays: what NumPy can hold is a file, or one for each record. */
static int visit_array(struct hdf5_walk *walk, struct hdf5_dataset *dataset,
		       const H5O_info_t *object, bool *done)
{
	int err;

	if (dataset->use == HDF5_USE_ROWS)
		return 0;
	if (hdf5_find_seen(walk, object->addr)) {
		hdf5_leave_out_link(walk, "is another link to an array that is shown already");
		*done = true;
		return 0;
	}
	err = hdf5_add_npy(walk, dataset, object->mtime, done);
	return err || !*done ? err : hdf5_add_seen(walk, object->addr, SIZE_MAX);
}

/* Files are shown at once, but for those that may be labels. */
static bool is_shown_at_once(const struct hdf5_walk *walk, const struct hdf5_dataset *d,
			     const char *name)
{
	return d->use == HDF5_USE_FILE &&
	       (walk->scan->rows->arrays || !label_rules_name_counts(name, walk->scan->rows->labels));
}

static int visit_dataset(struct hdf5_group *group, hid_t id, const char *name,
			 const H5O_info_t *object)
{
	struct hdf5_walk *walk = group->walk;
	struct hdf5_dataset dataset;
	bool done = false;
	int err = hdf5_dataset_open(walk, id, &dataset);

	dataset.address = object->addr;
	if (!err)
		hdf5_note_candidate(walk, &dataset);
	if (!err && walk->scan->rows->arrays)
		err = visit_array(walk, &dataset, object, &done);
	if (err || done) {
		hdf5_dataset_close(&dataset);
		return err;
	}
	if (is_shown_at_once(walk, &dataset, name))
		err = hdf5_scan_file(walk, &dataset, object);
	else if (dataset.use != HDF5_USE_NONE && dataset.use != HDF5_USE_FILE &&
		 hdf5_find_seen(walk, object->addr))
		hdf5_leave_out_link(walk, "is another link to rows that are shown already");
	else
		err = hdf5_group_add(group, name, &dataset, object->mtime, 0);
	hdf5_dataset_close(&dataset);
	return err;
}

/* Groups and links */

static int add_directory(struct hdf5_walk *walk, time_t mtime)
{
	struct entry entry = { .kind = ENTRY_DIRECTORY, .mode = DIRECTORY_MODE };

	return hdf5_add_entry(walk, &entry, mtime);
}

/* A group without anything to show: beside classes it would be one more. */
static int note_empty(struct hdf5_walk *walk, time_t mtime)
{
	int err = hdf5_charge_paths(walk, 1, walk->path.count);
	struct hdf5_empty empty = { err ? NULL : strdup(walk->path.items), mtime };

	if (err)
		return err;
	if (empty.path && vec_push(&walk->empty, empty) == 0)
		return 0;
	free(empty.path);
	return hdf5_out_of_memory(walk);
}

/* Once it is known whether there are classes. */
static int add_empty_groups(struct hdf5_walk *walk)
{
	bool classes = walk->labelled && !walk->scan->rows->tree;
	int err = 0;

	for (size_t i = 0; i < walk->empty.count && !err && !classes; i++) {
		err = hdf5_set_path(walk, 0, walk->empty.items[i].path + 1);
		if (!err)
			err = add_directory(walk, walk->empty.items[i].mtime);
		hdf5_reset_path(walk, 0);
	}
	return err;
}

static int visit_group(struct hdf5_group *group, hid_t id, const char *name,
		       const H5O_info_t *object)
{
	struct hdf5_walk *walk = group->walk;
	size_t entries = entries_count(walk->scan->entries);
	uint64_t arrays = walk->arrays;
	int err;

	if (hdf5_find_seen(walk, object->addr)) {
		hdf5_leave_out_link(walk,
				    "is another link to a group that is shown already");
		return 0;
	}
	if (walk->depth == DEPTH_LIMIT)
		return hdf5_refuse(walk, "is deeper than %d groups", DEPTH_LIMIT);
	err = hdf5_add_seen(walk, object->addr, SIZE_MAX);
	hdf5_advance(walk, 0);
	walk->depth++;
	if (!err)
		err = walk_group(walk, id, group, name);
	walk->depth--;
	if (err)
		return err;
	if (entries_count(walk->scan->entries) == entries && walk->arrays == arrays)
		return note_empty(walk, object->mtime);
	return add_directory(walk, object->mtime);
}

/* By its address, which saves looking the name up again. */
static int visit_object(struct hdf5_group *group, hid_t parent, const char *name,
			haddr_t address)
{
	struct hdf5_walk *walk = group->walk;
	hid_t id = H5Oopen_by_addr(parent, address);
	H5O_info_t object;
	int err = 0;

	if (id < 0)
		return hdf5_refuse_library(walk, "cannot open");
	if (H5Oget_info2(id, &object, H5O_INFO_BASIC | H5O_INFO_TIME) < 0)
		err = hdf5_refuse_library(walk, "cannot read the attributes of");
	else if (object.type == H5O_TYPE_DATASET)
		err = visit_dataset(group, id, name, &object);
	else if (object.type == H5O_TYPE_GROUP)
		err = visit_group(group, id, name, &object);
	else
		entries_leave_out(walk->scan->entries); /* a type */
	H5Oclose(id);
	return err;
}

/* "..", "../a", "a/../b": nowhere else may a link lead out of the tree. */
static bool has_parent(const char *target)
{
	for (const char *at = target; *at; at += strspn(at, "/")) {
		size_t n = strcspn(at, "/");

		if (n == 2 && memcmp(at, "..", 2) == 0)
			return true;
		at += n;
	}
	return false;
}

static int visit_soft_link(struct hdf5_walk *walk, hid_t parent, const char *name,
			   size_t size)
{
	CLEANUP(cleanup_free) char *target = NULL;

	if (size <= 1 || size > SOFT_LINK_BYTES) {
		hdf5_leave_out_link(walk, "is a link that points to nothing");
		return 0;
	}
	target = calloc(1, size + 1);
	if (!target)
		return hdf5_out_of_memory(walk);
	if (H5Lget_val(parent, name, target, size, H5P_DEFAULT) < 0)
		return hdf5_refuse_library(walk, "cannot read the link");
	if (!has_parent(target))
		return hdf5_add_soft_link(walk, target);
	hdf5_leave_out_link(walk, "is a link through '..', which is no parent in HDF5");
	return 0;
}

/* Adds what a soft link leads to within this file to the catalogue, if that is a dataset. */
static int hdf5_follow(struct hdf5_group *group, hid_t parent, const char *name,
		       size_t size, bool *added)
{
	struct hdf5_walk *walk = group->walk;
	hid_t id = H5Oopen(parent, name, H5P_DEFAULT);
	struct hdf5_dataset dataset;
	H5O_info_t object;
	int err;

	if (id < 0 || H5Oget_info2(id, &object, H5O_INFO_BASIC) < 0 ||
	    object.type != H5O_TYPE_DATASET) {
		if (id >= 0)
			H5Oclose(id);
		if (walk->file.blocks.err)
			return hdf5_refuse_library(walk, "cannot open");
		H5Eclear2(H5E_DEFAULT);
		return 0;
	}
	err = hdf5_dataset_open(walk, id, &dataset);
	dataset.address = object.addr;
	if (!err)
		err = hdf5_group_add(group, name, &dataset, 0, size);
	*added = !err;
	hdf5_dataset_close(&dataset);
	return err;
}

/* Links that may lead to labels wait until the group's end. */
static int hdf5_visit_link(struct hdf5_group *group, hid_t parent, const char *name,
			   const H5L_info_t *link)
{
	const struct scan *scan = group->walk->scan;
	bool followed = false;
	int err = 0;

	if (link->type == H5L_TYPE_HARD)
		return visit_object(group, parent, name, link->u.address);
	if (link->type != H5L_TYPE_SOFT)
		return hdf5_refuse(group->walk, "is a link to another file; copy what it points "
						"to into this file (h5copy), or mount that file "
						"by itself and remove the link");
	if (!scan->rows->arrays && label_rules_name_counts(name, scan->rows->labels))
		err = hdf5_follow(group, parent, name, link->u.val_size, &followed);
	return err || followed ? err :
		visit_soft_link(group->walk, parent, name, link->u.val_size);
}

/* Why a link cannot be shown, whatever it leads to; NULL: it can. */
static const char *name_problem(const struct hdf5_walk *walk, const char *name)
{
	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0)
		return "has a name that no file can have";
	if (walk->path.count - 1 > LIMIT_PATH_BYTES)
		return "has too long a path";
	return NULL;
}

/* The index of a group's names may lead in circles. */
static int count_link(struct hdf5_walk *walk)
{
	if (walk->links++ <= walk->scan->length / LINK_LEAST)
		return 0;
	return hdf5_refuse(walk, "is damaged: it has more links than the file has room "
				 "for; copy the file again");
}

static herr_t visit_link(hid_t parent, const char *name, const H5L_info_t *link,
			 void *data)
{
	struct hdf5_group *group = data;
	struct hdf5_walk *walk = group->walk;
	size_t length = walk->path.count;
	const char *problem;

	walk->err = count_link(walk);
	if (!walk->err)
		walk->err = hdf5_set_path(walk, length, name);
	problem = walk->err ? NULL : name_problem(walk, name);
	if (problem)
		hdf5_leave_out_link(walk, problem);
	else if (!walk->err)
		walk->err = hdf5_visit_link(group, parent, name, link);
	if (!walk->err)
		hdf5_reset_path(walk, length);
	return walk->err ? -1 : 0;
}

/* In a file of labels those are the other file's. */
static bool is_partners(const struct hdf5_group *group, const struct catalogue_item *item)
{
	return group->walk->scan->labels_of && !group->walk->scan->rows->arrays && label_rules_count(item) > 0;
}

/* An item without samples or labels is a file or a link, or is left out. */
static int add_unused_item(struct hdf5_group *group, size_t i)
{
	struct hdf5_walk *walk = group->walk;
	const struct hdf5_table *table = &group->tables.items[i];
	const struct catalogue_item *item = &group->catalogue.items.items[i];
	H5O_info_t object = { .addr = table->address, .mtime = table->mtime };
	struct hdf5_dataset dataset;
	int err;

	if (item->used || item->elsewhere ||
	    hdf5_split_lines_refer_to(&group->lines, table->address))
		return 0;
	if (is_partners(group, item)) {
		walk->partners = true;
		return 0;
	}
	if (table->soft)
		return visit_soft_link(walk, group->id, item->name, table->size);
	if (table->use != HDF5_USE_FILE) {
		hdf5_leave_out(walk, item->what);
		return 0;
	}
	err = hdf5_group_open(group, i, &dataset);
	if (err)
		return err;
	err = hdf5_scan_file(walk, &dataset, &object);
	hdf5_dataset_close(&dataset);
	return err;
}

static int add_unused(struct hdf5_group *group)
{
	struct hdf5_walk *walk = group->walk;
	size_t length = walk->path.count;
	int err = 0;

	for (size_t i = 0; i < group->tables.count && !err; i++) {
		err = hdf5_set_path(walk, length, group->catalogue.items.items[i].name);
		if (!err)
			err = add_unused_item(group, i);
		if (!err)
			hdf5_reset_path(walk, length);
	}
	return err;
}

/* In the order of the names: which of two links is the first is then certain. */
static int walk_group(struct hdf5_walk *walk, hid_t id, struct hdf5_group *above,
		      const char *name)
{
	struct hdf5_group group = { .walk = walk, .id = id, .above = above, .name = name };
	int err = 0;

	if (H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, &group) < 0)
		err = walk->err ? walk->err : hdf5_refuse_library(walk, "cannot list");
	if (!err)
		err = hdf5_group_raise_lists(&group);
	if (!err && group.tables.count && walk->scan->labels_in && !walk->scan->rows->arrays)
		err = hdf5_partner_list(&group);
	if (!err)
		err = hdf5_group_add_samples(&group);
	if (!err)
		err = add_unused(&group);
	hdf5_group_free(&group);
	return err;
}

/* The end */

/* " and 90 more" */
static const char *count_left_out(const struct hdf5_walk *walk, char out[40])
{
	*out = '\0';
	if (walk->left_out > HDF5_LEFT_OUT_NAMED)
		snprintf(out, 40, " and %llu more",
			 (unsigned long long)walk->left_out - HDF5_LEFT_OUT_NAMED);
	return out;
}

static int hdf5_refuse_empty(struct hdf5_walk *walk)
{
	const char *seen = walk->left_out ? walk->left_out_names : "no dataset";
	char rest[40];

	if (walk->scan->rows->arrays)
		return error_set(walk->e, ERROR_DATASET, EBADMSG,
				 "'%s' is an HDF5 file with no array that NumPy can hold: it "
				 "holds %s%s; mount it without view=arrays",
				 walk->scan->label, seen, count_left_out(walk, rest));
	return error_set(walk->e, ERROR_DATASET, EBADMSG,
			 "'%s' is an HDF5 file without anything that can be shown as "
			 "files: it holds %s%s; files are made of one-dimensional "
			 "datasets of bytes, single strings or opaque values of fixed "
			 "size, rows of variable length of bytes, and arrays of images "
			 "or of rows with labels; say -o labels=NAME if an array of "
			 "another name labels the rows, or -o view=arrays to see every "
			 "array as .npy files",
			 walk->scan->label, seen, count_left_out(walk, rest));
}

static int hdf5_refuse_labels(struct hdf5_walk *walk)
{
	if (*walk->unfit)
		return error_set(walk->e, ERROR_DATASET, EBADMSG,
				 "'%s': %s; it has %s; say -o labels=NAME with one of these that "
				 "fits, or leave the option away", walk->scan->label, walk->unfit,
				 *walk->candidates ? walk->candidates : "none that could be labels");
	return error_set(
		walk->e, ERROR_DATASET, EBADMSG,
		"'%s' has no array '%s' beside an array of images or rows, as "
		"labels=%s says; it has %s; say -o labels=NAME with one of these, "
		"or leave the option away",
		walk->scan->label, walk->scan->rows->labels, walk->scan->rows->labels,
		*walk->candidates ? walk->candidates : "none that could be labels");
}

static int hdf5_report(struct hdf5_walk *walk)
{
	struct scan *scan = walk->scan;
	const char *files = walk->npy == walk->files ? "arrays as .npy" : "tree of datasets";
	char rest[40];

	if (scan->rows->labels && !walk->labels_found && !scan->rows->arrays && !walk->partners)
		return hdf5_refuse_labels(walk);
	if (walk->files + walk->arrays == 0 && walk->partners) {
		findings_add(walk->scan->findings, FINDING_USUAL,
			     "it holds the labels of '%s', and is shown as those",
			     scan->labels_of);
		return 0;
	}
	if (walk->files + walk->arrays == 0)
		return hdf5_refuse_empty(walk);
	if (walk->left_out)
		findings_add(walk->scan->findings, FINDING_CHOSEN,
			     "%llu dataset%s no files and no rows of samples and left "
			     "out: %s%s%s", (unsigned long long)walk->left_out,
			     walk->left_out == 1 ? " is" : "s are", walk->left_out_names,
			     count_left_out(walk, rest),
			     scan->rows->arrays ? "" :
			     "; -o view=arrays shows arrays as .npy files");
	snprintf(scan->detail, sizeof(scan->detail), "%s%s%s", walk->arrays_text,
		 walk->arrays && walk->files ? "; " : "",
		 walk->files ? files : "");
	return 0;
}

static int walk_file(struct hdf5_walk *walk)
{
	hid_t root = H5Gopen2(walk->file.id, "/", H5P_DEFAULT);
	H5O_info_t object;
	int err;

	if (root < 0 || H5Oget_info2(root, &object, H5O_INFO_BASIC) < 0) {
		err = hdf5_refuse_library(walk, "cannot open");
	} else {
		err = hdf5_add_seen(walk, object.addr, SIZE_MAX);
		if (!err)
			err = walk_group(walk, root, NULL, NULL);
		if (!err)
			err = add_empty_groups(walk);
	}
	if (root >= 0)
		H5Gclose(root);
	return err ? err : hdf5_report(walk);
}

static int hdf5_scan(struct scan *scan, struct error *e)
{
	CLEANUP(cleanup_free) struct hdf5_walk *walk = calloc(1, sizeof(*walk));
	LOCK_GUARD(&hdf5_lock);
	int err;

	if (!walk)
		return format_no_memory(scan->label, e);
	err = hdf5_walk_open(walk, scan, e);
	if (!err)
		err = walk_file(walk);
	hdf5_partner_close(walk);
	hdf5_walk_close(walk);
	return err;
}

#endif /* WITH_HDF5 */

const struct format format_hdf5 = {
	.name = "hdf5",
	.rows = true,
	.probe = hdf5_probe,
	IF_HDF5(.scan = hdf5_scan,)
	UNLESS_HDF5(.needs = NEEDS_HDF5,)
};
