/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metadata.h: the metadata of a squashfs 4.0 image: superblock, inodes,
 * directories, tables. Private to format/squashfs/.
 *
 * libsquashfuse reads and decompresses the blocks of metadata. What is in them
 * is taken apart here: the library trusts the offsets, sizes and table indexes
 * of an image, and would read behind its buffers for a wrong one.
 *
 * All functions return 0, or a negative errno with the error that was given to
 * squashfs_open filled in. Positions count from the image's first byte.
 *
 * Threads: one image belongs to one thread.
 */
#ifndef GRANARY_FORMAT_SQUASHFS_METADATA_H
#define GRANARY_FORMAT_SQUASHFS_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "format/format.h"
#include "format/squashfs/refs.h"

struct squashfs_library;

enum { SQUASHFS_SUPERBLOCK_BYTES = 96 };
#define SQUASHFS_NONE UINT32_MAX /* no fragment, no xattrs */

struct squashfs_image {
	const struct scan *scan;
	struct error *e;
	const char *path;        /* what is being looked at, for messages */
	struct squashfs_library *library;
	int copy;                /* of the metadata, a descriptor; -1: none is needed */
	uint32_t *ids;           /* owners and groups */
	const char *compression; /* "zstd" */
	uint32_t codec;          /* a CODEC_STEP */
	uint32_t block_size;     /* bytes, a power of two */
	uint32_t fragments;      /* how many blocks of them */
	uint64_t used;           /* bytes; there may be padding behind them */
	uint64_t inodes;         /* where their table begins, and all other metadata lie behind */
	uint64_t root;           /* reference to its inode */

	/* How often metadata are used again is limited: a small image could keep
	   the indexer busy for years. */
	struct squashfs_refs seen; /* blocks of metadata */
	uint64_t last_seen;
	uint64_t seen_bytes;       /* in these blocks */
	uint64_t read_bytes;       /* taken from them, again and again */
};

/* A place in the metadata. */
struct squashfs_cursor {
	uint64_t block; /* where its block is stored */
	size_t offset;  /* in the decompressed block */
};

enum squashfs_type {
	SQUASHFS_DIRECTORY = 1,
	SQUASHFS_FILE = 2,
	SQUASHFS_SYMLINK = 3,
	SQUASHFS_OTHER = 4, /* and all above: devices, FIFOs, sockets */
};

struct squashfs_inode {
	unsigned type; /* enum squashfs_type; "extended" ones too are 1 to 7 */
	uint32_t mode, uid, gid, mtime, links;
	uint32_t xattrs;             /* number of its set, or SQUASHFS_NONE */
	uint64_t size;               /* of a file, a target; of a listing, plus 3 */
	uint64_t start;              /* of a file: its first stored block */
	uint32_t fragment;           /* of a file: number, or SQUASHFS_NONE */
	uint32_t fragment_offset;    /* bytes into the decompressed fragment */
	struct squashfs_cursor next; /* listing, list of block sizes, or target */
};

/* Reads one after the other; `scan` and `e` must outlive the image. */
int squashfs_open(struct squashfs_image *image, const struct scan *scan,
		  struct error *e);
void squashfs_close(struct squashfs_image *image);

/* The next bytes of the metadata, moving the cursor. `out` may be NULL. */
int squashfs_read(struct squashfs_image *image, struct squashfs_cursor *cursor,
		  void *out, size_t size);

/* The inode that a directory's entry refers to. */
int squashfs_inode(struct squashfs_image *image, uint64_t reference,
		   struct squashfs_inode *out);

/* Where fragment block `number` is stored, and its size as in a list of blocks. */
int squashfs_fragment(struct squashfs_image *image, uint32_t number,
		      uint64_t *position, uint32_t *size);

/*
 * Where the xattrs of that number begin, and how many they are; 0 of them in an
 * image without xattrs. squashfs_xattrs_at: the place of a value that lies
 * elsewhere, by its reference.
 */
int squashfs_xattrs(struct squashfs_image *image, uint32_t number,
		    struct squashfs_cursor *cursor, uint32_t *count);
struct squashfs_cursor squashfs_xattrs_at(const struct squashfs_image *image,
					  uint64_t reference);

/* "'x.squashfs' is damaged: WHAT of 'PATH' is not right; ..." */
int squashfs_damaged(const struct squashfs_image *image, const char *what);
/* "'x.squashfs' is refused at 'PATH': the WHAT in it take too much memory ...": a
   bomb, or more than is served. */
int squashfs_refuse_bomb(const struct squashfs_image *image, const char *what);
int squashfs_unreadable(const struct squashfs_image *image, uint64_t position, int err);
int squashfs_out_of_memory(const struct squashfs_image *image);

#endif
