/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regroup_leftovers.c: files beside those that are moved. Files of which no map has the
 * name stay where they are, among directories of classes, where ImageFolder does not
 * look; and where a file is moved to, there may be some of another split.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "regroup/regroup_parts.h"

/* The directory that the file at `path` lies in; NULL: no memory. */
static struct regroup_directory *directory_of(struct regroup *r, const char *path)
{
	int64_t number = map_texts_add(&r->directory_paths, path,
				       (size_t)(filename_of(path) - path));

	if (number < 0 ||
	    ((size_t)number == r->directories.count &&
	     vec_push(&r->directories, (struct regroup_directory){ 0 }) < 0))
		return NULL;
	return &r->directories.items[number];
}

/* A text beside images is not missed in a directory of a class. */
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
	struct regroup_directory *directory;

	if (named ? !moves : !is_like_those_named(r, path))
		return 0;
	directory = directory_of(r, path);
	if (!directory)
		return -ENOMEM;
	directory->moved |= moves;
	if (!named && directory->unnamed++ == 0)
		directory->example = filename_of(path);
	return 0;
}

/*
 * In how many directories some are moved and others have no name: the first, and all
 * such.
 */
static size_t find_leftovers(const struct regroup *r, size_t *first, uint64_t *files)
{
	size_t n = 0;

	*files = 0;
	for (size_t i = 0; i < r->directories.count; i++) {
		const struct regroup_directory *directory = &r->directories.items[i];

		if (!directory->moved || directory->unnamed == 0)
			continue;
		if (n++ == 0)
			*first = i;
		*files += directory->unnamed;
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
		snprintf(more, sizeof(more), ", and in other directories (%zu in all)", n);
	findings_add(r->findings, FINDING_LEFT_OUT,
		     "names=: %" PRIu64 " files have no name in it ('%.255s', for one), "
		     "and stay among the directories of classes in '/%.255s'%s, where "
		     "ImageFolder does not see them", files,
		     r->directories.items[first].example,
			     r->directory_paths.items.items[first],
		     more);
}

int regroup_count_split(struct regroup *r, const struct regroup_file *file,
			const char *split)
{
	const char *path = regroup_new_path(r, file->path, file->directory);
	struct regroup_directory *directory = path ? directory_of(r, path) : NULL;

	if (!directory)
		return -ENOMEM;
	directory->receives |= file->directory != NULL;
	if (!directory->split)
		directory->split = split;
	else if (strcmp(directory->split, split) != 0)
		directory->other = split;
	return 0;
}

void regroup_report_splits(const struct regroup *r)
{
	size_t n = 0, first = 0;

	for (size_t i = 0; i < r->directories.count; i++) {
		const struct regroup_directory *directory = &r->directories.items[i];

		if (directory->receives && directory->other && n++ == 0)
			first = i;
	}
	if (n == 0)
		return;
	findings_add(r->findings, FINDING_CHOSEN,
		     "names=: files of '%s' and of '%s', as the sources' names say, are "
		     "in one directory of a class, '/%.255s' (%zu such); mount each alone, "
		     "or pack them in directories that are called so",
		     r->directories.items[first].split, r->directories.items[first].other,
		     r->directory_paths.items.items[first], n);
}
