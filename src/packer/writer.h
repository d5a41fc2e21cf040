/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * writer.h: what writes one packed format.
 *
 * The packer hands over one entry after another, in the plan's order: begin, data as
 * often as it takes, end. A writer knows its format and nothing of the source tree, of
 * shards or of what becomes of the file: it writes to a descriptor, and the packer gives
 * the file its name when it is complete.
 *
 * Ownership: an entry and all that it points to, and the bytes given to `data`, live
 * until the call returns. A writer belongs to who opened it, until `close`.
 * Threads: all calls come from one thread. A writer may have threads of its own.
 * Errors: 0, or a negative errno and a sentence. -ENOSPC and -EDQUOT are returned as
 * they are, for the packer to say what to do about them. After an error only `close`
 * is called.
 */
#ifndef GRANARY_PACKER_WRITER_H
#define GRANARY_PACKER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum pack_kind {
	PACK_DIRECTORY,
	PACK_FILE,
	PACK_SYMLINK,
	PACK_HARDLINK, /* another name of a file that came before */
};

struct pack_xattr {
	const char *name; /* with its namespace: "user.comment" */
	const void *value;
	size_t size;
};

struct pack_entry {
	enum pack_kind kind;
	/*
	 * In the packed file: bytes, relative, without "./" or a trailing slash. "" is
	 * the root, which comes first if it comes. A directory comes before what is in
	 * it, if it comes: samples have none, and those of a set are dealt to its shards.
	 */
	const char *path;
	const char *target;       /* of a symlink; of a hard link the first name's path */
	uint32_t mode;            /* permission bits, 07777 at most */
	uint32_t uid, gid;
	int64_t mtime;            /* seconds since 1970, may be negative */
	uint32_t mtime_ns;        /* 0 to 999,999,999 */
	uint64_t size;            /* of a file: how many bytes `data` will give */
	long long label;          /* number of its class, or -1 */
	size_t xattr_count;
	const struct pack_xattr *xattrs;
};

struct writer_split {
	const char *name; /* a folder at the top */
	uint64_t rows;    /* files in it, at any depth */
};

struct writer_config {
	const char *compressor;   /* "none", "lz4", "zstd", "gzip", "xz"; NULL: as the format likes */
	int level;                /* of the compressor; -1: its own default */
	unsigned threads;         /* that it may start; at least 1 */
	const char *hdf5_layout;  /* "tree" or "jsc" */
	const struct writer_split *splits; /* of the layout jsc; they must have these rows */
	size_t split_count;
	bool replace;             /* files beside the one that is written may be there */
	uint64_t entries;         /* that will come, all kinds; for tables, not a promise */
	int64_t newest;           /* the newest mtime of all entries: the time of the whole
				     file where a format has one, since clocks are not
				     reproducible */
};

struct writer; /* each format's own */

struct writer_ops {
	const char *name;  /* "tar" */
	const char *needs; /* the library that this build lacks, and how to get it; or NULL:
			      then there is nothing else */

	/*
	 * Of each entry, before any of them is written: can the format hold it? NULL: it
	 * holds whatever comes. No writer is open then.
	 */
	int (*check)(const struct writer_config *config, const struct pack_entry *entry,
		     struct error *e);

	/*
	 * `fd` is an empty file, open for reading and writing, and stays the caller's;
	 * `path` is what it will be called, for messages and for files beside it (those
	 * a writer makes with output.h, in close).
	 */
	int (*open)(struct writer **out, int fd, const char *path,
		    const struct writer_config *config, struct error *e);
	int (*begin)(struct writer *w, const struct pack_entry *entry, struct error *e);
	int (*data)(struct writer *w, const void *bytes, size_t length, struct error *e);
	int (*end)(struct writer *w, struct error *e);

	/*
	 * Frees the writer whatever is returned. `complete`: all entries have come, and
	 * the file must be whole when this returns 0; otherwise it will be thrown away.
	 */
	int (*close)(struct writer *w, bool complete, struct error *e);
};

extern const struct writer_ops tar_writer, squashfs_writer, hdf5_writer;

#endif
