/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * builder.h: the builder's own data. Private to build/: build.c applies entries, names.c
 * keeps the names, seal.c lays the tree out.
 *
 * Names and inodes are separate, as in any Unix filesystem: a hard link is a second name
 * of an inode, and a replaced name leaves its inode to the other names.
 */
#ifndef GRANARY_BUILD_BUILDER_H
#define GRANARY_BUILD_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "build/build.h"

enum { NO_ID = 0xffffffff };

/* The common attributes of a file: 28 bytes, for there are millions. */
struct inode {
	uint64_t where;        /* one extent, volume << 40 | offset; or index in sides */
	uint64_t size : 48;
	uint64_t kind : 4;     /* enum tree_kind; TREE_ALIAS: a pending link */
	uint64_t many : 1;     /* several extents, or holes */
	uint64_t implied : 1;  /* a directory without an entry so far */
	uint64_t sided : 1;    /* `where` is an index in sides */
	uint32_t mtime_low, mtime_ns;
	uint32_t attr : 24;    /* index in attrs */
	int8_t mtime_high;
} __attribute__((packed, aligned(4)));

/* Rare attributes, and those of directories. */
struct inode_side {
	uint64_t where;        /* as in the inode, if there is one extent */
	const struct entry_extent *extents; /* of a file with several extents or holes */
	const char *target;    /* symlink */
	const struct entry_xattr *xattrs;
	uint32_t extent_count;
	uint32_t xattr_count;
	uint32_t shard;        /* directory: the shard of its entry */
	uint32_t pending;      /* TREE_ALIAS: index in pending */
	uint32_t children;     /* directory: live names in it */
	uint32_t last;         /* directory: the last name added, or NO_ID */
	bool opened;           /* a packed file shown as a directory, or a link to one */
	bool disordered;       /* directory: names were not added in order */
	uint32_t names;        /* seal: live names of a file with links */
	uint32_t node;         /* seal: the node of the first name, or NO_ID */
	uint32_t first, count; /* seal: a directory's names in `children` */
	uint32_t directories;  /* seal: the number of directories among them */
};

struct builder_name {
	uint32_t text_low; /* offset in texts: a byte with the length, then the text */
	uint32_t parent;   /* name of the directory */
	uint32_t inode;
	uint8_t text_high;
	uint8_t length;
	bool dead;         /* replaced by another name of the same text */
};

_Static_assert(sizeof(struct inode) == 28, "28 bytes an inode");
_Static_assert(sizeof(struct builder_name) == 16, "16 bytes a name");

/*
 * A hard link whose target had no entry yet: its name has an inode of its own until
 * builder_settle_links.
 */
struct pending_link {
	const char *path;   /* of the link, for messages */
	const char *target;
	uint32_t base;      /* directory at which target starts */
	uint32_t shard;
	uint32_t before;    /* the inode that the link replaced, or NO_ID */
	uint32_t settled;   /* the inode of the target, or NO_ID */
	bool visited;
};

/* A volume and its log. Several logs may share a raw volume. */
struct built_volume {
	struct volume_desc is;
	const struct entries *log;
	uint32_t shard;  /* distinguishes logs that had the same address in turn */
	uint32_t number; /* index in that log */
};

struct builder {
	enum duplicates duplicates;
	struct builder_defaults defaults;
	struct findings *findings;
	struct arena arena;
	VEC(struct builder_name) names;   /* items[0] is the root */
	VEC(uint8_t) texts;       /* of all names, as in the index */
	VEC(struct inode) inodes;
	VEC(struct inode_side) sides;
	VEC(struct layout_attr) attrs;
	VEC(struct built_volume) volumes;
	VEC(struct volume_chunk) chunks;
	VEC(struct volume_array) arrays;
	VEC(uint8_t) literals;
	const struct stream_record *streams;
	uint32_t stream_count;
	uint32_t *stream_volumes; /* by stream: its volume, or NO_ID */
	VEC(struct volume_point) points;
	VEC(uint8_t) windows;
	VEC(struct pending_link) pending;
	VEC(const char *) labels; /* by shard */
	VEC(uint32_t) firsts;     /* by shard: its first name */
	bool linked;              /* some file has two names */
	bool opened;              /* some directory is a packed file */
	struct idmap name_ids;    /* of the names before `hashed` */
	uint32_t hashed;
	struct idmap attr_ids;

	/* The directory of the last entry, mostly also that of the next. */
	VEC(char) recent_path;
	uint32_t recent_base, recent_directory;

	/* State of the log that is being applied. */
	uint32_t shard;
	const struct entries *outer; /* the log, not one nested in it */
	bool distinct;
	uint64_t unsafe, skipped, ignored, long_links, replaced; /* for a message each a shard */
	uint64_t left_out;                 /* entries not shown, of all shards */
	const char *unsafe_example;
	const char *skipped_example;
	const char *long_example;
	const char *replaced_example;
};

/*
 * Changes the source of a log's volume to that of the index: a stream becomes a volume
 * where it is none yet. 0, -ENOMEM, or -EINVAL: there is no such stream.
 */
int builder_locate_source(struct builder *b, uint32_t *source);
void builder_free_streams(struct builder *b);

/* Finds a name in a directory: its number, or NO_ID. 0 or -ENOMEM. */
int names_find(struct builder *b, uint32_t parent, const char *text, size_t length,
	       uint32_t *out);

/* Adds all names to the hash table, so that names_find cannot fail: 0 or -ENOMEM. */
int names_hash(struct builder *b);

/*
 * Adds a name that names_find has just not found; the text is copied. Its number, or
 * NO_ID.
 */
uint32_t names_add(struct builder *b, uint32_t parent, const char *text,
		   size_t length, uint32_t inode);

/*
 * Gives an existing name a new inode. The name gets a new number, so that the children of
 * a replaced directory do not appear in the new one.
 */
uint32_t names_replace(struct builder *b, uint32_t name, uint32_t inode);

/* Renames to a text that is not taken: 0 or -ENOMEM. */
int names_rename(struct builder *b, uint32_t id, const char *text, size_t length);

/* The shard that added a name. */
uint32_t names_shard(const struct builder *b, uint32_t name);

/* The number of a set of attributes, or NO_ID: out of memory or too many. */
uint32_t names_attr(struct builder *b, const struct layout_attr *attr);

int builder_no_memory(struct error *e);

/* Errors for a path in two shards, or twice in one log with distinct names. */
int clash_between(const struct builder *b, uint32_t other, const char *path,
		  struct error *e);
int clash_within(const struct builder *b, const char *path, struct error *e);

/* Adds a directory without an entry: its number, or NO_ID. */
uint32_t inodes_add_implied(struct builder *b);

/*
 * Adds the inode of an entry of `log`, with this kind and these permission bits (a link's
 * target fits Linux's limit): 0, -EBADMSG for invalid extents, or -ENOMEM.
 */
int inodes_add(struct builder *b, const struct entries *log,
	       const struct entry *entry, enum tree_kind kind, uint32_t mode,
	       uint32_t *out, struct error *e);

/* Gives an inode a side if it has none: 0 or -ENOMEM. */
int inodes_add_side(struct builder *b, uint32_t inode);

/*
 * Points links to packed files at the directories that show them: see nested.c. Before
 * builder_settle_links; 0 or -ENOMEM.
 */
int builder_retarget_links(struct builder *b);

/*
 * The path without its suffix, in the builder's arena: "n01440764" for "n01440764.tar" or
 * "n01440764.tar.gz". NULL: out of memory.
 */
const char *nested_directory_path(struct builder *b, const char *path);

/* Resolves the pending links: 0 or -ENOMEM. */
int builder_settle_links(struct builder *b);

static inline const char *text_of(const struct builder *b,
				  const struct builder_name *name)
{
	uint64_t at = (uint64_t)name->text_high << 32 | name->text_low;

	return (const char *)b->texts.items + at + 1;
}

static inline struct inode_side *side_of(const struct builder *b, const struct inode *inode)
{
	return &b->sides.items[inode->where];
}

/* Of a TREE_ALIAS. */
static inline struct pending_link *pending_of(const struct builder *b,
					      const struct inode *inode)
{
	return &b->pending.items[side_of(b, inode)->pending];
}

static inline struct inode *inode_of(const struct builder *b, uint32_t name)
{
	return &b->inodes.items[b->names.items[name].inode];
}

#endif
