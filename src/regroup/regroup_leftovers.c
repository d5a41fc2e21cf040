/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regroup_leftovers.c: files beside those that are moved. Files of which no map has the
 * name stay where they are, among folders of classes, where ImageFolder does not look;
 * and where a file is moved to, there may be some of another split.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/filename.h"
#include "base/hash.h"
#include "build/findings.h"
#include "regroup/regroup_parts.h"

struct regroup_leftovers_wanted {
	const char *path;
	size_t size;
};

static bool regroup_leftovers_is_folder(const void *context, uint32_t id, const void *key)
{
	const struct regroup *r = context;
	const struct regroup_leftovers_wanted *wanted = key;
	const char *path = r->folders.items[id].path;

	return strncmp(path, wanted->path, wanted->size) == 0 && !path[wanted->size];
}

/* The folder that the file at `path` lies in; NULL: no memory. */
static struct regroup_folder *folder_of(struct regroup *r, const char *path)
{
	struct regroup_leftovers_wanted wanted = { path,
						   (size_t)(filename_of(path) - path) };
	uint32_t hash = (uint32_t)hash_bytes(wanted.path, wanted.size, 0);
	struct idmap_slot *slot =
		idmap_find(&r->folder_ids, hash, regroup_leftovers_is_folder, r, &wanted);
	struct regroup_folder folder = { 0 };

	if (slot)
		return &r->folders.items[slot->id_plus_1 - 1];
	folder.path = map_texts_intern(&r->kept, wanted.path, wanted.size);
	if (!folder.path || vec_push(&r->folders, folder) < 0 ||
	    idmap_insert(&r->folder_ids, hash, (uint32_t)r->folders.count - 1) < 0)
		return NULL;
	return &r->folders.items[r->folders.count - 1];
}

/* A text beside images is not missed in a folder of a class. */
static bool is_like_those_named(const struct regroup *r, const char *path)
{
	for (size_t i = 0; i < r->map_count; i++)
		if (r->maps[i].best != GRADE_NONE &&
		    regroup_same_kind(r->maps[i].example, path))
			return true;
	return false;
}

int regroup_count(struct regroup *r, const struct entry *entry, bool named, bool moves)
{
	const char *path = regroup_whole_path(r, entry->path);
	struct regroup_folder *folder;

	if (named ? !moves : !is_like_those_named(r, path))
		return 0;
	folder = folder_of(r, path);
	if (!folder)
		return -ENOMEM;
	folder->moved |= moves;
	if (named || folder->unnamed++ > 0)
		return 0;
	/* it is told when the logs are gone */
	path = filename_of(path);
	folder->example = map_texts_intern(&r->kept, path, strlen(path));
	return folder->example ? 0 : -ENOMEM;
}

/* In how many folders some are moved and others have no name: the first, and all such. */
static size_t find_leftovers(const struct regroup *r, const struct regroup_folder **first,
			     uint64_t *files)
{
	size_t n = 0;

	*files = 0;
	for (size_t i = 0; i < r->folders.count; i++) {
		const struct regroup_folder *folder = &r->folders.items[i];

		if (!folder->moved || folder->unnamed == 0)
			continue;
		if (n++ == 0)
			*first = folder;
		*files += folder->unnamed;
	}
	return n;
}

void regroup_report_leftovers(const struct regroup *r)
{
	const struct regroup_folder *first = NULL;
	char more[60] = "";
	uint64_t files;
	size_t n = find_leftovers(r, &first, &files);

	if (n == 0)
		return;
	if (n > 1)
		snprintf(more, sizeof(more), ", and in other folders (%zu in all)", n);
	findings_add(r->findings, FINDING_LEFT_OUT,
		     "names=: %" PRIu64 " files have no name in it ('%.255s', for one), "
		     "and stay among the folders of classes in '/%.255s'%s, where "
		     "ImageFolder does not see them", files, first->example, first->path,
		     more);
}

int regroup_count_split(struct regroup *r, const char *path, bool moves)
{
	struct regroup_folder *folder = folder_of(r, path);

	if (!folder)
		return -ENOMEM;
	folder->receives |= moves;
	if (!folder->split)
		folder->split = r->split;
	else if (strcmp(folder->split, r->split) != 0)
		folder->other = r->split;
	return 0;
}

void regroup_report_splits(const struct regroup *r)
{
	const struct regroup_folder *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < r->folders.count; i++) {
		const struct regroup_folder *folder = &r->folders.items[i];

		if (folder->receives && folder->other && n++ == 0)
			first = folder;
	}
	if (n == 0)
		return;
	findings_add(r->findings, FINDING_CHOSEN,
		     "names=: files of '%s' and of '%s', as the sources' names say, are "
		     "in one folder of a class, '/%.255s' (%zu such); mount each alone, "
		     "or pack them in folders that are called so", first->split,
		     first->other, first->path, n);
}
