/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.h: one mount: its options, its threads, its lifetime.
 *
 * The calls come in this order, all from the main thread:
 * session_prepare, session_new, session_mount, session_start, session_serve,
 * session_free. There are no threads in this process, and there must be none.
 */
#ifndef GRANARY_FUSE_SESSION_H
#define GRANARY_FUSE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/options.h"
#include "dataset/dataset.h"
#include "os/notify.h"
#include "os/rights.h"

enum { OPENS_HIDDEN, OPENS_VISIBLE };
enum { PREFETCH_AUTO, PREFETCH_OFF, PREFETCH_WINDOW, PREFETCH_SWEEP };
enum { PUSH_ON, PUSH_OFF };
enum { SHIELD_AUTO, SHIELD_ON, SHIELD_OFF };

struct mount_config {
	bool allow_other;
	bool noexec;
	unsigned uid, gid;  /* MOUNT_AS_ARCHIVED: what the archive says */
	unsigned umask;     /* permission bits to take away */
	int opens;          /* OPENS_ */
	unsigned threads;   /* 0: as many as is sensible */
	char *cpus;         /* NULL or "auto", "inherit", or a list "0-3:8" */
	bool debug;         /* print every request */
	char *user;         /* whose rights open the packed files, or NULL */
	unsigned timeout;   /* seconds without use until it is unmounted; 0: never */
	char *notify_pipe;  /* a FIFO, or NULL */
	char *log;          /* a file, or NULL */
	char *cache;        /* the memory budget: "8G", "50%"; NULL: by the machine */
	uint64_t budget;    /* what that is in bytes: set by session_prepare */
	int prefetch;       /* PREFETCH_ */
	int push;           /* PUSH_ */
	int shield;         /* SHIELD_ */
	char *context;      /* SELinux's label of all files, or NULL */
	unsigned spin;      /* microseconds; MOUNT_SPIN_ADAPTIVE */
};

enum { MOUNT_AS_ARCHIVED = 0xffffffff, MOUNT_SPIN_ADAPTIVE = 0xffffffff };
#define MOUNT_CONFIG_INIT { .uid = MOUNT_AS_ARCHIVED, .gid = MOUNT_AS_ARCHIVED, \
			    .spin = MOUNT_SPIN_ADAPTIVE }

/* The table for options_apply. */
extern const struct option_spec mount_options[];

void mount_config_free(struct mount_config *config);

struct session;

/*
 * Checks the options against each other, finds the memory budget, and puts the process
 * on its processors (before the indexer is started, which inherits them): -EINVAL with
 * a sentence.
 */
int session_prepare(struct mount_config *config, struct error *e);

/*
 * The dataset, the config and the rights (NULL: the caller's; otherwise what it is
 * mounted and served with) must outlive the session.
 */
int session_new(struct dataset *dataset, const struct mount_config *config,
		const struct rights *rights, struct session **out, struct error *e);

/*
 * Mounts on `mountpoint` (absolute, or /dev/fd/N where somebody else has
 * mounted), and answers the kernel's first request. `directory` is the mount point, opened O_PATH, or -1. TERM,
 * INT, HUP and USR1 are blocked from here on.
 */
int session_mount(struct session *session, const char *mountpoint, int directory,
		  struct error *e);

/*
 * Starts to serve, in a process that is forked from this one, and puts the shield in
 * front where it is wanted: when it returns 0, the mount answers, and is seen as it
 * stays. `report` is a descriptor that the server is not to have; with one the server
 * leaves the caller's session. -1: neither. After an error only session_free may follow.
 */
int session_start(struct session *session, struct notify *notify, int report,
		  struct error *e);

/*
 * Serves until the filesystem is unmounted, by anybody, in processes that are forked
 * from this one and have no rights but to read; what they die of it survives. TERM,
 * INT and HUP take the mount out of the tree and serve on until the last open file is
 * closed; a second one ends at once. USR1 writes the counters to the log. 0, or -EIO
 * where servers die again and again: the mount is left, dead.
 */
int session_serve(struct session *session);
void session_free(struct session *session);

#endif
