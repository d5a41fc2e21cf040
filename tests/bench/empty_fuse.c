/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * empty_fuse: a FUSE daemon that does nothing but give names: the least that a walk through
 * any FUSE daemon costs. Listings come with attributes, all answers may be kept for good.
 *
 *	empty-fuse FILES DIRECTORIES BYTES MOUNTPOINT
 *
 * DIRECTORIES directories of the root, with FILES files of BYTES bytes in all; none can
 * be read.
 */
#define FUSE_USE_VERSION 34
#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOT = FUSE_ROOT_ID, FIRST_DIRECTORY, BUFFER = 1 << 20, NAME_BYTES = 64 };
static const double FOREVER = 1e9;

static uint64_t files, directories, bytes;

/* The first file of a directory; of the number of directories: the number of files. */
static uint64_t first_of(uint64_t directory)
{
	return files * directory / directories;
}

static bool is_directory(fuse_ino_t node)
{
	return node < FIRST_DIRECTORY + directories;
}

static fuse_ino_t node_of_file(uint64_t file)
{
	return FIRST_DIRECTORY + directories + file;
}

static void describe(fuse_ino_t node, struct fuse_entry_param *out)
{
	*out = (struct fuse_entry_param){ .ino = node, .attr_timeout = FOREVER,
					  .entry_timeout = FOREVER };
	out->attr.st_ino = node;
	out->attr.st_mode = is_directory(node) ? S_IFDIR | 0755 : S_IFREG | 0644;
	out->attr.st_nlink = is_directory(node) ? 2 : 1;
	out->attr.st_size = is_directory(node) ? 0 : (off_t)bytes;
	out->attr.st_blksize = BUFFER; /* listings in large pieces */
}

/* The child at a position, and its name; 0: there are no more. */
static fuse_ino_t child_at(fuse_ino_t node, uint64_t position, char name[NAME_BYTES])
{
	uint64_t directory = node - FIRST_DIRECTORY;

	if (node == ROOT && position < directories) {
		snprintf(name, NAME_BYTES, "n%08lu", (unsigned long)position);
		return FIRST_DIRECTORY + position;
	}
	if (node == ROOT || !is_directory(node) ||
	    position >= first_of(directory + 1) - first_of(directory))
		return 0;
	snprintf(name, NAME_BYTES, "n%08lu_%lu.JPEG", (unsigned long)directory,
		 (unsigned long)position);
	return node_of_file(first_of(directory) + position);
}

static void op_init(void *context, struct fuse_conn_info *conn)
{
	(void)context;
	conn->want &= ~(unsigned)FUSE_CAP_READDIRPLUS_AUTO;
	conn->want |= conn->capable & (FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS);
}

static void op_getattr(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *fi)
{
	struct fuse_entry_param entry;

	(void)fi;
	describe(node, &entry);
	fuse_reply_attr(req, &entry.attr, FOREVER);
}

/* A walk asks only for what it was told already, and for what is not there. */
static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *wanted)
{
	struct fuse_entry_param entry = { .entry_timeout = FOREVER };
	char name[NAME_BYTES];
	fuse_ino_t node;

	for (uint64_t i = 0; (node = child_at(parent, i, name)); i++) {
		if (strcmp(name, wanted) != 0)
			continue;
		describe(node, &entry);
		break;
	}
	fuse_reply_entry(req, &entry);
}

static void op_opendir(fuse_req_t req, fuse_ino_t node, struct fuse_file_info *fi)
{
	(void)node, (void)fi;
	fuse_reply_err(req, ENOSYS);
}

static void list(fuse_req_t req, fuse_ino_t node, size_t size, off_t offset, bool plus)
{
	char name[NAME_BYTES], *buffer = malloc(size);
	struct fuse_entry_param entry;
	size_t used = 0, more;
	fuse_ino_t child;

	if (!buffer) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	while ((child = child_at(node, (uint64_t)offset, name))) {
		describe(child, &entry);
		offset++;
		more = plus ? fuse_add_direntry_plus(req, buffer + used, size - used, name,
						     &entry, offset) :
			      fuse_add_direntry(req, buffer + used, size - used, name,
						&entry.attr, offset);
		if (more > size - used)
			break;
		used += more;
	}
	fuse_reply_buf(req, buffer, used);
	free(buffer);
}

static void op_readdir(fuse_req_t req, fuse_ino_t node, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	(void)fi;
	list(req, node, size, offset, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t node, size_t size, off_t offset,
			   struct fuse_file_info *fi)
{
	(void)fi;
	list(req, node, size, offset, true);
}

static const struct fuse_lowlevel_ops ops = {
	.init = op_init, .getattr = op_getattr, .lookup = op_lookup, .opendir = op_opendir,
	.readdir = op_readdir, .readdirplus = op_readdirplus,
};

static int serve(struct fuse_session *session, const char *mountpoint)
{
	struct fuse_loop_config config = { .clone_fd = 0, .max_idle_threads = 10 };
	int status;

	if (fuse_session_mount(session, mountpoint) != 0)
		return 1;
	fuse_daemonize(0);
	status = fuse_session_loop_mt(session, &config);
	fuse_session_unmount(session);
	return status != 0;
}

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_session *session;
	int status = 1;

	if (argc != 5 || !(directories = strtoull(argv[2], NULL, 10))) {
		fprintf(stderr, "usage: empty-fuse FILES DIRECTORIES BYTES MOUNTPOINT\n");
		return 2;
	}
	files = strtoull(argv[1], NULL, 10);
	bytes = strtoull(argv[3], NULL, 10);
	if (fuse_opt_add_arg(&args, argv[0]) || fuse_opt_add_arg(&args, "-oro,fsname=empty"))
		return 1;
	session = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (session && fuse_set_signal_handlers(session) == 0)
		status = serve(session, argv[4]);
	if (session)
		fuse_session_destroy(session);
	fuse_opt_free_args(&args);
	return status;
}
