/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resume.h: how a set of shards that was interrupted goes on.
 *
 * While a set is made a small file lies beside it (".FIRST.plan"), with a digest of
 * the plan and of the options that decide on bytes, and the size of each shard that was
 * made. A shard that is there under its name was complete, so with the same digest and
 * these sizes those that are missing are all that is left to do.
 * The file is removed when the last shard is there.
 *
 * Threads: one.
 */
#ifndef GRANARY_PACKER_RESUME_H
#define GRANARY_PACKER_RESUME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "packer/out_name.h"
#include "packer/packer.h"

enum resume_found {
	RESUME_NOTHING,  /* no such file */
	RESUME_SAME,
	RESUME_OTHER,    /* another plan's, or damaged */
};

/* The file's path: the caller frees it; NULL: out of memory. */
char *resume_path(const struct out_name *name);

enum resume_found resume_look(const char *path, uint64_t digest);
int resume_note(const char *path, uint64_t digest, struct error *e);

/* Shard `number` will have so many bytes: noted before it has its name. */
int resume_note_size(const char *path, size_t number, uint64_t bytes, struct error *e);

/*
 * Which of the shards are there: they get their sizes, and are kept. -EBADMSG and a
 * sentence where one has another size than was noted; or, where none was, is a tar
 * without its end.
 */
int resume_keep(const char *path, struct pack_shard *shards, size_t count, bool tar,
		struct error *e);

#endif
