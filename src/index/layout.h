/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layout.h: the format of an index file. Private to index/ and build/.
 *
 * A header, a table of sections, then the sections, each aligned to 8 bytes. Numbers are
 * in the byte order of the machine that wrote the file, which the header states. Every
 * structure has naturally aligned members and no padding, so its layout is the same on
 * every supported ABI.
 *
 * The file is untrusted: opening it checks header and table, and each accessor checks the
 * data that it reads.
 */
#ifndef GRANARY_INDEX_LAYOUT_H
#define GRANARY_INDEX_LAYOUT_H

#include <stdint.h>

#include "index/index.h"

#define LAYOUT_MAGIC "granidx\n"

enum {
	LAYOUT_VERSION = 5,
	LAYOUT_BYTE_ORDER = 0x01020304,
	LAYOUT_ALIGNMENT = 8,
};

/*
 * Each section once: SECTION(id, type of an item). The ids are permanent. Sections from
 * SUMS on are optional: they come last, and a table may end before them.
 */
#define LAYOUT_SECTIONS(SECTION)                     \
	SECTION(SUMMARY, struct index_summary)       \
	SECTION(SOURCES, struct layout_source)       \
	SECTION(VOLUMES, struct layout_volume)       \
	SECTION(NODES, struct layout_node)           \
	SECTION(ATTRS, struct layout_attr)           \
	SECTION(EXTENTS, struct layout_extent)       \
	SECTION(LINKS, struct layout_link)           \
	SECTION(XATTR_NODES, struct layout_xattr_node) \
	SECTION(XATTRS, struct layout_xattr)         \
	SECTION(NAMES, uint8_t)                      \
	SECTION(BYTES, uint8_t)                      \
	SECTION(LITERALS, uint8_t)                   \
	SECTION(CHUNKS, struct volume_chunk)         \
	SECTION(ARRAYS, struct volume_array)         \
	SECTION(SUMS, uint64_t)                      \
	SECTION(BLOCKS, uint64_t)                    \
	SECTION(IDENTITIES, struct layout_identity)  \
	SECTION(NOTES, uint8_t)                      \
	SECTION(POINTS, struct volume_point)         \
	SECTION(WINDOWS, uint8_t)

enum layout_section_id {
#define SECTION_ID(id, type) SECTION_##id,
	LAYOUT_SECTIONS(SECTION_ID)
#undef SECTION_ID
	SECTION_COUNT,
	SECTION_COUNT_LEAST = SECTION_SUMS,
};

/* A section's name, for messages, and the size of an item in bytes. */
struct layout_type {
	const char *name;
	uint32_t item_size;
};

extern const struct layout_type layout_types[SECTION_COUNT];

struct layout_header {
	char magic[8];
	uint32_t version;
	uint32_t byte_order;
	uint64_t file_size;
	uint32_t section_count;
	uint32_t reserved;
	uint64_t checksum; /* XXH3-64 of header and table, with 0 here */
};

struct layout_section {
	uint32_t id;
	uint32_t item_size; /* bytes */
	uint64_t offset;    /* bytes from the start of the file */
	uint64_t length;    /* bytes */
	uint64_t checksum;  /* XXH3-64 of the section */
};

struct layout_source {
	uint64_t size;
	int64_t mtime_ns;
	uint64_t digest;
	uint64_t name;        /* the file's name: offset in BYTES */
	uint32_t name_length;
	uint32_t reserved;
};

/* IDENTITIES has one item a source, as in base/identity.h; an index of 0.1 has none. */
struct layout_identity {
	uint64_t number;
	uint64_t samples;
};

/* NOTES are lines of text, each with a line feed behind it. */

/* POINTS has one item for each chunk of each stream, WINDOWS the bytes that they name. */

struct layout_volume {
	uint32_t kind;
	uint32_t source;
	uint64_t base;         /* array: index in ARRAYS; stream: in POINTS */
	uint64_t length;
	uint64_t first_chunk;  /* in CHUNKS */
	uint64_t chunk_count;
	uint32_t guard;
	uint32_t codecs[VOLUME_CODECS]; /* of GUARD_LMDB: the snapshot */
	uint32_t reserved;
};

/*
 * A name in the tree. Node 0 is the root. The children of a directory are contiguous,
 * sorted by the bytes of their names, and have higher numbers than the directory.
 *
 *	kind      where                                    size
 *	DIRECTORY first child | number of children << 32   number of subdirectories
 *	FILE      volume << 40 | offset in the volume      bytes
 *	  MANY    first extent | number of extents << 32   bytes
 *	SYMLINK   offset in BYTES (a NUL follows)          length of the target
 *	ALIAS     the node that carries the inode          0
 */
struct layout_node {
	uint32_t where_low, where_high;
	uint32_t size_low;
	uint32_t parent;
	uint32_t name_low;   /* offset in NAMES: a length byte, then the name */
	uint32_t mtime_low;
	uint32_t kind_nsec;  /* kind << 30 | nanoseconds */
	uint32_t flags_attr; /* flags << 24 | number in ATTRS */
	uint16_t size_high;
	uint8_t name_high;
	int8_t mtime_high;
};

enum layout_flags {
	NODE_MANY = 1,   /* contents are pieces in EXTENTS, or holes */
	NODE_LINKS = 2,  /* several names: their number is in LINKS */
	NODE_XATTRS = 4, /* attributes are in XATTR_NODES */
};

struct layout_attr {
	uint32_t mode; /* permission bits */
	uint32_t uid;
	uint32_t gid;
};

struct layout_extent {
	uint64_t file_offset;
	uint64_t offset;
	uint64_t length;
	uint64_t stored; /* bytes of all pieces up to the end of this one */
	uint32_t volume;
	uint32_t reserved;
};

/*
 * SUMS is empty, or has one item a node: XXH3-64 (seed 0) of all bytes of the node's
 * file. 0: none, for other nodes, aliases and empty files. (A file with the sum 0, one of
 * 2^64, is not checked.)
 *
 * BLOCKS is empty, or there are SUMS. For each 64 nodes it has the number of checksums
 * before theirs, then the checksums: XXH3-64 of each 128 KiB of each larger file, in the
 * order of the nodes; holes are zeros.
 */

/* LINKS and XATTR_NODES are sorted by node. */
struct layout_link {
	uint32_t node;
	uint32_t links;
};

struct layout_xattr_node {
	uint32_t node;
	uint32_t first;
	uint32_t count;
};

struct layout_xattr {
	uint64_t at;           /* offset in BYTES: the name, then the value */
	uint32_t name_length;
	uint32_t value_length;
};

_Static_assert(sizeof(struct layout_node) == 36, "36 bytes a node");
_Static_assert(sizeof(struct layout_header) == 40, "no padding");
_Static_assert(sizeof(struct layout_section) == 32, "no padding");
_Static_assert(sizeof(struct layout_volume) == 64, "no padding");
_Static_assert(sizeof(struct volume_chunk) == 24, "no padding");
_Static_assert(sizeof(struct volume_array) == 160, "no padding");
_Static_assert(sizeof(struct volume_point) == 24, "no padding");

enum {
	LAYOUT_ATTR_LIMIT = 1 << 24,
	LAYOUT_VOLUME_LIMIT = 1 << 24,
	LAYOUT_NODE_LIMIT = 0x7ffffffe,
	LAYOUT_NAME_MAX = 255,
	LAYOUT_XATTR_LIMIT = 4096, /* of a node */
};
#define LAYOUT_SIZE_LIMIT (UINT64_C(1) << 48)
#define LAYOUT_NAMES_LIMIT (UINT64_C(1) << 40)
#define LAYOUT_MTIME_LIMIT (INT64_C(1) << 39)

#endif
