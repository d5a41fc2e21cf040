/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place.h: makes files by an open directory and a name in it.
 *
 * The path is followed once. Then the file, its temporary name and its claim are made,
 * renamed and removed below the directory's descriptor, even if the path changes.
 *
 * For root, links of other users in a path could make it end anywhere. So root follows
 * the path with the owner's rights from the first such link on, and refuses a path that
 * ends in a third user's directory. The owner of a link's directory counts as an owner of
 * the link.
 *
 * Names: `suffix` follows the file's own name; "" is the file itself. A name that is a
 * symbolic link is never followed. Functions return 0 or a descriptor, or a negative
 * errno.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_OS_PLACE_H
#define GRANARY_OS_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

struct place;

enum { PLACE_TEMPORARY_BYTES = 8 }; /* of ".XXXXXX" */

/*
 * Opens the directory of a file: 0 and *out, which the caller closes, or a negative errno
 * and *e, which names the path. `make`: makes missing directories, private.
 */
int place_open(const char *path, bool make, struct place **out, struct error *e);

/*
 * The same for a path beside an open file. -ESTALE unless the directory still holds that
 * file under the name `file`. So the owners of the directories above do not matter.
 */
int place_open_sibling(const char *path, const char *file, dev_t device, ino_t inode,
		       struct place **out, struct error *e);
void place_close(struct place *place); /* NULL is nothing */

/*
 * Opens a file by the same rule, its own links included, with the flags and mode of
 * open(2): a descriptor; -EPERM and *e where root would end in a third user's directory;
 * or another negative errno.
 */
int place_open_file(const char *path, int flags, mode_t mode, struct error *e);

/* Opens a directory in the same way: an O_PATH descriptor, or a negative errno. */
int place_open_directory(const char *path, struct error *e);

/* The path it was opened by; valid until place_close. */
const char *place_path(const struct place *place);

/* The owner of the directory. */
uid_t place_uid(const struct place *place);
gid_t place_gid(const struct place *place);

/* Acts with these ids from now on, if this process is root and can (os/fsids.h). */
void place_set_ids(struct place *place, uid_t uid, gid_t gid);

/* Makes a file and opens it for writing; -EEXIST if the name exists. */
int place_create(const struct place *place, const char *suffix, mode_t mode);

/* Makes a private file under a new name, whose suffix is written to `out`. */
int place_create_temporary(const struct place *place, char out[PLACE_TEMPORARY_BYTES]);

/*
 * Makes a private file without a name, for reading and writing: it ends with its last
 * descriptor. Where the filesystem has none (O_TMPFILE), it loses its name at once.
 */
int place_create_unnamed(const struct place *place);

/* Opens a file for reading and writing, or makes it, private. */
int place_open_private(const struct place *place, const char *suffix);

/*
 * Calls `visit` with the suffix of each name that begins as the place's does, until it
 * returns true: 1. 0: it never did. Or a negative errno.
 */
int place_search(const struct place *place,
		 bool (*visit)(void *context, const char *suffix), void *context);

/* Opens for reading. A FIFO does not block. */
int place_read(const struct place *place, const char *suffix);
int place_stat(const struct place *place, const char *suffix, struct stat *out);

int place_rename(const struct place *place, const char *from, const char *to);
int place_link(const struct place *place, const char *from, const char *to);
int place_unlink(const struct place *place, const char *suffix);

/* Of a file that was made here: sets its time to now, or its owners (-1: unchanged). */
int place_touch(const struct place *place, int fd);
int place_set_owner(const struct place *place, int fd, uid_t uid, gid_t gid);
int place_set_mode(const struct place *place, int fd, mode_t mode);

/*
 * An NFS client remembers for up to a minute that a name did not exist. Opening the
 * directory makes it ask the server, so that a file just published is found.
 */
void place_refresh(const struct place *place);

#endif
