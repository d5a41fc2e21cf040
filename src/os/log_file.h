/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_file.h: opens the log file.
 *
 * Regular files and character devices only: others could block. Root follows no link of
 * another user's (os/place.h).
 *
 * Threads: before the others start.
 */
#ifndef GRANARY_OS_LOG_FILE_H
#define GRANARY_OS_LOG_FILE_H

#include "base/error.h"

/*
 * Opens or makes the file: a descriptor, which is the caller's, or a negative errno and
 * *e.
 */
int log_open_file(const char *path, struct error *e);

/* Opens it, and logs to it from now on (log_to_descriptor): 0 or a negative errno. */
int log_to_file(const char *path, struct error *e);

#endif
