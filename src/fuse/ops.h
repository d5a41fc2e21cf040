/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ops.h: the answers to the kernel's requests. Private to fuse/.
 *
 * Every answer comes from the sealed tree and the volumes: no locks, no state
 * but what is set before the threads start. Forgetting is nothing, because
 * an inode's number is its place in the tree.
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
struct push;

/* What the kernel has agreed to; set by INIT. */
struct kernel_terms {
	unsigned minor;         /* of the protocol, 7 */
	unsigned max_request;   /* bytes of a read or a listing */
	unsigned max_readahead; /* bytes, before readahead_raise */
	bool readdirplus;
	bool symlinks;          /* it keeps them */
	bool listings;          /* it keeps those of opened directories */
};

/* What the answers need: the user data of the FUSE session. */
struct served {
	struct dataset *dataset;
	const struct mount_config *config;
	struct statvfs statistics; /* what statfs answers: never a look at storage */
	uid_t uid;          /* whose mount it is, */
	gid_t gid;
	struct namespace_ids uids, gids; /* and whom else its user namespace knows */
	bool hide_opens;    /* set by INIT */
	bool hide_opendirs; /* set by INIT */
	bool initialised;   /* set by INIT */
	const struct fuse_buf *first; /* the request INIT, while it is answered */
	struct kernel_terms terms;
	struct inodes *inodes;     /* that the kernel holds; shared by servers */
	struct prefetch *prefetch; /* in the server; NULL: nothing is read ahead */
	struct push *push;         /* NULL: nothing is pushed */
};

extern const struct fuse_lowlevel_ops granary_ops;

/* `uid` and `gid`: whose mount it is. */
int served_init(struct served *served, struct dataset *dataset,
		const struct mount_config *config, uid_t uid, gid_t gid, struct error *e);

/* The kernel's number of a node. */
fuse_ino_t ops_inode(const struct served *served, uint32_t node);

/* What the kernel is told of a node: 0 or a negative errno. */
int ops_entry(const struct served *served, uint32_t node, struct fuse_entry_param *out);

/* The calling thread's own, until it asks again; NULL: out of memory. */
char *ops_buffer(size_t size);

/* Frees the calling thread's reply buffer. */
void ops_thread_end(void);

#endif
