/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index_access.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/filename.h"

static size_t directory_length(const char *path)
{
	return (size_t)(filename_of(path) - path);
}

/* The users that the directories above admit, as the permissions that remain of 0777. */
static mode_t reach_of(const char *path, gid_t gid)
{
	CLEANUP(cleanup_free) char *directory = strndup(path, directory_length(path));
	mode_t left = 0777;
	struct stat st;

	while (directory && *directory) {
		directory[strlen(directory) - 1] = '\0'; /* the slash */
		if (stat(*directory ? directory : "/", &st) < 0)
			return 0700;
		if (!(st.st_mode & S_IXOTH))
			left &= st.st_gid == gid && (st.st_mode & S_IXGRP) ? 0770 : 0700;
		directory[directory_length(directory)] = '\0';
	}
	return directory ? left : 0700;
}

/* A set's index lies beside its first file: other directories may admit fewer users. */
static mode_t access_from(const struct source *first, const struct source *other,
			  gid_t gid)
{
	const char *here = source_place(first), *there = source_place(other);
	size_t n = directory_length(here);
	bool beside = *there != '/' || (n == directory_length(there) && memcmp(here,
									       there, n) == 0);

	return beside ? 0777 : reach_of(there, gid);
}

struct image_access index_access(const struct source_set *sources)
{
	const struct source_owner *first = source_owner(sources->sources[0]);
	struct image_access access = { 0777, first->uid, first->gid };

	for (uint32_t i = 0; i < sources->count; i++) {
		const struct source_owner *owner = source_owner(sources->sources[i]);

		if (owner->uid != first->uid)
			access.uid = (uid_t)-1;
		access.mode &= owner->gid == access.gid ? owner->mode : owner->mode & 0707;
		access.mode &= access_from(sources->sources[0], sources->sources[i],
					   access.gid);
	}
	return access;
}
