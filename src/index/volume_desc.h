/* SPDX-License-Identifier: GPL-3.0-or-later */
/* volume_desc.h: the byte spaces of files' extents, as stored in an index. */
#ifndef GRANARY_INDEX_VOLUME_DESC_H
#define GRANARY_INDEX_VOLUME_DESC_H

#include <stdint.h>

/* Kinds of volumes. The numbers are permanent: indexes hold them. */
enum volume_kind {
	VOLUME_RAW = 1,     /* bytes of a source, from `base` */
	VOLUME_LITERAL = 2, /* literal bytes of the index, from `base` */
	VOLUME_CODED = 3,   /* decoded chunks of a source, one after another */
	VOLUME_ARRAY = 4,   /* elements of an array in tiles, row after row */
	VOLUME_STREAM = 5,  /* a compressed stream, decoded: chunks between entry points */
};

/*
 * In a number of a source: the stored bytes are those of a stream. In an index the lower
 * bits are the number of its volume, which is below that of the volume on it.
 */
#define VOLUME_ON_STREAM (UINT32_C(1) << 31)

/* So many streams lie on one another: a tar.gz in a tar.gz is two. */
enum { VOLUME_STREAMS_DEEP = 2 };

/* The other check of a read: bytes that must lie before each extent of a raw volume, or the
   snapshot of a file that may be written to. */
enum volume_guard {
	GUARD_NONE = 0,
	GUARD_HDF5_HEAP = 1, /* header of an object in a global heap */
	GUARD_HDF5_FIRST = 2, /* the same, of object 1 */
	GUARD_LMDB = 3, /* the newest transaction, of raw volumes and arrays */
};

/*
 * A transaction whose bytes a volume has. The source says its newest transaction in the
 * larger of two little-endian u64. Pages of a snapshot are used again by the third
 * transaction after it, which writes before it commits: so the bytes are the snapshot's
 * while the newest one is this or the next.
 */
struct volume_snapshot {
	uint64_t transaction;
	uint32_t at;       /* where in the source one of the two is, */
	uint32_t distance; /* and how far behind it the other */
};

enum { VOLUME_CODECS = 4 };

struct volume_desc {
	enum volume_kind kind;
	uint32_t source; /* number in the source set; literal: 0 */
	uint64_t base;   /* bytes; coded: 0; array: index of the array; stream: its first
			    point */
	uint64_t length; /* bytes */
	enum volume_guard guard;         /* raw, array */
	struct volume_snapshot snapshot; /* of GUARD_LMDB; such an array has no codecs */
	uint32_t codecs[VOLUME_CODECS];  /* coded, array: CODEC_STEPs of codec/codec.h; of a
					    stream the first is its codec */
	uint64_t first_chunk;            /* coded, array, stream: index in the table of chunks */
	uint64_t chunk_count;
};

/* A chunk of a coded volume or a stream, up to the next one or the end; or a tile. */
struct volume_chunk {
	uint64_t start;         /* its first byte in the volume; tile: 0 */
	uint64_t stored_at;     /* bytes from the start of the source */
	uint32_t stored_length; /* bytes; 0, tiles only: not stored */
	uint32_t skipped;       /* bit i: codecs[i] was not applied; or, if codecs[0] is a
				   checksum, that of the decoded chunk */
};

/* The entry point at which a chunk of a stream begins, and a checksum of the chunk. */
struct volume_point {
	uint64_t sum;           /* XXH3-64 of the decoded chunk */
	uint64_t window;        /* of the plain bytes before it that it repeats, the others
				   zero, as raw deflate: offset in the table of windows */
	uint32_t window_length; /* bytes there; 0: it repeats none */
	uint32_t bits;          /* of the byte before the stored ones that are the chunk's: 0
				   to 7, and their value above the lowest 8 bits */
};

/* Bytes of a window in the table. */
#define VOLUME_WINDOW_LIMIT (UINT32_C(1) << 16)

/* The largest decoded chunk that is served. */
#define VOLUME_CHUNK_LIMIT (UINT32_C(1) << 30)

/* A node has 40 bits of offset: extents of a volume begin below this. */
#define VOLUME_OFFSET_LIMIT (UINT64_C(1) << 40)

/*
 * An array of `rank` dimensions, stored in a source in tiles, which may be coded, as in a
 * chunked HDF5 dataset. Its volume has the elements row after row (the last axis
 * fastest). Its order of axes may differ from the stored one, to make pixels of planes.
 */
enum { VOLUME_RANK = 8 };

/* Bytes of an element; a larger one needs an axis of bytes. */
#define VOLUME_ITEM_LIMIT (UINT32_C(1) << 20)

/* An array's numbers in an index: see struct entry_array of build/entries.h. */
struct volume_array {
	uint64_t dims[VOLUME_RANK];
	uint64_t tile[VOLUME_RANK];
	uint64_t fill;   /* offset in the literals of the element for missing ones */
	uint32_t filled; /* 0: missing elements are zeros */
	uint32_t rank;
	uint32_t item;
	uint32_t reserved;
	uint8_t order[VOLUME_RANK];
};

#endif
