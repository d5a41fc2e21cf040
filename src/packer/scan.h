/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.h: lists a source tree.
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
#include "packer/problems.h"
#include "packer/writer.h"

struct pack_scan_entry {
	const char *path;   /* from the source directory; "" is the directory */
	const char *target; /* as pack_entry has it */
	const struct pack_xattr *xattrs; /* of a directory only */
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
	int root;                   /* the source directory, open */
	struct pack_scan_directory *directories;
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
