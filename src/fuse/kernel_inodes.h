/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel_inodes.h: the inodes that the kernel holds, and their memory. Private to fuse/.
 *
 * A bit for each node, in memory that all servers share. The kernel forgets an inode as a
 * whole, however often it was looked up.
 *
 * Threads and processes: any.
 */
#ifndef GRANARY_FUSE_KERNEL_INODES_H
#define GRANARY_FUSE_KERNEL_INODES_H

#include <stdbool.h>
#include <stdint.h>

struct inodes;

/* `nodes`: of the tree. NULL: out of memory. */
struct inodes *inodes_new(uint32_t nodes);
void inodes_free(struct inodes *inodes);

/* The kernel learns a node, or forgets it. Updates the gauge inode_bytes. */
void inodes_known(struct inodes *inodes, uint32_t node);
void inodes_forgotten(struct inodes *inodes, uint32_t node);

bool inodes_has(const struct inodes *inodes, uint32_t node);

/* The gauge name_bytes has changed. */
void inodes_show(const struct inodes *inodes);

#endif
