/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The entries of a walk: directories, files, links, and what is left out.
 */
#include "format/hdf5/emit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "build/findings.h"
#include "format/limits.h"

enum { LINK_MODE = 0777 };

/* The path at hand */

int hdf5_set_path(struct hdf5_walk *walk, size_t length, const char *name)
{
	text_cut(&walk->path, length);
	return text_print(&walk->path, "/%s", name) < 0 ? hdf5_out_of_memory(walk) : 0;
}

int hdf5_extend_path(struct hdf5_walk *walk, const char *suffix)
{
	return text_print(&walk->path, "%s", suffix) < 0 ? hdf5_out_of_memory(walk) : 0;
}

void hdf5_reset_path(struct hdf5_walk *walk, size_t length)
{
	text_cut(&walk->path, length);
}

/* Counts it among what is not shown, too. */
void hdf5_leave_out_link(struct hdf5_walk *walk, const char *why)
{
	findings_add(walk->scan->findings, FINDING_LEFT_OUT,
		     "'%.200s' %s, and is left out", walk->path.items, why);
	entries_leave_out(walk->scan->entries);
	hdf5_advance(walk, 0);
}

/* Objects that several links lead to */

static bool emit_is_address(const void *context, uint32_t id, const void *key)
{
	const struct hdf5_walk *walk = context;

	return walk->seen.items[id].address == *(const haddr_t *)key;
}

const struct hdf5_seen *hdf5_find_seen(struct hdf5_walk *walk, haddr_t address)
{
	struct idmap_slot *slot =
		idmap_find(&walk->seen_by_address, (uint32_t)hash_number(address, 0),
			   emit_is_address, walk, &address);

	return slot ? &walk->seen.items[slot->id_plus_1 - 1] : NULL;
}

int hdf5_add_seen(struct hdf5_walk *walk, haddr_t address, size_t entry)
{
	struct hdf5_seen seen = { address, entry };

	if (walk->seen.count == UINT32_MAX || vec_push(&walk->seen, seen) < 0 ||
	    idmap_insert(&walk->seen_by_address, (uint32_t)hash_number(address, 0),
			 (uint32_t)(walk->seen.count - 1)) < 0)
		return hdf5_out_of_memory(walk);
	return 0;
}

/* Entries */

int hdf5_add_entry(struct hdf5_walk *walk, struct entry *entry, time_t mtime)
{
	const struct source_owner *owner = source_owner(walk->scan->source);
	size_t target = entry->target ? strlen(entry->target) : 0;
	int err = hdf5_charge_paths(walk, 1, walk->path.count + target);

	if (err)
		return err;
	entry->path = walk->path.items + 1;
	entry->uid = owner->uid;
	entry->gid = owner->gid;
	entry->mtime = mtime ? mtime : owner->mtime;
	entry->mtime_ns = mtime ? 0 : owner->mtime_ns;
	return entries_add(walk->scan->entries, entry) < 0 ? hdf5_out_of_memory(walk) : 0;
}

int hdf5_add_file(struct hdf5_walk *walk, struct hdf5_dataset *dataset, time_t mtime)
{
	struct entry entry = { .kind = ENTRY_FILE,
			      .mode = source_owner(walk->scan->source)->mode & 0666 };
	int err = hdf5_dataset_extents(walk, dataset, &entry.size);

	if (err)
		return err;
	entry.extents = walk->extents.items;
	entry.extent_count = walk->extents.count;
	err = hdf5_add_entry(walk, &entry, mtime);
	walk->files++;
	hdf5_advance(walk, entry.size);
	return err;
}

/* Another name of a file that has an entry. */
int hdf5_add_hard_link(struct hdf5_walk *walk, size_t first, time_t mtime)
{
	struct entry entry = { .kind = ENTRY_HARDLINK,
			      .target = entries_get(walk->scan->entries, first)->path };

	hdf5_advance(walk, 0);
	return hdf5_add_entry(walk, &entry, mtime);
}

/* "/a" of a link in /x/y is "../../a", wherever the tree is mounted. */
int hdf5_add_soft_link(struct hdf5_walk *walk, const char *target)
{
	struct entry entry = { .kind = ENTRY_SYMLINK, .mode = LINK_MODE, .target = target };
	struct text relative = { 0 };
	int err = 0;

	if (*target == '/') {
		target += strspn(target, "/");
		for (unsigned up = walk->depth; up > 0 && !err; up--)
			err = text_append(&relative, "../", 3);
		if (!err)
			err = text_print(&relative, "%s", walk->depth || *target ? target : ".");
		entry.target = relative.items;
	}
	walk->files++;
	hdf5_advance(walk, 0);
	err = err ? hdf5_out_of_memory(walk) : hdf5_add_entry(walk, &entry, 0);
	vec_free(&relative);
	return err;
}

/* Datasets that are not shown */

void hdf5_leave_out(struct hdf5_walk *walk, const char *what)
{
	entries_leave_out(walk->scan->entries);
	hdf5_advance(walk, 0);
	if (walk->left_out++ >= HDF5_LEFT_OUT_NAMED)
		return;
	buffer_print(walk->left_out_names, sizeof(walk->left_out_names), "%s'%.60s' (%s)",
		     *walk->left_out_names ? ", " : "", walk->path.items, what);
}
