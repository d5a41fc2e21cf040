/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/log.h"
#include "fuse/control.h"
#include "fuse/kernel_inodes.h"
#include "fuse/listing.h"
#include "fuse/page_cache.h"
#include "fuse/readonly.h"
#include "fuse/request_events.h"
#include "fuse/xattrs.h"
#include "os/memory.h"
#include "os/pages.h"
#include "prefetch/prefetch.h"
#include "stats/stats.h"

/* The tree never changes, so the kernel may keep every answer. */
static const double FOREVER = 1e9;

enum {
	BLOCK = 512,                    /* the unit of st_blocks */
	FILE_BLKSIZE_LEAST = 4096,
	FILE_BLKSIZE_MOST = 128 * 1024, /* Python then reads an image in one go */
	HEAP_LEAST = 56 * 1024,  /* files from this size on, */
	HEAP_MOST = 256 * 1024,  /* to this one: see file_blksize */
	HEAP_BLKSIZE = 1024 * 1024,
	DIRECTORY_BLKSIZE = 1024 * 1024, /* getdents in large pieces */
	BACKGROUND_REQUESTS = 512,
	STATFS_BLOCK = 4096,
	FEW_PAGES = 32,         /* of a request, before Linux 4.20 */
	INIT_BYTES_LEAST = 16,  /* of fuse_init_in, up to its flags */
};

#ifndef FUSE_MAX_PAGES
#define FUSE_MAX_PAGES (1 << 22) /* since Linux 4.20 */
#endif

static struct served *served_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* Inode 1 is the root that is shown; each other inode is node + 1. */
static uint32_t node_of(const struct served *s, fuse_ino_t ino)
{
	if (ino == FUSE_ROOT_ID)
		return dataset_root(s->dataset);
	return ino > UINT32_MAX ? UINT32_MAX : (uint32_t)(ino - 1);
}

fuse_ino_t ops_inode(const struct served *s, uint32_t node)
{
	return node == dataset_root(s->dataset) ? FUSE_ROOT_ID : (fuse_ino_t)node + 1;
}

/* Requests for .granaryfs are not counted as a reader's. */
static void count_request(enum counter counter, fuse_ino_t ino)
{
	stats_add(control_owns(ino) ? COUNTER_fuse_control : counter, 1);
}

static const struct tree *tree_of(const struct served *s)
{
	return dataset_tree(s->dataset);
}

/* Each thread's own, grown to the largest reply so far. */
static _Thread_local struct {
	char *bytes;
	size_t size;
} reply_buffer;

char *ops_buffer(size_t size)
{
	if (size > reply_buffer.size) {
		char *grown = realloc(reply_buffer.bytes, size);

		if (!grown)
			return NULL;
		reply_buffer.bytes = grown;
		reply_buffer.size = size;
	}
	return reply_buffer.bytes;
}

void ops_thread_end(void)
{
	free(reply_buffer.bytes);
	reply_buffer.bytes = NULL;
	reply_buffer.size = 0;
}

/* Attributes. */

/*
 * Python allocates a buffer of this size, larger than the file, so that one read gets all
 * bytes and the end of file. The buffer and the contents of such a file, and of the file
 * before if Python still holds it, exceed the memory that glibc's heap keeps after a
 * free. Then each file would fault its pages in again (27 for 110 kB, most of an
 * open().read()). glibc keeps twice the largest block freed so far. So the buffer is made
 * larger than all of these contents. Larger files need no such help.
 */
static blksize_t file_blksize(uint64_t size)
{
	uint64_t blksize = FILE_BLKSIZE_LEAST;

	if (size >= HEAP_LEAST && size < HEAP_MOST)
		return HEAP_BLKSIZE;
	while (blksize <= size && blksize < FILE_BLKSIZE_MOST)
		blksize *= 2;
	return (blksize_t)blksize;
}

static mode_t mode_of(const struct served *s, const struct tree_stat *st)
{
	static const mode_t types[] = { [TREE_DIRECTORY] = S_IFDIR, [TREE_FILE] = S_IFREG,
					[TREE_SYMLINK] = S_IFLNK, [TREE_ALIAS] = S_IFREG };
	mode_t mask = st->kind == TREE_SYMLINK ? 0 : s->config->umask & 0777;

	return types[st->kind] | (st->mode & ~mask);
}

/*
 * A file whose owner has no id in a private user namespace would be closed to all its
 * users, if the kernel checks permissions. So such a file is shown as the mount owner's.
 */
static uid_t uid_of(const struct served *s, const struct tree_stat *st)
{
	if (s->config->uid != MOUNT_AS_ARCHIVED)
		return s->config->uid;
	return namespace_knows(&s->uids, st->uid) ? st->uid : s->uid;
}

static gid_t gid_of(const struct served *s, const struct tree_stat *st)
{
	if (s->config->gid != MOUNT_AS_ARCHIVED)
		return s->config->gid;
	return namespace_knows(&s->gids, st->gid) ? st->gid : s->gid;
}

static int get_attributes(const struct served *s, uint32_t node, struct stat *out)
{
	struct tree_stat st;
	int err = tree_stat(tree_of(s), node, &st);

	if (err)
		return err;
	*out = (struct stat){
		.st_ino = ops_inode(s, st.node),
		.st_mode = mode_of(s, &st),
		.st_nlink = st.links,
		.st_uid = uid_of(s, &st),
		.st_gid = gid_of(s, &st),
		.st_size = (off_t)st.size,
		.st_blocks = (blkcnt_t)((st.stored + BLOCK - 1) / BLOCK),
		.st_blksize = st.kind == TREE_DIRECTORY ? DIRECTORY_BLKSIZE :
			      file_blksize(st.size),
		.st_mtim = { .tv_sec = st.mtime, .tv_nsec = st.mtime_ns },
	};
	out->st_atim = out->st_ctim = out->st_mtim;
	return 0;
}

int ops_entry(const struct served *s, uint32_t node, struct fuse_entry_param *out)
{
	*out = (struct fuse_entry_param){
		.ino = ops_inode(s, node),
		.attr_timeout = FOREVER,
		.entry_timeout = FOREVER,
	};
	return get_attributes(s, node, &out->attr);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	/* ino 0: no such name; the kernel may cache that */
	struct fuse_entry_param entry = { .entry_timeout = FOREVER };
	struct served *s = served_of(req);
	uint32_t node;
	int err;

	if (control_lookup(req, parent, name))
		return;
	stats_add(COUNTER_fuse_lookup, 1);
	err = tree_lookup(tree_of(s), node_of(s, parent), name, strlen(name), &node);
	if (!err)
		err = ops_entry(s, node, &entry);
	if (!err)
		inodes_known(s->inodes, node);
	if (err && err != -ENOENT)
		fuse_reply_err(req, -err);
	else
		fuse_reply_entry(req, &entry);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct served *s = served_of(req);
	struct stat st;
	int err;

	if (control_getattr(req, ino))
		return;
	stats_add(COUNTER_fuse_getattr, 1);
	err = get_attributes(s, node_of(s, ino), &st);
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_attr(req, &st, FOREVER);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct served *s = served_of(req);
	char target[TREE_TARGET_BYTES];
	int err;

	count_request(COUNTER_fuse_readlink, ino);
	err = tree_readlink(tree_of(s), node_of(s, ino), target);
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_readlink(req, target);
}

static void ops_forget(const struct served *s, fuse_ino_t ino)
{
	count_request(COUNTER_fuse_forget, ino);
	if (!control_owns(ino))
		inodes_forgotten(s->inodes, node_of(s, ino));
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	ops_forget(served_of(req), ino);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		ops_forget(served_of(req), forgets[i].ino);
	fuse_reply_none(req);
}

/* Files. */

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	count_request(COUNTER_fuse_open, ino);
	if ((fi->flags & O_ACCMODE) != O_RDONLY || (fi->flags & O_TRUNC)) {
		fuse_reply_err(req, EROFS);
		return;
	}
	if (served_of(req)->hide_opens) {
		fuse_reply_err(req, ENOSYS); /* and the kernel asks no more */
		return;
	}
	fi->direct_io = control_owns(ino);
	fi->keep_cache = !fi->direct_io;
	fuse_reply_open(req, fi);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	count_request(COUNTER_fuse_release, ino);
	fuse_reply_err(req, 0);
}

static void reply_read(fuse_req_t req, const char *buffer, ssize_t n)
{
	if (n < 0) {
		stats_add(COUNTER_read_errors, 1);
		fuse_reply_err(req, (int)-n);
		return;
	}
	stats_add(COUNTER_read_bytes, (uint64_t)n);
	fuse_reply_buf(req, buffer, (size_t)n);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	struct read_context context = { .demand = true };
	struct served *s = served_of(req);
	uint32_t node = node_of(s, ino);
	uint64_t begin = request_event_begin();
	char *buffer;
	ssize_t n;

	if (control_read(req, ino, size, offset))
		return;
	stats_add(COUNTER_fuse_read, 1);
	buffer = ops_buffer(size);
	page_cache_read_begins(s->push, node);
	context.hint = prefetch_read_begins(s->prefetch, node);
	n = buffer ? dataset_read(s->dataset, node, buffer, size, (uint64_t)offset,
				  &context) : -ENOMEM;
	reply_read(req, buffer, n);
	request_event_read(node, begin, size, (uint64_t)offset, n, &context);
	prefetch_read_ends(s->prefetch, node, (uint64_t)offset, n > 0 ? (size_t)n : 0,
			   fi->flags & O_DIRECT, &context);
	page_cache_read_ends(s->push, node);
}

/* Python asks for each opened file if it is a terminal (TCGETS). */
static void op_ioctl(fuse_req_t req, fuse_ino_t ino, int cmd, void *arg,
		     struct fuse_file_info *fi, unsigned flags, const void *in_buf,
		     size_t in_size, size_t out_size)
{
	count_request(COUNTER_fuse_ioctl, ino);
	fuse_reply_err(req, ENOTTY);
}

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 8)
/* The next offset in a hole (or in data); the end of a file is a hole. */
static int seek(const struct served *s, uint32_t node, uint64_t offset, bool hole,
		uint64_t *out)
{
	struct tree_piece piece;
	int err;

	for (;; offset += piece.length) {
		err = tree_piece(tree_of(s), node, offset, &piece);
		if (!err && piece.hole != hole)
			continue;
		*out = offset;
		return err == -ENXIO && hole ? 0 : err;
	}
}

static void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence,
		     struct fuse_file_info *fi)
{
	struct served *s = served_of(req);
	uint32_t node = node_of(s, ino);
	struct tree_stat st;
	uint64_t found = 0;
	int err;

	count_request(COUNTER_fuse_lseek, ino);
	if (!tree_has_holes(tree_of(s))) {
		fuse_reply_err(req, ENOSYS); /* the kernel answers: all is data */
		return;
	}
	if (control_lseek(req, ino, offset, whence))
		return;
	err = tree_stat(tree_of(s), node, &st);
	if (!err && (whence != SEEK_DATA && whence != SEEK_HOLE))
		err = -EINVAL;
	if (!err && (offset < 0 || (uint64_t)offset >= st.size))
		err = -ENXIO;
	if (!err)
		err = seek(s, node, (uint64_t)offset, whence == SEEK_HOLE, &found);
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_lseek(req, (off_t)found);
}
#endif

/* Directories. */

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	count_request(COUNTER_fuse_opendir, ino);
	if (served_of(req)->hide_opendirs) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	fi->keep_cache = 1;
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 5)
	fi->cache_readdir = 1;
#endif
	fuse_reply_open(req, fi);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	count_request(COUNTER_fuse_releasedir, ino);
	fuse_reply_err(req, 0);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	if (control_list(req, ino, size, offset, false))
		return;
	stats_add(COUNTER_fuse_readdir, 1);
	listing_reply(req, node_of(served_of(req), ino), size, offset, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
			   struct fuse_file_info *fi)
{
	if (control_list(req, ino, size, offset, true))
		return;
	stats_add(COUNTER_fuse_readdirplus, 1);
	listing_reply(req, node_of(served_of(req), ino), size, offset, true);
}

/* Extended attributes. */

/* The answer of both calls: with size 0 the size that is needed. */
static void reply_xattr(fuse_req_t req, const char *buffer, size_t size, int n)
{
	if (n < 0)
		fuse_reply_err(req, -n);
	else if (size == 0)
		fuse_reply_xattr(req, (size_t)n);
	else
		fuse_reply_buf(req, buffer, (size_t)n);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct served *s = served_of(req);
	char *buffer = ops_buffer(size ? size : 1);
	int n = -ENOMEM;

	count_request(COUNTER_fuse_getxattr, ino);
	if (!tree_has_xattrs(tree_of(s)))
		n = -ENOSYS; /* and the kernel asks no more */
	else if (control_owns(ino))
		n = -ENODATA;
	else if (buffer)
		n = xattrs_get(tree_of(s), node_of(s, ino), name, buffer, size);
	reply_xattr(req, buffer, size, n);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct served *s = served_of(req);
	char *buffer = ops_buffer(size ? size : 1);
	int n = -ENOMEM;

	count_request(COUNTER_fuse_listxattr, ino);
	if (!tree_has_xattrs(tree_of(s)))
		n = -ENOSYS;
	else if (control_owns(ino))
		n = 0;
	else if (buffer)
		n = xattrs_list(tree_of(s), node_of(s, ino), buffer, size);
	reply_xattr(req, buffer, size, n);
}

/* The filesystem. */

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	count_request(COUNTER_fuse_statfs, ino);
	fuse_reply_statfs(req, &served_of(req)->statistics);
}

int served_init(struct served *s, struct dataset *dataset,
		const struct mount_config *config, uid_t uid, gid_t gid, struct error *e)
{
	struct dataset_info info;

	if (dataset_info(dataset, &info) < 0)
		return error_set(e, ERROR_SYSTEM, EIO, "the index cannot be read");
	*s = (struct served){ .dataset = dataset, .config = config, .uid = uid, .gid = gid };
	namespace_ids("/proc/self/uid_map", &s->uids);
	namespace_ids("/proc/self/gid_map", &s->gids);
	s->statistics = (struct statvfs){ .f_bsize = STATFS_BLOCK, .f_frsize = STATFS_BLOCK,
					  .f_namemax = 255 };
	s->statistics.f_blocks = (info.summary.bytes + STATFS_BLOCK - 1) / STATFS_BLOCK;
	s->statistics.f_files = tree_count(dataset_tree(dataset));
	control_init(s);
	return 0;
}

/* May the kernel hold inodes for the whole tree, within the budget? */
static bool tree_is_small(const struct served *s)
{
	return memory_allows_inodes((uint64_t)tree_count(tree_of(s)) * TREE_NAME_BYTES,
				    s->config->budget);
}

static void ops_set_cap(struct fuse_conn_info *conn, unsigned capability, bool wanted)
{
	if (wanted)
		conn->want |= conn->capable & capability;
	else
		conn->want &= ~capability;
}

/* Does the kernel offer requests of more than FEW_PAGES? libfuse does not report it. */
static bool offers_many_pages(const struct served *s)
{
	const struct {
		struct fuse_in_header head;
		struct fuse_init_in init;
	} *first = s->first ? s->first->mem : NULL;

	return first && s->first->size >= sizeof(first->head) + INIT_BYTES_LEAST &&
	       (first->init.flags & FUSE_MAX_PAGES);
}

/* libfuse lowers the limit itself; since 3.17 only after this request. */
static unsigned largest_request(const struct served *s, const struct fuse_conn_info *conn)
{
	unsigned few = (unsigned)(FEW_PAGES * pages_size());

	return conn->max_write < few || offers_many_pages(s) ? conn->max_write : few;
}

/* The kernel caches listings since protocol 7.28, without a flag. */
static void note_terms(struct served *s, const struct fuse_conn_info *conn)
{
	s->terms = (struct kernel_terms){
		.minor = conn->proto_minor,
		.max_request = largest_request(s, conn),
		.max_readahead = conn->max_readahead,
		.readdirplus = conn->want & FUSE_CAP_READDIRPLUS,
#ifdef FUSE_CAP_CACHE_SYMLINKS
		.symlinks = conn->want & FUSE_CAP_CACHE_SYMLINKS,
#endif
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 5)
		.listings = conn->proto_minor >= 28,
#endif
	};
	control_measure(s);
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct served *s = userdata;
	bool small = tree_is_small(s);
	bool hidden = s->config->opens == OPENS_HIDDEN;

	stats_add(COUNTER_fuse_init, 1);
	ops_set_cap(conn, FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS, true);
#ifdef FUSE_CAP_CACHE_SYMLINKS
	ops_set_cap(conn, FUSE_CAP_CACHE_SYMLINKS, true);
#endif
	/*
	 * always, not at the kernel's choice: the first listing then brings every inode,
	 * and no file is looked up again
	 */
	/* a file with a new time of change is read anew: .granaryfs only */
	ops_set_cap(conn, FUSE_CAP_AUTO_INVAL_DATA, true);
#ifdef FUSE_CAP_EXPLICIT_INVAL_DATA
	ops_set_cap(conn, FUSE_CAP_EXPLICIT_INVAL_DATA, false);
#endif
	ops_set_cap(conn, FUSE_CAP_READDIRPLUS, small);
	ops_set_cap(conn, FUSE_CAP_READDIRPLUS_AUTO, false);
	ops_set_cap(conn,
		    FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE,
		    false);
	ops_set_cap(conn, FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_ASYNC_DIO, false);
	if (conn->max_write > SLOTS_DATA_MOST)
		conn->max_write = SLOTS_DATA_MOST; /* libfuse: as large as reads get */
	conn->max_background = BACKGROUND_REQUESTS;
	conn->congestion_threshold = BACKGROUND_REQUESTS * 3 / 4;
	s->hide_opens = hidden && (conn->capable & FUSE_CAP_NO_OPEN_SUPPORT);
#ifdef FUSE_CAP_NO_OPENDIR_SUPPORT
	s->hide_opendirs = hidden && (conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT);
#endif
	s->initialised = true;
	note_terms(s, conn);
	log_debug("protocol %u.%u, opens %s, listings with%s attributes",
		  conn->proto_major, conn->proto_minor,
		  s->hide_opens ? "hidden" : "visible", small ? "" : "out");
}

const struct fuse_lowlevel_ops granary_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.readlink = op_readlink,
	.open = op_open,
	.read = op_read,
	.release = op_release,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.releasedir = op_releasedir,
	.statfs = op_statfs,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
	.ioctl = op_ioctl,
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 8)
	.lseek = op_lseek,
#endif
	REFUSING_OPS
};
