/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * entries.h: the log of entries in which a format lists the contents of a packed file.
 *
 * A format appends entries in its own order. The builder applies them later, in the order
 * of the shards, so shards are scanned in parallel with the same result. Paths are the
 * raw bytes of the archive; the builder handles absolute paths, `.` and `..` for all
 * formats.
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
	ENTRY_HARDLINK, /* another name of the entry `target` */
	ENTRY_NESTED,   /* a packed file inside: a directory if readable */
};

/*
 * A piece of a file's contents. Pieces are sorted by file_offset and do not overlap;
 * bytes without a piece are a hole, read as zeros.
 */
struct entry_extent {
	uint64_t file_offset; /* bytes from the start of the file */
	uint64_t offset;      /* bytes from the start of the volume */
	uint64_t length;      /* bytes */
	uint32_t volume;      /* as returned by entries_add_volume */
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
	const char *target; /* symlink: its text; hard link: the other path */
	uint32_t mode;      /* permission bits; set-id and sticky bits are dropped */
	uint32_t uid, gid;
	int64_t mtime;      /* seconds since the epoch */
	uint32_t mtime_ns;
	uint64_t size;      /* of a file, holes included */
	const struct entry_extent *extents;
	size_t extent_count;
	const struct entry_xattr *xattrs;
	size_t xattr_count;
	struct entries *nested; /* ENTRY_NESTED: its contents; owned by the log */
};

struct entry_tile {
	uint64_t stored_at;     /* bytes from the start of the source */
	uint64_t stored_length; /* 0: not stored, all elements are `fill` */
	uint32_t skipped;       /* bit i: codecs[i] was not applied */
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
	const void *fill;            /* one element; NULL: zeros */
	struct volume_snapshot snapshot; /* as of entries_snapshot_extent; without codecs */
};

struct entries *entries_new(void);

/* Frees the nested logs too. */
void entries_free(struct entries *entries);

/* Copies everything that `entry` points to. 0 or -ENOMEM. */
int entries_add(struct entries *entries, const struct entry *entry);

/*
 * Adds a raw volume: its number within this log, or -ENOMEM. Literal and coded volumes
 * are made by the functions that fill them.
 */
int entries_add_volume(struct entries *entries, const struct volume_desc *volume);

/*
 * The extent of `length` bytes at `offset` of source number `source`, in a raw volume,
 * made if needed. -EBADMSG if the range exceeds `source_size`. file_offset is set to 0.
 */
int entries_raw_extent(struct entries *entries, uint32_t source,
		       uint64_t source_size, uint64_t offset, uint64_t length,
		       struct entry_extent *out);

/*
 * The same in a volume with guarded extents: the guard's bytes must lie before `offset`
 * in the source.
 */
int entries_guarded_extent(struct entries *entries, uint32_t source,
			   uint64_t source_size, enum volume_guard guard,
			   uint64_t offset, uint64_t length,
			   struct entry_extent *out);

/*
 * The same of a file that may be written to: a read checks that the bytes are still those
 * of the snapshot. One of transaction 0 is no snapshot, and nothing is checked.
 */
int entries_snapshot_extent(struct entries *entries, uint32_t source, uint64_t source_size,
			    const struct volume_snapshot *snapshot, uint64_t offset,
			    uint64_t length, struct entry_extent *out);

/*
 * A stored chunk, which decodes to at most `plain` bytes, as an extent of a coded volume,
 * made if needed. Successive chunks with the same codecs are adjacent in their volume, so
 * their extents may be joined (unless a volume is full: then `offset` is 0 again).
 * -EBADMSG if the stored bytes exceed the source, or a length is 0 or exceeds
 * VOLUME_CHUNK_LIMIT.
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
 * All of an array, as an extent of a volume of its own. -EBADMSG for invalid numbers (an
 * axis of length 0, a wrong number of tiles), tiles beyond the source, a tile beyond
 * VOLUME_CHUNK_LIMIT, or an array beyond VOLUME_OFFSET_LIMIT. An array stored plain,
 * without tiles, has tiles of some rows, which span all axes but the first. Reads of such
 * tiles read only the requested bytes; the last tile may end with the array.
 */
int entries_array_extent(struct entries *entries, const struct entry_array *array,
			 struct entry_extent *out);

/* The extent of a copy of at least one byte, stored in the index. 0 or -ENOMEM. */
int entries_literal_extent(struct entries *entries, const void *bytes,
			   size_t length, struct entry_extent *out);

/*
 * Appends the log `more`, which `entries` then owns. `more` keeps its own numbers: a loop
 * over entries continues with entries_next until NULL.
 */
void entries_append(struct entries *entries, struct entries *more);
struct entries *entries_next(const struct entries *entries);

/* The last appended log, or `entries`: the one to add entries to. */
struct entries *entries_last(struct entries *entries);

/* Marks a nested packed file as unreadable: it is shown as a file. */
void entries_set_failed(struct entries *entries);
int entries_failed(const struct entries *entries);

/*
 * From here on each name must be new, and a second one is an error. Before, a second
 * entry is a newer version and the last one wins. Only the first call counts.
 */
void entries_forbid_duplicates(struct entries *entries);

/* The first entry after entries_forbid_duplicates; SIZE_MAX: none. */
size_t entries_unique_from(const struct entries *entries);

/* Counts a member that is not shown: a device, a FIFO, a socket. */
void entries_leave_out(struct entries *entries);

/* The number left out, with nested and appended logs. */
uint64_t entries_left_out(const struct entries *entries);

size_t entries_count(const struct entries *entries);

/*
 * Entry i, valid for ENTRIES_CACHED further calls, or until one is added. Its path and
 * other pointers, except the extents, are valid as long as the log has the entry.
 */
enum { ENTRIES_CACHED = 16 };
const struct entry *entries_get(struct entries *entries, size_t i);

/* Entries before i are not used again, and may be freed. */
void entries_release(struct entries *entries, size_t i);

/*
 * Changes paths and targets of all entries: `edit` gets a copy, may change these two
 * pointers, whose texts must live until it is called again, and nothing else. Numbers
 * stay. 0, -ENOMEM, or the error of `edit`; after an error the log can only be freed.
 */
typedef int entries_edit(void *context, struct entry *entry);
int entries_rewrite(struct entries *entries, entries_edit *edit, void *context);

size_t entries_volume_count(const struct entries *entries);
const struct volume_desc *entries_volume(const struct entries *entries, size_t i);

/*
 * The chunks of a coded volume or the tiles of an array, chunk_count of them (first_chunk
 * is unset); the `length` bytes of a literal volume; the numbers of an array, whose fill
 * element, if any, is its literal.
 */
const struct volume_chunk *entries_chunks(const struct entries *entries, size_t volume);
const void *entries_literals(const struct entries *entries, size_t volume);
const struct volume_array *entries_array(const struct entries *entries, size_t volume);

#endif
