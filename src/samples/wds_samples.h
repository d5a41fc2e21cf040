/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_samples.h: the members of a tar or zip, put together as WebDataset does.
 *
 * A member's key is its directories and its own name up to the first dot, its suffix all
 * the rest; members one behind the other that have one key are a sample. What is no
 * regular file, has no dot in its name or begins with one, or is called `__x__`, is in no
 * sample, and does not end one.
 *
 * Threads: as the log of entries that is walked.
 */
#ifndef GRANARY_SAMPLES_WDS_SAMPLES_H
#define GRANARY_SAMPLES_WDS_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "build/entries.h"

struct wds_member {
	const char *path;    /* as long as the log holds it */
	const char *suffix;  /* within path: "jpg", "input.pyd" */
	uint64_t size;
	uint64_t offset;     /* bytes from the start of the source, if it is whole */
	uint32_t source;     /* the offset is of this one */
	bool whole;          /* in one piece, as it is; or empty */
	bool coded;          /* in one piece, compressed */
	struct entries *log; /* where the entry is */
	size_t index;
};

enum { WDS_MEMBERS_MOST = 64 }; /* of a sample: each is compared with each */

struct wds_sample {
	VEC(struct wds_member) members;
	const char *key;     /* the beginning of each member's path */
	size_t key_length;
	const char *odd;     /* why it cannot be taken apart, or NULL */
};

struct wds_walk {
	struct entries *log;
	size_t next;
	/* Called for entries in no sample; may be NULL. A negative errno ends the walk. */
	int (*other)(void *context, struct entries *log, const struct entry *entry);
	void *context;
};

/* The next sample: 1, or 0 at the end, or what `other` said, or -ENOMEM. */
int wds_walk_next(struct wds_walk *walk, struct wds_sample *sample);
void wds_sample_free(struct wds_sample *sample);

/* The first member with this suffix, whatever its case, or NULL. */
const struct wds_member *wds_sample_find(const struct wds_sample *sample,
					 const char *suffix);

/* Does WebDataset leave out what is called so: `__x__`, and all that is in `__x__/`? */
bool wds_is_meta(const char *path);

/* The part behind the last dot of a suffix. */
const char *wds_extension(const char *suffix);

/* A suffix as people write it, without the dot before it. */
const char *wds_plain_suffix(const char *suffix);

/* A path without "./" and slashes before it. */
const char *wds_plain_path(const char *path);

#endif
