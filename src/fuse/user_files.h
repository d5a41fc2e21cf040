/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * user_files.h: opens a mount's log, trace and FIFO with its user's rights.
 *
 * `rights`: of another user than this process's, or NULL (os/opener.h).
 */
#ifndef GRANARY_FUSE_USER_FILES_H
#define GRANARY_FUSE_USER_FILES_H

#include "base/error.h"
#include "dataset/dataset.h"
#include "os/notify.h"
#include "os/rights.h"

/*
 * Logs to this file from now on (log_to_file): 0, or a negative errno and a sentence. Its
 * writer runs with these rights.
 */
int user_log(const struct rights *rights, const char *path, struct error *e);

/*
 * The mount's events go to this file from now on (trace/trace_writer.h), written with these
 * rights: 0, or a negative errno and a sentence. Both must outlive
 * them. Without a path this is nothing.
 */
int user_trace(const struct rights *rights, const char *path, const struct dataset *dataset,
	       const char *mountpoint, struct error *e);

/* As notify_open. */
int user_pipe(const struct rights *rights, const char *path, struct notify *notify,
	      struct error *e);

#endif
