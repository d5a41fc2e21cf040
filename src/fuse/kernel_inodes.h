/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_inodes.h: which inodes the kernel holds, and what they take. Private to fuse/.
 *
 * A bit a node, in memory that servers share. The kernel forgets an inode as a whole,
 * however often it was looked up.
 *
 * Threads and processes: any number at once.
 */
#ifndef GRANARY_FUSE_KERNEL_INODES_H
#define GRANARY_FUSE_KERNEL_INODES_H

#include <stdint.h>

struct inodes;

/* For so many nodes; NULL: out of memory. */
struct inodes *inodes_new(uint32_t nodes);
void inodes_free(struct inodes *inodes);

/* The kernel is told of it; and lets go of it. The gauge inode_bytes follows. */
void inodes_known(struct inodes *inodes, uint32_t node);
void inodes_forgotten(struct inodes *inodes, uint32_t node);

/* The gauge name_bytes has changed. */
void inodes_show(const struct inodes *inodes);

#endif
