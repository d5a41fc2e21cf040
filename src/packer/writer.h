/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * writer.h: the interface of a writer of one packed format.
 *
 * The packer passes one entry after another, in the plan's order: begin, data as often as
 * needed, end. A writer knows only its format: it writes to a descriptor, and the packer
 * names the file when it is complete.
 *
 * Ownership: an entry with all its pointers, and the bytes given to `data`, live until
 * the call returns. The opener owns the writer until `close`.
 * Threads: all calls come from one thread. A writer may have threads of its own.
 * Errors: 0, or a negative errno and a sentence. The packer words -ENOSPC and -EDQUOT,
 * with a remedy. After an error only `close` is called.
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
	PACK_HARDLINK, /* another name of an earlier file */
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
	 * the root, if given the first entry. A directory, if given, comes before its
	 * contents: samples have none, and those of a set are spread over its shards.
	 */
	const char *path;
	const char *target;       /* of a symlink; of a hard link the first name's path */
	uint32_t mode;            /* permission bits, 07777 at most */
	uint32_t uid, gid;
	int64_t mtime;            /* seconds since 1970, may be negative */
	uint32_t mtime_ns;        /* 0 to 999,999,999 */
	uint64_t size;            /* of a file: the bytes that `data` will get */
	long long label;          /* number of its class, or -1 */
	size_t xattr_count;
	const struct pack_xattr *xattrs;
};

struct writer_split {
	const char *name; /* a directory at the top */
	uint64_t rows;    /* files in it, at any depth */
};

struct writer_config {
	const char *compressor;   /* "none", "lz4", "zstd", "gzip", "xz"; NULL: default */
	int level;                /* of the compressor; -1: its default */
	unsigned threads;         /* it may start; at least 1 */
	const char *hdf5_layout;  /* "tree" or "jsc" */
	const struct writer_split *splits; /* of the layout jsc; rows are exact */
	size_t split_count;
	bool replace;             /* files beside the packed one may exist */
	uint64_t entries;         /* expected, all kinds; an estimate */
	int64_t newest;           /* newest mtime of all entries, for a
				     format that has a time of the file */
};

struct writer; /* each format's own */

struct writer_ops {
	const char *name;  /* "tar" */
	const char *needs; /* the library that this build lacks, and how to get it; or NULL:
			      then there is nothing else */

	/*
	 * Before any entry is written, for each: can the format hold it? NULL: it holds
	 * all. No writer is open then.
	 */
	int (*check)(const struct writer_config *config, const struct pack_entry *entry,
		     struct error *e);

	/*
	 * `fd` is an empty file, open for reading and writing, and stays the caller's;
	 * `path` is its future name, for messages and for files beside it (which a writer
	 * makes with output.h, in close).
	 */
	int (*open)(struct writer **out, int fd, const char *path,
		    const struct writer_config *config, struct error *e);
	int (*begin)(struct writer *w, const struct pack_entry *entry, struct error *e);
	int (*data)(struct writer *w, const void *bytes, size_t length, struct error *e);
	int (*end)(struct writer *w, struct error *e);

	/*
	 * Frees the writer, also on an error. `complete`: all entries have come, and 0
	 * means that the file is whole; otherwise the file will be thrown away.
	 */
	int (*close)(struct writer *w, bool complete, struct error *e);
};

extern const struct writer_ops tar_writer, squashfs_writer, hdf5_writer;

#endif
