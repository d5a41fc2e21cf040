/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * entries.h: what a format module says of one packed file, in its own order.
 *
 * A format appends entries; the tree builder applies them later, in the order
 * of the shards, so that shards can be scanned in parallel and the result is
 * the same. Paths are the raw bytes of the archive: absolute names, `.` and
 * `..` are dealt with by the builder, once for all formats.
 *
 * Threads: one log of entries belongs to one thread at a time.
 */
#ifndef GRANARY_BUILD_ENTRIES_H
#define GRANARY_BUILD_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "index/volume_desc.h"

enum entry_kind {
	ENTRY_DIRECTORY,
	ENTRY_FILE,
	ENTRY_SYMLINK,
	ENTRY_HARDLINK, /* another name of an entry that is named by `target` */
	ENTRY_NESTED,   /* a packed file inside: a directory if it could be read */
};

/*
 * A piece of a file's contents. Pieces are in the order of file_offset and do
 * not overlap; what no piece covers is a hole, read as zeros.
 */
struct entry_extent {
	uint64_t file_offset; /* bytes from the start of the file */
	uint64_t offset;      /* bytes from the start of the volume */
	uint64_t length;      /* bytes */
	uint32_t volume;      /* a number that entries_add_volume returned */
};

struct entry_xattr {
	const char *name; /* with its namespace, "user.x" */
	const void *value;
	size_t size;
};

struct entries;

struct entry {
	enum entry_kind kind;
	const char *path;   /* NUL-terminated */
	const char *target; /* symlink: what it holds; hard link: the other path */
	uint32_t mode;      /* permission bits; set-id and sticky bits are dropped */
	uint32_t uid, gid;
	int64_t mtime;      /* seconds since the epoch */
	uint32_t mtime_ns;
	uint64_t size;      /* bytes, of a file (holes included) */
	const struct entry_extent *extents;
	size_t extent_count;
	const struct entry_xattr *xattrs;
	size_t xattr_count;
	struct entries *nested; /* ENTRY_NESTED: its contents; owned by the log */
};

struct entry_tile {
	uint64_t stored_at;     /* bytes from the start of the source */
	uint64_t stored_length; /* 0: not stored, all elements are `fill` */
	uint32_t skipped;       /* bit i: codecs[i] was not applied to it */
};

struct entry_array {
	uint32_t source;
	uint64_t source_size;
	uint32_t rank;               /* 1 to VOLUME_RANK */
	uint32_t item;               /* bytes of an element: VOLUME_ITEM_LIMIT at most */
	uint64_t dims[VOLUME_RANK];  /* elements, as stored: the slowest axis first */
	uint64_t tile[VOLUME_RANK];  /* elements of a tile, stored whole at the edges too */
	uint8_t order[VOLUME_RANK];  /* axis k of the volume is the stored axis order[k] */
	const uint32_t *codecs;      /* VOLUME_CODECS of them, 0 behind the last */
	const struct entry_tile *tiles; /* row after row of the grid of tiles */
	uint64_t tile_count;
	const void *fill;            /* an element; NULL: zeros */
};

struct entries *entries_new(void);

/* Frees the nested logs too. */
void entries_free(struct entries *entries);

/* Copies everything that `entry` points to. 0 or -ENOMEM. */
int entries_add(struct entries *entries, const struct entry *entry);

/*
 * The number of the volume within this log, or -ENOMEM. Raw ones only: literal
 * and coded ones are made by the functions that fill them.
 */
int entries_add_volume(struct entries *entries, const struct volume_desc *volume);

/*
 * The extent of `length` bytes at `offset` of source number `source`, in a raw
 * volume that is made when it is first needed. `source_size` bounds it: -EBADMSG
 * if the range does not lie within. file_offset is set to 0.
 */
int entries_raw_extent(struct entries *entries, uint32_t source,
		       uint64_t source_size, uint64_t offset, uint64_t length,
		       struct entry_extent *out);

/*
 * The same in a volume whose extents are guarded: the guard's bytes must lie
 * before `offset` in the source.
 */
int entries_guarded_extent(struct entries *entries, uint32_t source,
			   uint64_t source_size, enum volume_guard guard,
			   uint64_t offset, uint64_t length,
			   struct entry_extent *out);

/*
 * What the stored chunk decodes to, `plain` bytes at most, as an extent of a
 * coded volume that is made when it is first needed. Chunks with the same codecs
 * that are added one after the other lie one behind the other in their volume,
 * and their extents may be joined (unless a volume is full: then `offset` is 0
 * again). -EBADMSG if the stored bytes do not lie within the source, or a length
 * is 0 or beyond VOLUME_CHUNK_LIMIT.
 */
struct entry_chunk {
	uint32_t source;
	uint64_t source_size;
	const uint32_t *codecs; /* VOLUME_CODECS of them, 0 behind the last */
	uint64_t stored_at, stored_length;
	uint32_t skipped;
	uint64_t plain;
};

int entries_coded_extent(struct entries *entries, const struct entry_chunk *chunk,
			 struct entry_extent *out);

/*
 * All of an array, as an extent of a volume of its own. -EBADMSG where its numbers make
 * no sense (an axis of no length, another number of tiles than follows from them), tiles
 * do not lie within the source, a tile is beyond VOLUME_CHUNK_LIMIT, or all of it is
 * beyond VOLUME_OFFSET_LIMIT. One that lies in the source as it is, without tiles, is
 * given in tiles as long as all axes but the first, of some rows each; these are read
 * where they lie, in just the bytes that are asked for. The last of them may be stored
 * as far as the array goes.
 */
int entries_array_extent(struct entries *entries, const struct entry_array *array,
			 struct entry_extent *out);

/* A copy of these bytes (one at least), which the index will hold. 0 or -ENOMEM. */
int entries_literal_extent(struct entries *entries, const void *bytes,
			   size_t length, struct entry_extent *out);

/*
 * `more` follows `entries`, and is freed with it. It stays a log with numbers of its own:
 * whoever goes through entries goes on with entries_next, until that is NULL.
 */
void entries_append(struct entries *entries, struct entries *more);
struct entries *entries_next(const struct entries *entries);

/* The last of those that follow, or itself: where the next entry belongs. */
struct entries *entries_last(struct entries *entries);

/* A nested packed file that could not be read: it is shown as a file. */
void entries_set_failed(struct entries *entries);
int entries_failed(const struct entries *entries);

/*
 * Says that what is added from now on has names that nothing before it has, and a second
 * one is an error; otherwise it is a newer version, and the last one counts. Said twice,
 * the first time counts.
 */
void entries_set_distinct(struct entries *entries);

/* The first entry of which that was said; SIZE_MAX: of none. */
size_t entries_distinct(const struct entries *entries);

/* Counts what is not shown: a device, a FIFO, a socket. */
void entries_leave_out(struct entries *entries);

/* How many were left out, nested logs and those that follow included. */
uint64_t entries_left_out(const struct entries *entries);

size_t entries_count(const struct entries *entries);

/*
 * Entry i, valid until ENTRIES_IN_HAND others have been asked for, or one is added; its
 * path and what else it points to, extents apart, as long as the log holds it.
 */
enum { ENTRIES_IN_HAND = 16 };
const struct entry *entries_get(struct entries *entries, size_t i);

/* Entries before i will not be asked for again, and may be let go of. */
void entries_release(struct entries *entries, size_t i);

/*
 * Gives entries other paths and targets: `edit` may point those of a copy elsewhere, for
 * as long as it takes, and leaves the rest as it is. Numbers stay. 0, -ENOMEM, or what
 * edit returned; then the log can only be freed.
 */
typedef int entries_edit(void *context, struct entry *entry);
int entries_rewrite(struct entries *entries, entries_edit *edit, void *context);

size_t entries_volume_count(const struct entries *entries);
const struct volume_desc *entries_volume(const struct entries *entries, size_t i);

/*
 * The chunks of a coded volume or the tiles of an array, chunk_count of them
 * (first_chunk says nothing here); the bytes of a literal one, length of them; the
 * numbers of an array, whose element for missing ones, where it has one, is the literal.
 */
const struct volume_chunk *entries_chunks(const struct entries *entries, size_t volume);
const void *entries_literals(const struct entries *entries, size_t volume);
const struct volume_array *entries_array(const struct entries *entries, size_t volume);

#endif
