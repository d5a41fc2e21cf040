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
enum { SHIELD_AUTO, SHIELD_EARLY, SHIELD_ON, SHIELD_OFF };

struct mount_config {
	bool allow_other;
	bool noexec;
	unsigned uid, gid;  /* MOUNT_AS_ARCHIVED: the archive's ids */
	unsigned umask;     /* permission bits to remove */
	int opens;          /* OPENS_ */
	unsigned threads;   /* 0: by the number of processors */
	char *cpus;         /* NULL or "auto", "inherit", or a list "0-3:8" */
	bool debug;         /* print every request */
	char *user;         /* the user whose rights open the packed files, or NULL */
	unsigned timeout;   /* seconds without use until it is unmounted; 0: never */
	char *notify_pipe;  /* a FIFO, or NULL */
	char *log;          /* a file, or NULL */
	char *trace;        /* a file, or NULL */
	char *cache;        /* the memory budget: "8G", "50%"; NULL: by the machine */
	uint64_t budget;    /* bytes; set by session_prepare */
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
 * Checks the options against each other, computes the memory budget, and sets the
 * process's processors (before the indexer, which inherits them): -EINVAL and *e.
 */
int session_prepare(struct mount_config *config, struct error *e);

/*
 * The dataset, the config and the rights (NULL: the caller's) must outlive the session.
 */
int session_new(struct dataset *dataset, const struct mount_config *config,
		const struct rights *rights, struct session **out, struct error *e);

/*
 * Mounts on `mountpoint` (absolute, or /dev/fd/N if another process has mounted), and
 * answers the first request. `directory`: the mount point, O_PATH, or -1. From here on
 * TERM, INT, HUP and USR1 are blocked.
 */
int session_mount(struct session *session, const char *mountpoint, int directory,
		  struct error *e);

/*
 * Forks the server, and puts the shield in front if wanted: on 0 the mount answers in its
 * final form. `report`: a descriptor that the server closes; with one, the server also
 * leaves the caller's session; -1: neither. After an error call session_free only.
 */
int session_start(struct session *session, struct notify *notify, int report,
		  struct error *e);

/*
 * Serves until any process unmounts the filesystem, in forked processes that can only
 * read and may die. TERM, INT and HUP detach the mount, which is served until its last
 * file is closed; a second signal ends it at once. USR1 logs the counters. 0, or -EIO:
 * servers died again and again, and the dead mount stays.
 */
int session_serve(struct session *session);
void session_free(struct session *session);

#endif
