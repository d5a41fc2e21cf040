/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resume.h: continues an interrupted set of shards.
 *
 * While a set is made, the file ".FIRST.plan" lies beside it: a digest of the plan and of
 * the options that decide on bytes, and the size of each finished shard. A shard gets its
 * name only when it is complete. So with the same digest and sizes only the missing
 * shards are made. The file is removed after the last shard.
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
	RESUME_OTHER,    /* of another plan, or damaged */
};

/* The file's path: the caller frees it; NULL: out of memory. */
char *resume_path(const struct out_name *name);

enum resume_found resume_compare_plan(const char *path, uint64_t digest);
int resume_record_plan(const char *path, uint64_t digest, struct error *e);

/* Notes the size of shard `number`, before the shard gets its name. */
int resume_record_size(const char *path, size_t number, uint64_t bytes, struct error *e);

/*
 * Fills bytes, device and inode of the shards that exist, and marks them `kept`. -EBADMSG
 * and a sentence if the size of one differs from the noted one, or if a tar without a
 * noted size has no end.
 */
int resume_mark(const char *path, struct pack_shard *shards, size_t count, bool tar,
		struct error *e);

#endif
