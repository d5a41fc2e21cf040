/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mountapi.h: mounts outside of the tree: fsopen(2), fsmount(2), move_mount(2) and
 * others, which glibc has from 2.36 and Linux from 5.2. Errors are in errno; an older
 * kernel gives ENOSYS.
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_MOUNTAPI_H
#define GRANARY_OS_MOUNTAPI_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The numbers of all machines but alpha. */
#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_fsopen
#define SYS_fsopen 430
#endif
#ifndef SYS_fsconfig
#define SYS_fsconfig 431
#endif
#ifndef SYS_fsmount
#define SYS_fsmount 432
#endif

/* As linux/mount.h, which cannot be included beside sys/mount.h everywhere. */
enum {
	MOUNTAPI_CLOEXEC = 0x1,      /* FSOPEN_ and FSMOUNT_CLOEXEC, OPEN_TREE_CLONE */
	MOUNTAPI_SET_FLAG = 0,       /* FSCONFIG_ */
	MOUNTAPI_SET_STRING = 1,
	MOUNTAPI_CREATE = 6,
	MOUNTAPI_RDONLY = 0x1,       /* MOUNT_ATTR_ */
	MOUNTAPI_NOSUID = 0x2,
	MOUNTAPI_NODEV = 0x4,
	MOUNTAPI_NOEXEC = 0x8,
	MOUNTAPI_FROM_EMPTY = 0x4,   /* MOVE_MOUNT_F_EMPTY_PATH */
	MOUNTAPI_TO_EMPTY = 0x40,    /* MOVE_MOUNT_T_EMPTY_PATH */
	MOUNTAPI_BENEATH = 0x200,    /* MOVE_MOUNT_BENEATH, Linux 6.5 */
	MOUNTAPI_CLONE = 0x1,        /* OPEN_TREE_CLONE */
	MOUNTAPI_CLONE_CLOEXEC = 02000000,
	MOUNTAPI_EMPTY_PATH = 0x1000, /* AT_EMPTY_PATH */
};

/* A filesystem that is being configured. */
static inline int mountapi_open(const char *type)
{
	return (int)syscall(SYS_fsopen, type, MOUNTAPI_CLOEXEC);
}

static inline int mountapi_set(int fs, const char *name, const char *value)
{
	return (int)syscall(SYS_fsconfig, fs, MOUNTAPI_SET_STRING, name, value, 0);
}

static inline int mountapi_set_flag(int fs, const char *name)
{
	return (int)syscall(SYS_fsconfig, fs, MOUNTAPI_SET_FLAG, name, NULL, 0);
}

/* Makes it, and a mount outside of the tree that ends with its descriptor. */
static inline int mountapi_make(int fs, unsigned attributes)
{
	if (syscall(SYS_fsconfig, fs, MOUNTAPI_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)syscall(SYS_fsmount, fs, MOUNTAPI_CLOEXEC, attributes);
}

/* A copy of the mount that `fd` refers to, outside of the tree. */
static inline int mountapi_copy(int fd)
{
	return (int)syscall(SYS_open_tree, fd, "",
			    MOUNTAPI_CLONE | MOUNTAPI_CLONE_CLOEXEC | MOUNTAPI_EMPTY_PATH);
}

/* Moves a mount to the place of `to`; with MOUNTAPI_BENEATH below the mount there. */
static inline int mountapi_move(int mount, int to, unsigned flags)
{
	return (int)syscall(SYS_move_mount, mount, "", to, "",
			    MOUNTAPI_FROM_EMPTY | MOUNTAPI_TO_EMPTY | flags);
}

/* Does the kernel know MOUNTAPI_BENEATH? It checks flags before descriptors. */
static inline bool mountapi_has_beneath(void)
{
	return mountapi_move(-1, -1, MOUNTAPI_BENEATH) < 0 && errno == EBADF;
}

#endif
