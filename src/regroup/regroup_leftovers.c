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
#include "build/findings.h"
#include "regroup/regroup_parts.h"

/* The folder that the file at `path` lies in; NULL: no memory. */
static struct regroup_folder *folder_of(struct regroup *r, const char *path)
{
	int64_t number = map_texts_add(&r->folder_paths, path,
				       (size_t)(filename_of(path) - path));

	if (number < 0 ||
	    ((size_t)number == r->folders.count &&
	     vec_push(&r->folders, (struct regroup_folder){ 0 }) < 0))
		return NULL;
	return &r->folders.items[number];
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

int regroup_count(struct regroup *r, const char *path, bool named, bool moves)
{
	struct regroup_folder *folder;

	if (named ? !moves : !is_like_those_named(r, path))
		return 0;
	folder = folder_of(r, path);
	if (!folder)
		return -ENOMEM;
	folder->moved |= moves;
	if (!named && folder->unnamed++ == 0)
		folder->example = filename_of(path);
	return 0;
}

/* In how many folders some are moved and others have no name: the first, and all such. */
static size_t find_leftovers(const struct regroup *r, size_t *first, uint64_t *files)
{
	size_t n = 0;

	*files = 0;
	for (size_t i = 0; i < r->folders.count; i++) {
		const struct regroup_folder *folder = &r->folders.items[i];

		if (!folder->moved || folder->unnamed == 0)
			continue;
		if (n++ == 0)
			*first = i;
		*files += folder->unnamed;
	}
	return n;
}

void regroup_report_leftovers(const struct regroup *r)
{
	char more[60] = "";
	uint64_t files;
	size_t first, n = find_leftovers(r, &first, &files);

	if (n == 0)
		return;
	if (n > 1)
		snprintf(more, sizeof(more), ", and in other folders (%zu in all)", n);
	findings_add(r->findings, FINDING_LEFT_OUT,
		     "names=: %" PRIu64 " files have no name in it ('%.255s', for one), "
		     "and stay among the folders of classes in '/%.255s'%s, where "
		     "ImageFolder does not see them", files,
		     r->folders.items[first].example, r->folder_paths.items.items[first],
		     more);
}

int regroup_count_split(struct regroup *r, const struct regroup_file *file,
			const char *split)
{
	const char *path = regroup_new_path(r, file->path, file->folder);
	struct regroup_folder *folder = path ? folder_of(r, path) : NULL;

	if (!folder)
		return -ENOMEM;
	folder->receives |= file->folder != NULL;
	if (!folder->split)
		folder->split = split;
	else if (strcmp(folder->split, split) != 0)
		folder->other = split;
	return 0;
}

void regroup_report_splits(const struct regroup *r)
{
	size_t n = 0, first = 0;

	for (size_t i = 0; i < r->folders.count; i++) {
		const struct regroup_folder *folder = &r->folders.items[i];

		if (folder->receives && folder->other && n++ == 0)
			first = i;
	}
	if (n == 0)
		return;
	findings_add(r->findings, FINDING_CHOSEN,
		     "names=: files of '%s' and of '%s', as the sources' names say, are "
		     "in one folder of a class, '/%.255s' (%zu such); mount each alone, "
		     "or pack them in folders that are called so",
		     r->folders.items[first].split, r->folders.items[first].other,
		     r->folder_paths.items.items[first], n);
}
