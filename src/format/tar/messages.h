/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * messages.h: the sentences for a tar that cannot be read. Private to format/tar/.
 * All return -EBADMSG or the error that they were given.
 */
#ifndef GRANARY_FORMAT_TAR_MESSAGES_H
#define GRANARY_FORMAT_TAR_MESSAGES_H

#include <stdint.h>

#include "base/error.h"

/* A file's name, and the window of it: positions count from `base`. */
struct tar_place {
	const char *label;
	uint64_t base, length;
	struct error *e;
};

int tar_refuse_read(const struct tar_place *place, uint64_t at, int err);

/* `what` of a member, the size for one, makes no sense. */
int tar_refuse_member(const struct tar_place *place, const char *what,
		      const char *member, uint64_t data);

/* The tar ends inside a member that has `stored` bytes from `data` on. */
int tar_refuse_truncated(const struct tar_place *place, const char *member,
			 uint64_t data, uint64_t stored);

/* The tar is one of several volumes, and begins inside `file`. */
int tar_refuse_volume(const struct tar_place *place, const char *file);

/* The tar ends inside the member whose header is at `header`. */
int tar_refuse_lost(const struct tar_place *place, uint64_t header);

/* The tar ends inside the header that begins at `header`. */
int tar_refuse_cut(const struct tar_place *place, uint64_t header);

/* There should be a header; `reason` may be NULL. */
int tar_refuse_header(const struct tar_place *place, uint64_t header,
		      const char *reason);

#endif
