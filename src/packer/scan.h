/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.h: what a source tree holds.
 *
 * Names are bytes. Directories, files, symbolic links and hard links are listed with
 * their attributes; FIFOs, sockets and devices are counted and left out. Contents are
 * not read. Nothing is followed out of the tree: below the folder that was named no
 * symbolic link is.
 *
 * Threads: scan_run starts its own; the result is not changed after that.
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

struct scan_entry {
	const char *path;   /* from the source folder; "" is that folder */
	const char *target; /* as pack_entry has it */
	const struct pack_xattr *xattrs; /* of a directory; a file's are read with it */
	uint64_t size;      /* of a file and of its other names */
	uint64_t decoded_size; /* of an image, once it is decoded; or 0 (measure.h) */
	uint64_t device, inode;
	int64_t mtime;
	uint32_t mtime_ns;
	uint32_t mode, uid, gid;
	uint32_t xattr_count;
	uint16_t kind;      /* enum pack_kind */
	bool linked;        /* a file with several names */
};

struct scan_folder;

struct scan {
	struct scan_entry *entries; /* in the order of pack_path_compare, the root first */
	size_t count;
	uint64_t special;           /* FIFOs, sockets and devices, left out */
	int root;                   /* the source folder, open */
	struct scan_folder *folders;
};

/* Is this name in this folder one of the files that are being written? */
typedef bool scan_skip(const void *context, const struct stat *folder, const char *name);

struct scan_config {
	const char *folder;
	unsigned threads;
	scan_skip *skip;          /* or NULL */
	const void *context;
	struct problems *problems;
	_Atomic uint64_t *found;  /* counts entries meanwhile; or NULL */
};

/*
 * Scans. Folders that cannot be read are problems; an error is what makes the whole
 * impossible. The caller frees *out with scan_free, also after an error.
 */
int scan_run(const struct scan_config *config, struct scan *out, struct error *e);
void scan_free(struct scan *scan);

/*
 * Has a folder been changed since it was listed? Each that has is a problem; not `except`,
 * in which something is being made. How many there are.
 */
size_t scan_recheck(const struct scan *scan, const struct stat *except,
		    struct problems *problems);

/*
 * By the bytes of names, folder by folder: "a", "a/b", "a-b". What lies in a folder
 * comes directly behind it, as GNU tar --sort=name has it.
 */
int pack_path_compare(const char *a, const char *b);

/*
 * openat(2) for paths of any length, without following a symbolic link at the end:
 * a descriptor or a negative errno.
 */
int scan_open(int root, const char *path, int flags);

/*
 * The user.* attributes of an open file, sorted by name, in `arena`: 0 or a negative
 * errno. Where the filesystem has none there are none. Others (ACLs, labels,
 * capabilities) belong to the machine, and a mount does not show them.
 */
int scan_xattrs(int fd, struct arena *arena, const struct pack_xattr **out,
		uint32_t *count);

#endif
