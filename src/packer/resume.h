/*
 * resume.h: how a set of shards that was interrupted goes on.
 *
 * While a set is made a small file lies beside it (".FIRST.plan"), with a digest of
 * the plan and of the options that decide on bytes. A shard that is there under its name is
 * complete, so with the same digest those that are missing are all that is left to do.
 * The file is removed when the last shard is there.
 *
 * Threads: one.
 */
#ifndef GRANARY_PACKER_RESUME_H
#define GRANARY_PACKER_RESUME_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/out_name.h"
#include "util/error.h"

enum resume_found {
	RESUME_NOTHING,  /* no such file */
	RESUME_SAME,
	RESUME_OTHER,    /* another plan's, or damaged */
};

/* The file's path: the caller frees it; NULL: out of memory. */
char *resume_path(const struct out_name *name);

enum resume_found resume_look(const char *path, uint64_t digest);
int resume_note(const char *path, uint64_t digest, struct error *e);

#endif
