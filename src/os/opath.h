/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opath.h: checks a file before it is opened, without a race.
 *
 * Opening a device may have effects (a watchdog starts, a tape rewinds), and opening a
 * pipe waits for its writer. A checked path may lead elsewhere a moment later. So an
 * O_PATH descriptor holds the file, and the file is opened through that.
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_OPATH_H
#define GRANARY_OS_OPATH_H

/*
 * Opens what `held` is, an O_PATH descriptor: a descriptor or a negative errno. Where
 * there is no /proc, what `path` leads to, from which it came, or -ESTALE if that is
 * another file by now.
 */
int opath_reopen(int held, const char *path, int flags);

/*
 * An O_PATH descriptor of what `path` leads to, which lies below the directory `root`: or -1
 * and errno, EXDEV where a link leads out of it. Before Linux 5.6, where a seccomp filter
 * forbids openat2, and while others rename files all the time, no name of the path may be a
 * link (ELOOP).
 */
int opath_hold_below(int root, const char *path);

/* Opens a regular file for reading; -EINVAL for anything else. */
int opath_open_file(const char *path);

#endif
