/*
 * builder.h: the builder's own data. Private to tree/: build.c applies
 * entries, names.c keeps the names, seal.c lays the tree out.
 *
 * Names and inodes are apart, as in any Unix filesystem: a hard link is a
 * second name of an inode, and a name that is replaced leaves its inode to the
 * other names.
 */
#ifndef GRANARY_TREE_BUILDER_H
#define GRANARY_TREE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/build.h"
#include "util/arena.h"
#include "util/idmap.h"
#include "util/vec.h"

enum { NO_ID = 0xffffffff };

struct inode {
	uint64_t size;
	int64_t mtime;
	uint32_t mtime_ns;
	uint32_t attr;         /* number in attrs */
	uint32_t volume;       /* of the one extent, where extent_count is 1 */
	uint32_t extent_count;
	union {
		uint64_t offset;                    /* one extent: in the volume */
		const struct entry_extent *extents; /* several, or with holes */
		const char *target;                 /* symlink */
	};
	const struct entry_xattr *xattrs;
	uint32_t xattr_count;
	uint32_t shard;        /* who described it */
	uint32_t pending;      /* TREE_ALIAS: number in pending */
	uint32_t children;     /* directory: names in it, dead ones not counted */
	uint32_t names;        /* seal: how many were placed */
	uint32_t node;         /* seal: the node of the first name, or NO_ID */
	uint8_t kind;          /* enum tree_kind; TREE_ALIAS: a link that waits */
	bool many;             /* extents is meant, not offset */
	bool implied;          /* a directory that no entry has described yet */
};

struct name {
	const char *text; /* length bytes, not NUL-terminated */
	uint32_t parent;  /* the name of the directory */
	uint32_t inode;
	uint32_t shard;   /* who put it there */
	uint8_t length;
	bool dead;        /* replaced by another of the same text */
};

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
	VEC(struct inode) inodes;
	VEC(struct layout_attr) attrs;
	VEC(struct built_volume) volumes;
	VEC(struct volume_chunk) chunks;
	VEC(uint8_t) literals;
	VEC(struct pending_link) pending;
	VEC(const char *) labels; /* by shard */
	uint64_t hash_seed;
	struct idmap name_ids;
	struct idmap attr_ids;

	/* The directory of the entry before: archives keep families together. */
	const char *recent_path;
	size_t recent_length;
	uint32_t recent_base, recent_directory;

	/* What one shard's log needs while it is applied. */
	uint32_t shard;
	bool distinct;
	uint64_t unsafe, skipped, ignored, long_links; /* for one line a shard each */
	uint64_t left_out;                 /* entries that are not shown, in all */
	const char *unsafe_example;
	const char *skipped_example;
	const char *long_example;
};

/* Finds a name in a directory: its number, or NO_ID. */
uint32_t names_find(const struct builder *b, uint32_t parent, const char *text,
		    size_t length);

/* Adds a name (whose text is copied) that is not there: its number, or NO_ID. */
uint32_t names_add(struct builder *b, uint32_t parent, const char *text,
		   size_t length, uint32_t inode);

/*
 * Puts a new inode under an old name. The name gets a new number, so that what
 * was below an old directory does not come to lie below the new one.
 */
uint32_t names_replace(struct builder *b, uint32_t name, uint32_t inode);

/* The number of a set of attributes, or NO_ID for out of memory or too many. */
uint32_t names_attr(struct builder *b, const struct layout_attr *attr);

int builder_no_memory(struct error *e);

/* A directory that no entry has described: its number, or NO_ID. */
uint32_t inodes_add_implied(struct builder *b);

/*
 * The inode that an entry of `log` describes, as a `kind` with these permission
 * bits (a link is short enough for Linux): 0, -EBADMSG where its extents make no sense, -ENOMEM.
 */
int inodes_add(struct builder *b, const struct entries *log,
	       const struct entry *entry, enum tree_kind kind, uint32_t mode,
	       uint32_t *out, struct error *e);

/* Gives the links that wait their targets. */
void builder_settle_links(struct builder *b);

static inline struct inode *inode_of(const struct builder *b, uint32_t name)
{
	return &b->inodes.items[b->names.items[name].inode];
}

#endif
