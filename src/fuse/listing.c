/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/listing.h"

#include <errno.h>
#include <string.h>

#include "fuse/control.h"
#include "fuse/kernel_inodes.h"
#include "stats/stats.h"

/* A listing in the making. */
struct listing {
	fuse_req_t req;
	const struct served *s;
	uint32_t directory;
	bool plus;
	char *buffer;
	size_t used, size;
};

/* Entry `position` of a directory: 0 and 1 are `.` and `..`. */
static int name_at(const struct listing *l, uint32_t position, char *name,
		   uint32_t *node)
{
	struct tree_name found;
	int err;

	if (position == 0) {
		memcpy(name, ".", sizeof("."));
		*node = l->directory;
		return 0;
	}
	if (position == 1) {
		memcpy(name, "..", sizeof(".."));
		*node = l->directory;
		return l->directory == dataset_root(l->s->dataset) ?
			       0 : tree_parent(dataset_tree(l->s->dataset), l->directory, node);
	}
	err = tree_child(dataset_tree(l->s->dataset), l->directory, position - 2, &found);
	if (err)
		return err;
	memcpy(name, found.name, found.length);
	name[found.length] = '\0';
	*node = found.node;
	return 0;
}

/* 0, -ENOENT at the end, -ENOSPC where the reply is full, or another error. */
static int listing_add_name(struct listing *l, uint32_t position)
{
	struct fuse_entry_param entry;
	size_t room = l->size - l->used, need;
	char name[256], *at = l->buffer + l->used;
	off_t next = (off_t)position + 1;
	uint32_t node;
	int err = name_at(l, position, name, &node);

	if (!err && l->directory == dataset_root(l->s->dataset) &&
	    strcmp(name, CONTROL_NAME) == 0)
		return 0; /* no lookup: see control_init */
	if (!err)
		err = ops_entry(l->s, node, &entry);
	if (err)
		return err;
	if (l->plus)
		need = fuse_add_direntry_plus(l->req, at, room, name, &entry, next);
	else
		need = fuse_add_direntry(l->req, at, room, name, &entry.attr, next);
	if (need > room)
		return -ENOSPC;
	if (l->plus && position > 1)
		inodes_known(l->s->inodes, node);
	l->used += need;
	return 0;
}

/* Offsets are positions in the tree: stable, also in later mounts. */
void listing_reply(fuse_req_t req, uint32_t directory, size_t size, off_t offset,
		   bool plus)
{
	const struct served *s = fuse_req_userdata(req);
	struct listing l = { .req = req, .s = s, .directory = directory, .plus = plus,
			     .buffer = ops_buffer(size), .size = size };
	int err = l.buffer ? 0 : -ENOMEM;

	for (off_t at = offset; !err && at >= 0 && at < UINT32_MAX; at++)
		err = listing_add_name(&l, (uint32_t)at);
	if (err && err != -ENOENT && err != -ENOSPC && l.used == 0)
		fuse_reply_err(req, -err);
	else
		fuse_reply_buf(req, l.buffer, l.used);
}
