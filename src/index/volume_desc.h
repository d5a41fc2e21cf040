/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * volume_desc.h: the byte spaces that files' extents point into, as an index has them.
 */
#ifndef GRANARY_INDEX_VOLUME_DESC_H
#define GRANARY_INDEX_VOLUME_DESC_H

#include <stdint.h>

/* How a volume's bytes come about. The numbers are for good: indexes hold them. */
enum volume_kind {
	VOLUME_RAW = 1,     /* bytes of a source, from `base` on */
	VOLUME_LITERAL = 2, /* bytes that the index itself holds, from `base` on */
	VOLUME_CODED = 3,   /* chunks of a source, decoded one behind the other */
	VOLUME_ARRAY = 4,   /* elements of an array in tiles, row after row */
};

/* What must lie before each extent of a raw volume: it is checked with it. */
enum volume_guard {
	GUARD_NONE = 0,
	GUARD_HDF5_HEAP = 1, /* the header of an object in a global heap */
	GUARD_HDF5_FIRST = 2, /* the same, and it is object 1 */
};

enum { VOLUME_CODECS = 4 };

struct volume_desc {
	enum volume_kind kind;
	uint32_t source; /* number in the source set; literal: 0 */
	uint64_t base;   /* bytes; coded: 0; array: number in the table of arrays */
	uint64_t length; /* bytes */
	enum volume_guard guard;         /* raw */
	uint32_t codecs[VOLUME_CODECS];  /* coded, array: CODEC_STEPs of codec/codec.h */
	uint64_t first_chunk;            /* coded, array: number in the table of chunks */
	uint64_t chunk_count;
};

/*
 * A stretch of a coded volume, as far as the start of the next, or the end; or a tile
 * of an array.
 */
struct volume_chunk {
	uint64_t start;         /* its first byte in the volume; tile: 0 */
	uint64_t stored_at;     /* bytes from the start of the source */
	uint32_t stored_length; /* bytes; 0, of tiles only: it is not stored */
	uint32_t skipped;       /* bit i: codecs[i] was not applied to it */
};

/* What a chunk may hold when it is decoded; larger ones are not served. */
#define VOLUME_CHUNK_LIMIT (UINT32_C(1) << 30)

/* A node holds 40 bits of offset: a raw volume's extents begin below this. */
#define VOLUME_OFFSET_LIMIT (UINT64_C(1) << 40)

/*
 * An array of `rank` dimensions that lies in a source in tiles, each of which may be
 * coded, as an HDF5 dataset in chunks does. Its volume holds the elements row after row
 * (the last axis fastest), the axes in another order than the stored one if that is
 * asked for: planes become pixels that way.
 */
enum { VOLUME_RANK = 8 };

/* Bytes of an element; larger ones are to be an axis more, of bytes. */
#define VOLUME_ITEM_LIMIT (UINT32_C(1) << 20)

/* Its numbers as the index has them: see struct entry_array of build/entries.h. */
struct volume_array {
	uint64_t dims[VOLUME_RANK];
	uint64_t tile[VOLUME_RANK];
	uint64_t fill;   /* where in the literals an element lies that stands for missing ones */
	uint32_t filled; /* 0: it is zeros, and not there */
	uint32_t rank;
	uint32_t item;
	uint32_t reserved;
	uint8_t order[VOLUME_RANK];
};

#endif
