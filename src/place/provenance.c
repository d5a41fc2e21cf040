/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/provenance.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/filename.h"

/* An index of 0.1 may have the name that the file was opened by, such as a link's. */
static bool has_name(const struct source *source, const char *name)
{
	return strcmp(name, source_own_name(source)) == 0 ||
	       strcmp(name, filename_of(source_path(source))) == 0;
}

/* A device's inode identifies nothing; its index lies in the user's own cache. */
static bool provenance_is_same(const struct index_wish *wish, const struct card *card,
			       uint32_t i)
{
	const struct source *source = wish->sources->sources[i];
	const struct card_source *was = card_source(card, i);
	uint64_t number = wish->identities[i].number;

	if (source_info(source)->device)
		return true;
	if (number && was->identity.number)
		return number == was->identity.number;
	return has_name(source, was->name);
}

/*
 * Is this file in the directory of `path`, and is that directory closed to other users?
 * The group's bits include those of an ACL (acl(5)). Write permission on a directory
 * allows to rename files in it; the sticky bit does not keep owners from renaming theirs.
 */
static bool provenance_is_kept(const struct index_wish *wish, const char *path,
			       const struct source_id *id)
{
	const char *name = filename_of(path);
	CLEANUP(cleanup_free) char *directory = name == path ? strdup(".") :
							    strndup(path, (size_t)(name - path));
	CLEANUP(cleanup_close) int fd =
		directory ? open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct stat st, file;

	return fd >= 0 && fstat(fd, &st) == 0 && fstatat(fd, name, &file, 0) == 0 &&
	       file.st_dev == id->device && file.st_ino == id->inode &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       index_owner_is_allowed(wish, st.st_uid);
}

/* Checks the directory of the index's path, and that of a link's target. */
static bool is_vouched_for(const struct index_wish *wish, const struct index_file *file)
{
	const struct source *source = file ? index_file_source(file) : NULL;

	return source &&
	       provenance_is_kept(wish, source_path(source), &source_info(source)->id) &&
	       provenance_is_kept(wish, source_place(source), &source_info(source)->id);
}

int provenance_check(const struct index_wish *wish, const struct card *card,
		     const struct index_file *file, struct error *e)
{
	for (uint32_t i = 0; i < wish->sources->count; i++) {
		if (provenance_is_same(wish, card, i))
			continue;
		if (is_vouched_for(wish, file))
			return 0;
		return error_set(e, ERROR_DATASET, EXDEV,
				 "it was made of another file than '%s', called '%s' then, and "
				 "others than its owner may write to the directory that it is in",
				 source_path(wish->sources->sources[i]),
				 card_source(card, i)->name);
	}
	return 0;
}
