/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.h: lists a source tree: a directory, or another input (input.h).
 *
 * Names are bytes. Directories, files, symbolic links and hard links are listed with
 * their attributes; FIFOs, sockets and devices are counted and left out. Contents are not
 * read. Symbolic links below the source directory are not followed.
 *
 * Threads: pack_scan_run starts its own; the result is constant after it.
 */
#ifndef GRANARY_PACKER_SCAN_H
#define GRANARY_PACKER_SCAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "packer/input.h"
#include "packer/problems.h"
#include "packer/writer.h"

struct pack_scan_entry {
	const char *path;   /* from the source directory; "" is the directory */
	const char *target; /* as pack_entry has it */
	const struct pack_xattr *xattrs; /* of a file only with an input */
	uint64_t size;      /* of a file and its hard links */
	uint64_t decoded_size; /* of a decoded image; or 0 (measure.h) */
	uint64_t device, inode;
	int64_t mtime;
	uint32_t mtime_ns;
	uint32_t mode, uid, gid;
	uint32_t xattr_count;
	uint16_t kind;      /* enum pack_kind */
	bool linked;        /* a file with several names */
};

struct pack_scan_directory;

struct pack_scan {
	struct pack_scan_entry *entries;
		/* in the order of pack_path_compare, the root first */
	size_t count;
	uint64_t special;           /* FIFOs, sockets and devices, left out */
	int root;                   /* the source directory, open; or -1 */
	struct pack_scan_directory *directories;
	const struct pack_input *input; /* or NULL: a directory */
	struct arena arena;         /* the rest is of an input */
	size_t room;                /* of `entries` */
	uint64_t bytes;             /* of all files */
	uint64_t copies;            /* bytes of paths, targets and attributes */
};

/* Is `name` in `directory` one of the output files? */
typedef bool pack_scan_skip(const void *context, const struct stat *directory,
			    const char *name);

struct pack_scan_config {
	const char *directory;
	unsigned threads;
	pack_scan_skip *skip;     /* or NULL */
	const void *context;
	struct problems *problems;
	_Atomic uint64_t *found;  /* entries listed so far; or NULL */
};

/*
 * Lists the tree. A directory that cannot be read is a problem; an error ends the whole
 * scan. The caller frees *out with pack_scan_free, also after an error.
 */
int pack_scan_run(const struct pack_scan_config *config, struct pack_scan *out,
		  struct error *e);
void pack_scan_free(struct pack_scan *scan);

/* Lists an input; it must outlive the scan. As pack_scan_run. */
int pack_scan_list(const struct pack_input *input, struct pack_scan *out, struct error *e);

/*
 * For an input: adds an entry; its path, xattrs and a copy of its target are made here.
 * `directory` is the number of an entry added before; for the root, the first, no name is
 * given. Names may be of strangers, and come as a walk has them: in each directory in the
 * order of their bytes, its contents before the next name. 0, -ENOMEM; -EBADMSG: another
 * order, or what no tree has; -E2BIG: more than input->copies_most.
 */
int pack_scan_add(struct pack_scan *scan, size_t directory, const char *name, size_t length,
		  const struct pack_scan_entry *attributes);

enum { PACK_SCAN_XATTRS = 4096 }; /* of an entry, as in an index */

/*
 * Adds an attribute to the last entry: user.* only, in the order of names, each once. 0,
 * -ENOMEM; -EBADMSG: none that an entry may have; -E2BIG: as pack_scan_add.
 */
int pack_scan_add_xattr(struct pack_scan *scan, const char *name, const void *value,
			size_t size);

/*
 * The first of several names of a file stays a file; the others become hard links. 0,
 * -ENOMEM; -EBADMSG: an input has names of one file with different sizes.
 */
int pack_scan_find_links(struct pack_scan *scan);

/*
 * Reads up to `length` of a file's first bytes: their number or a negative errno. *where:
 * "opened" or "read".
 */
ssize_t pack_scan_read(const struct pack_scan *scan, const struct pack_scan_entry *entry,
		       void *bytes, size_t length, const char **where);

/*
 * Notes a problem for each directory that has changed since it was listed, except
 * `except`, where the output is made. Returns their number.
 */
size_t pack_scan_recheck(const struct pack_scan *scan, const struct stat *except,
			 struct problems *problems);

/*
 * Compares the bytes of names, directory by directory: "a", "a/b", "a-b". A directory's
 * contents come directly behind it, as with GNU tar --sort=name.
 */
int pack_path_compare(const char *a, const char *b);

/*
 * openat(2) for paths of any length; no symbolic link is followed at the end. A
 * descriptor or a negative errno.
 */
int pack_scan_open(int root, const char *path, int flags);

/*
 * The user.* attributes of an open file, sorted by name, in `arena`: 0 or a negative
 * errno. None if the filesystem has no attributes. Others (ACLs, labels, capabilities)
 * belong to the machine, and a mount does not show them.
 */
int pack_scan_xattrs(int fd, struct arena *arena, const struct pack_xattr **out,
		     uint32_t *count);

#endif
