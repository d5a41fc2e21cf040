/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held.h: a file is looked at before it is opened, and is still that one when it is.
 *
 * To open a device can do things (a watchdog begins, a tape rewinds), and to open a pipe
 * waits for its writer. A check of the path does not help: it may lead elsewhere a moment
 * later. So what it leads to is held by an O_PATH descriptor, and opened through that.
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_HELD_H
#define GRANARY_OS_HELD_H

/*
 * Opens what `held` is, an O_PATH descriptor: a descriptor or a negative errno. Where
 * there is no /proc, what `path` leads to, from which it came, or -ESTALE if that is
 * another file by now.
 */
int held_open(int held, const char *path, int flags);

/* A regular file, for reading; -EINVAL for anything else. */
int held_open_file(const char *path);

#endif
