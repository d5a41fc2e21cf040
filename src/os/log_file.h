/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_file.h: opens the log file.
 *
 * Files and character devices only: to open anything else could block. Root follows no link
 * of somebody else's to it (os/place.h). A process of its own writes it (os/log_writer.h).
 *
 * Threads: before the others start.
 */
#ifndef GRANARY_OS_LOG_FILE_H
#define GRANARY_OS_LOG_FILE_H

#include "base/error.h"

/*
 * Opens the file, which is made if it is not there, and starts its writer: the sending end
 * (log_writer_use), which is the caller's; or a negative errno and a sentence.
 */
int log_open_file(const char *path, struct error *e);

/* The same, and the log goes there from now on (log_writer_use): 0 or a negative errno. */
int log_to_file(const char *path, struct error *e);

#endif
