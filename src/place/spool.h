/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.h: the files that compressed sources are unpacked to, with -o spool=.
 *
 * spool=DIR: a file without a name, of mode 0600. It goes with the last process that has it
 * open, also after kill -9, and so with the mount. spool=keep:DIR: a file that stays,
 *
 *	NAME-SOURCE-SIZE-CONTENTS
 *
 * SOURCE is a hash of the source's identity (base/identity.h), SIZE that of the file, and
 * CONTENTS a hash of its own beginning, end and samples: only a file for which all three are
 * right is used. It is NAME-SOURCE.unpacking until it is complete, and locked (flock(2)):
 * a second mount waits as long as the file grows, and SPOOL_WAIT_MS more; the rest of
 * a killed process is written over.
 *
 * The files are opened with the rights of the mount's user. A sandboxed process of granary
 * writes them (tools/granary/unpack_sources.h).
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_PLACE_SPOOL_H
#define GRANARY_PLACE_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "place/config.h"
#include "source/source_set.h"

enum { SPOOL_WAIT_MS = 10 * 60 * 1000 };

struct spool_file {
	bool compressed; /* the source is */
	int fd;      /* -1: none */
	bool kept;   /* it is complete, and was before */
	bool stays;  /* with spool=keep: */
	char *path;  /* owned: without the end of its name; or of a kept one */
	ino_t inode;
	struct identity of; /* the source; a kept file has its time */
	char ending[48]; /* of the name once it is complete */
};

struct spool {
	struct spool_file *files; /* owned: one a source; NULL: none */
	uint32_t count;
	unsigned wait_ms; /* how long another process may write nothing to a file that stays */
};

/* Which sources may have to be unpacked, by their first bytes. 0; -ENOMEM, or
   -EINVAL where base= was given, and *e. */
int spool_choose(const struct dataset_config *config, const struct source_set *sources,
		 struct spool *out, struct error *e);

/* Opens a file for each of these; reads no source. 0, or an errno and *e. */
int spool_open(const struct dataset_config *config, const struct source_set *sources,
	       const struct identity *identities, struct spool *spool, struct error *e);

/* Is there a file that has to be written? */
bool spool_is_needed(const struct spool *spool);

/*
 * After the unpacking, in the process that has the descriptors: gives a file that has bytes
 * the source's time of change, and, where it stays, flushes it and finds its name.
 */
int spool_seal(struct spool *spool, const struct source_set *sources, struct error *e);

/* With the rights of spool_open: names the files that stay, and removes those that failed. */
int spool_publish(struct spool *spool, struct error *e);

/*
 * Puts the files that have bytes in the place of their sources. The set has them then.
 * *replaced: how many there are; *stay: all of them stay.
 */
int spool_replace(struct spool *spool, struct source_set *sources, uint32_t *replaced,
		  bool *stay, struct error *e);

void spool_close(struct spool *spool);

#endif
