/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_set.h: the packed files of one dataset, in order.
 *
 * The set keeps every source open.
 */
#ifndef GRANARY_SOURCE_SOURCE_SET_H
#define GRANARY_SOURCE_SOURCE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "source/source.h"

struct source_set {
	struct source **sources;
	uint32_t count;
};

/*
 * Opens the files that the texts name (source/arguments.h), in their order. Parts of a
 * file that was cut become one source (source/part_files.h). With `skip_missing` a shard
 * that does not exist is logged and left out (one at least must exist); otherwise it is an
 * error that names it. The same file named twice is an error. The caller owns *out.
 */
int source_set_open(char *const *texts, size_t n, bool skip_missing,
		    struct source_set *out, struct error *e);

/*
 * A set of open files (source_adopt): paths[i] is the path of fds[i], and where parts[i] is
 * set, a part of the file before it (source/parts.h; NULL: none is). The set owns all
 * descriptors, and closes them after an error. The caller owns *out.
 */
int source_set_adopt(char *const *paths, const int *fds, const bool *parts, size_t n,
		     struct source_set *out, struct error *e);

/*
 * Adds a file that another process has opened (source_receive), to a set that may be
 * empty; or a part to its last one. The set owns the descriptor; after an error the caller
 * does.
 */
int source_set_receive(struct source_set *set, const char *path, int fd,
		       const struct source_info *info, bool part, struct error *e);

/* Raises this process's limit of open files for a set of so many to be received. */
void source_set_make_room(size_t count);
void source_set_close(struct source_set *set);

/*
 * `out` holds set->count identities. source_set_identify_ends reads no samples, which are
 * up to 64 reads a file; source_set_sample reads these alone, and changes nothing else.
 */
int source_set_identify(const struct source_set *set, struct identity *out,
			struct error *e);
int source_set_identify_ends(const struct source_set *set, struct identity *out,
			     struct error *e);
void source_set_sample(const struct source_set *set, struct identity *out);

/*
 * 0, or -ESTALE and the name of a file that is not unchanged (source_is_unchanged). The
 * verb says what was done with it: "index", "convert".
 */
int source_set_check_unchanged(const struct source_set *set, const char *verb,
			       struct error *e);

#endif
