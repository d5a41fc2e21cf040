/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ops.h: answers the kernel's requests. Private to fuse/.
 *
 * Answers come from the sealed tree and the volumes, without locks; all other state is
 * set before the threads start. FORGET changes nothing, because an inode's number is its
 * position in the tree.
 */
#ifndef GRANARY_FUSE_OPS_H
#define GRANARY_FUSE_OPS_H

#define FUSE_USE_VERSION 31
#include <fuse_lowlevel.h>
#include <sys/statvfs.h>

#include "dataset/dataset.h"
#include "fuse/session.h"
#include "os/namespace.h"

struct inodes;
struct prefetch;
struct page_cache;

/* The kernel's capabilities and limits, from INIT. */
struct kernel_terms {
	unsigned minor;         /* of the protocol, 7 */
	unsigned max_request;   /* bytes of a read or a listing */
	unsigned max_readahead; /* bytes, before readahead_raise */
	bool readdirplus;
	bool symlinks;          /* symlinks are cached */
	bool listings;          /* listings of open directories are cached */
};

/* The state of all answers: the user data of the FUSE session. */
struct served {
	struct dataset *dataset;
	const struct mount_config *config;
	struct statvfs statistics; /* the answer to statfs, without storage */
	uid_t uid;          /* the mount's owner, */
	gid_t gid;
	struct namespace_ids uids, gids; /* and the ids of its user namespace */
	bool hide_opens;    /* set by INIT */
	bool hide_opendirs; /* set by INIT */
	bool initialised;   /* set by INIT */
	const struct fuse_buf *first; /* the request INIT, while it is answered */
	struct kernel_terms terms;
	const char *labels;        /* of the mount's metrics; NULL: not known yet */
	struct inodes *inodes;     /* held by the kernel; shared by servers */
	struct prefetch *prefetch; /* in the server; NULL: nothing is read ahead */
	struct page_cache *push;   /* NULL: nothing is pushed */
};

extern const struct fuse_lowlevel_ops granary_ops;

/* `uid` and `gid`: the mount's owner. */
int served_init(struct served *served, struct dataset *dataset,
		const struct mount_config *config, uid_t uid, gid_t gid, struct error *e);

/* The kernel's inode number of a node. */
fuse_ino_t ops_inode(const struct served *served, uint32_t node);

/* The node's attributes for the kernel: 0 or a negative errno. */
int ops_entry(const struct served *served, uint32_t node, struct fuse_entry_param *out);

/* The calling thread's buffer, valid until its next call; NULL: out of memory. */
char *ops_buffer(size_t size);

/* Frees the calling thread's reply buffer. */
void ops_thread_end(void);

#endif
