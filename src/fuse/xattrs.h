/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xattrs.h: the extended attributes of the mount. Private to fuse/.
 *
 * Not `user.overlay.*`, nor what is not `user.*`: an overlay would obey it, be it the
 * front (os/front_kind.h) or one that somebody puts on top of the mount.
 *
 * As getxattr(2) and listxattr(2): the number of bytes; with size 0 the room needed;
 * -ENODATA, -ERANGE, -ENOMEM or the tree's error.
 */
#ifndef GRANARY_FUSE_XATTRS_H
#define GRANARY_FUSE_XATTRS_H

#include "index/tree.h"

int xattrs_get(const struct tree *tree, uint32_t node, const char *name, void *value,
	       size_t size);
int xattrs_list(const struct tree *tree, uint32_t node, char *list, size_t size);

#endif
