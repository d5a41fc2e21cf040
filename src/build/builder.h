/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * builder.h: the builder's own data. Private to build/: build.c applies
 * entries, names.c keeps the names, seal.c lays the tree out.
 *
 * Names and inodes are apart, as in any Unix filesystem: a hard link is a
 * second name of an inode, and a name that is replaced leaves its inode to the
 * other names.
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

/* What nearly every file is: 28 bytes, of which there are millions. */
struct inode {
	uint64_t where;        /* a file's one extent: volume << 40 | offset; or its side */
	uint64_t size : 48;
	uint64_t kind : 4;     /* enum tree_kind; TREE_ALIAS: a link that waits */
	uint64_t many : 1;     /* several extents, or holes */
	uint64_t implied : 1;  /* a directory that no entry has described yet */
	uint64_t sided : 1;    /* `where` is a number in sides */
	uint32_t mtime_low, mtime_ns;
	uint32_t attr : 24;    /* number in attrs */
	int8_t mtime_high;
} __attribute__((packed, aligned(4)));

/* And the rest of what is rare, or a directory. */
struct inode_side {
	uint64_t where;        /* as in the inode, where there is one extent */
	const struct entry_extent *extents; /* several, or with holes */
	const char *target;    /* symlink */
	const struct entry_xattr *xattrs;
	uint32_t extent_count;
	uint32_t xattr_count;
	uint32_t shard;        /* directory: who described it */
	uint32_t pending;      /* TREE_ALIAS: number in pending */
	uint32_t children;     /* directory: names in it, dead ones not counted */
	uint32_t last;         /* directory: the name that came last, or NO_ID */
	bool opened;           /* a packed file that is a directory, or a link to one */
	bool disordered;       /* directory: some name came before a lesser one */
	uint32_t names;        /* seal: of a file with links, how many are shown */
	uint32_t node;         /* seal: the node of the first name, or NO_ID */
	uint32_t first, count; /* seal: a directory's names in `children` */
	uint32_t directories;  /* seal: those of them that are directories */
};

struct name {
	uint32_t text_low; /* where in texts: a byte with the length, and the text */
	uint32_t parent;   /* the name of the directory */
	uint32_t inode;
	uint8_t text_high;
	uint8_t length;
	bool dead;         /* replaced by another of the same text */
};

_Static_assert(sizeof(struct inode) == 28, "28 bytes an inode");
_Static_assert(sizeof(struct name) == 16, "16 bytes a name");

/*
 * A hard link whose target had not been seen when it came: its name leads to
 * an inode of its own until the links are settled.
 */
struct pending_link {
	const char *path;   /* its own, for a message */
	const char *target;
	uint32_t base;      /* the directory that target starts from */
	uint32_t shard;
	uint32_t before;    /* the inode whose place it took, or NO_ID */
	uint32_t settled;   /* the inode that it turned out to be, or NO_ID */
	bool visited;
};

/* A volume, and whose it was: raw ones may have come in several logs. */
struct built_volume {
	struct volume_desc is;
	const struct entries *log;
	uint32_t shard;  /* tells logs apart that lay at the same address in turn */
	uint32_t number; /* in that log */
};

struct builder {
	enum duplicates duplicates;
	struct builder_defaults defaults;
	struct arena arena;
	VEC(struct name) names;   /* names.items[0] is the root */
	VEC(uint8_t) texts;       /* of all names: the index holds it as it is */
	VEC(struct inode) inodes;
	VEC(struct inode_side) sides;
	VEC(struct layout_attr) attrs;
	VEC(struct built_volume) volumes;
	VEC(struct volume_chunk) chunks;
	VEC(struct volume_array) arrays;
	VEC(uint8_t) literals;
	VEC(struct pending_link) pending;
	VEC(const char *) labels; /* by shard */
	VEC(uint32_t) firsts;     /* by shard: its first name; names come in their order */
	bool linked;              /* some file has two names */
	bool opened;              /* some directory is a packed file */
	struct idmap name_ids;    /* of the names below `hashed` */
	uint32_t hashed;
	struct idmap attr_ids;

	/* The directory of the entry before: archives keep families together. */
	VEC(char) recent_path;
	uint32_t recent_base, recent_directory;

	/* What one shard's log needs while it is applied. */
	uint32_t shard;
	const struct entries *outer; /* the log itself, not one nested in it */
	bool distinct;
	uint64_t unsafe, skipped, ignored, long_links; /* for one line a shard each */
	uint64_t left_out;                 /* entries that are not shown, in all */
	const char *unsafe_example;
	const char *skipped_example;
	const char *long_example;
};

/* Finds a name in a directory: its number, or NO_ID where there is none. 0 or -ENOMEM. */
int names_find(struct builder *b, uint32_t parent, const char *text, size_t length,
	       uint32_t *out);

/* Puts all names into the table, so that names_find cannot fail: 0 or -ENOMEM. */
int names_hash(struct builder *b);

/*
 * Adds a name (whose text is copied) that names_find has just not found: its number, or
 * NO_ID.
 */
uint32_t names_add(struct builder *b, uint32_t parent, const char *text,
		   size_t length, uint32_t inode);

/*
 * Puts a new inode under an old name. The name gets a new number, so that what
 * was below an old directory does not come to lie below the new one.
 */
uint32_t names_replace(struct builder *b, uint32_t name, uint32_t inode);

/* Gives a name another text, which is not taken: 0 or -ENOMEM. */
int names_rename(struct builder *b, uint32_t id, const char *text, size_t length);

/* The shard that put a name there. */
uint32_t names_shard(const struct builder *b, uint32_t name);

/* The number of a set of attributes, or NO_ID for out of memory or too many. */
uint32_t names_attr(struct builder *b, const struct layout_attr *attr);

int builder_no_memory(struct error *e);

/* The errors of a path that two shards have, or one log that is distinct has twice. */
int clash_between(const struct builder *b, uint32_t other, const char *path,
		  struct error *e);
int clash_within(const struct builder *b, const char *path, struct error *e);

/* A directory that no entry has described: its number, or NO_ID. */
uint32_t inodes_add_implied(struct builder *b);

/*
 * The inode that an entry of `log` describes, as a `kind` with these permission
 * bits (a link is short enough for Linux): 0, -EBADMSG where its extents make no sense, -ENOMEM.
 */
int inodes_add(struct builder *b, const struct entries *log,
	       const struct entry *entry, enum tree_kind kind, uint32_t mode,
	       uint32_t *out, struct error *e);

/* Sees to it that an inode has a side: 0 or -ENOMEM. */
int inodes_add_side(struct builder *b, uint32_t inode);

/*
 * Links to packed files that are directories here lead to these: see nested.c. Before
 * builder_settle_links; 0 or -ENOMEM.
 */
int builder_turn_links(struct builder *b);

/* Gives the links that wait their targets: 0 or -ENOMEM. */
int builder_settle_links(struct builder *b);

static inline const char *text_of(const struct builder *b, const struct name *name)
{
	uint64_t at = (uint64_t)name->text_high << 32 | name->text_low;

	return (const char *)b->texts.items + at + 1;
}

static inline struct inode_side *side_of(const struct builder *b, const struct inode *inode)
{
	return &b->sides.items[inode->where];
}

/* Of a link that waits. */
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
