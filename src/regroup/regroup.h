/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regroup.h: flat directories of files become directories of classes.
 *
 * ILSVRC's validation images lie in one directory; which class they have is in a file
 * beside them. With a map of names (maps/name_map.h) val/x.JPEG becomes
 * val/n03146219/x.JPEG, in the logs of entries, before the tree is built of them.
 *
 *	a file (or a link) whose name the map has is moved below its class's directory
 *	what lies in its class's directory already, and what no map has, stays
 *	a hard link's target is renamed as the file that it leads to
 *	a relative symbolic link leads to the same file as before, or stays dangling
 *	directories stay, and get no contents that they had not
 *
 * Where a key has directories, and some file lies in one of them, only such files are
 * meant; where a key has no suffix, and some file has that of an image, only images are.
 * A file with the very path of a key is the only one meant by it.
 *
 * Threads: one regrouping belongs to one thread at a time.
 */
#ifndef GRANARY_REGROUP_REGROUP_H
#define GRANARY_REGROUP_REGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "build/entries.h"
#include "build/findings.h"
#include "index/index.h"
#include "maps/name_map.h"

struct regroup;

/* The arguments outlive the result; `classes` and `findings` may be NULL. NULL: out of memory. */
struct regroup *regroup_new(const struct view_map *maps, size_t n,
			    const struct class_list *classes, struct findings *findings);
void regroup_free(struct regroup *regroup);

/*
 * Looks at a shard's log, and those that follow it or are nested in it: every shard
 * once. They must stay as they are until they are applied. Where the shards' names say
 * several splits, `split` is this one's, as long as the regrouping; else NULL. -ENOMEM, or
 * -EBADMSG where two maps contradict each other.
 */
int regroup_collect(struct regroup *regroup, struct entries *entries, const char *split,
		    struct error *e);

/*
 * All shards have been collected: decides which files are moved. Adds to the findings what
 * of the maps has no file, or not where it should be. -ENOMEM; -EBADMSG and a sentence
 *
 *	where a name would move two files of different directories: one would have the other's label
 *	where the list of classes may begin with the name of label 1, as no file has label 0
 *	and the greatest label has no name
 *	where a file would be moved to where another one is
 */
int regroup_seal(struct regroup *regroup, struct error *e);

/* Renames what is moved in a shard's log; the shards in the order of regroup_collect. -ENOMEM. */
int regroup_apply(struct regroup *regroup, struct entries *entries, struct error *e);

/* Does a map have the name of a file? */
bool regroup_used(const struct regroup *regroup);

/* Says what was done: fills in view, labels and classes. */
void regroup_describe(const struct regroup *regroup, struct index_summary *summary);

#endif
