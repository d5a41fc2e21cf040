/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place.h: where a file is made: a folder that is open, and a name in it.
 *
 * A path is followed once. From then on all that belongs to the file (itself, a temporary
 * name, its claim) is made, renamed and removed below the folder's descriptor, whatever its
 * path has come to mean since.
 *
 * For root a path may lead through symbolic links of others, who can have it end anywhere.
 * So root follows it, from the first of these on, with the rights of the link's owner, and
 * a path that ends in somebody else's folder is refused. A link is that of the owner of
 * the folder that it lies in, too.
 *
 * Names: `suffix` is what follows the file's own name, "" for the file itself. What has a
 * name and is a symbolic link is never followed. Functions return 0 or a descriptor, or a
 * negative errno.
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
 * Follows the path of a file to its folder: 0 and *out, which the caller closes, or a
 * negative errno and a sentence that names it. `make`: folders that are not there are made,
 * private.
 */
int place_open(const char *path, bool make, struct place **out, struct error *e);

/*
 * The same of a path that lies beside a file which is open. The folder must hold that file
 * under the name `file`: else it is another one than it was, and the error is -ESTALE. So
 * who owns the folders above is of no importance.
 */
int place_open_beside(const char *path, const char *file, dev_t device, ino_t inode,
		      struct place **out, struct error *e);
void place_close(struct place *place); /* NULL is nothing */

/*
 * Opens a file by the same rule, its own links included, as open(2) does with these flags and
 * this mode: a descriptor; -EPERM and a sentence where root would be led into a third one's
 * folder; or another negative errno.
 */
int place_open_file(const char *path, int flags, mode_t mode, struct error *e);

/* Follows the path of a folder in the same way: an O_PATH descriptor, or a negative errno. */
int place_open_folder(const char *path, struct error *e);

/* The path that it was opened by; lives as long as the place. */
const char *place_path(const struct place *place);

/* Who owns the folder. */
uid_t place_uid(const struct place *place);
gid_t place_gid(const struct place *place);

/* From now on all is done with these ids, if this process is root and may (os/fsids.h). */
void place_act_as(struct place *place, uid_t uid, gid_t gid);

/* A new file, open for writing; -EEXIST where there is anything of that name. */
int place_create(const struct place *place, const char *suffix, mode_t mode);

/* The same under a name that is not there yet, private: its suffix is written to `out`. */
int place_create_temporary(const struct place *place, char out[PLACE_TEMPORARY_BYTES]);

/* Open for reading. A FIFO does not block. */
int place_read(const struct place *place, const char *suffix);
int place_stat(const struct place *place, const char *suffix, struct stat *out);

int place_rename(const struct place *place, const char *from, const char *to);
int place_link(const struct place *place, const char *from, const char *to);
int place_unlink(const struct place *place, const char *suffix);

/* Of a file that was created here: its time is now; its owners, where -1 is as before. */
int place_touch(const struct place *place, int fd);
int place_set_owner(const struct place *place, int fd, uid_t uid, gid_t gid);
int place_set_mode(const struct place *place, int fd, mode_t mode);

/*
 * NFS remembers for up to a minute that there was no file of a name. Opening the
 * folder makes it ask, so that what has just been published is seen.
 */
void place_refresh(const struct place *place);

#endif
