/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * squashfs 4.0 images.
 *
 * The tree is walked with a stack of our own, for an image may be as deep as it
 * likes. Each directory is listed where its entry is met, and must not be met
 * again; each file's list of blocks becomes extents, and its data are not read.
 */
#include "build/findings.h"
#include "format/format.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <endian.h>

#include "base/vec.h"
#include "config.h"
#include "format/limits.h"
#include "format/squashfs/contents.h"
#include "format/squashfs/metadata.h"
#include "format/squashfs/refs.h"
#include "format/squashfs/xattr_sets.h"

enum { VERSION_AT = 28 }; /* in the superblock */

static int squashfs_probe(const unsigned char *head, size_t n)
{
	static const unsigned char version[] = { 4, 0, 0, 0 };

	return n >= SQUASHFS_SUPERBLOCK_BYTES && memcmp(head, "hsqs", 4) == 0 &&
			       memcmp(head + VERSION_AT, version, sizeof(version)) == 0 ?
		       100 : 0;
}

#if WITH_SQUASHFS

enum {
	LISTING_EMPTY = 3,      /* a directory's size counts `.` and `..`, mostly: see below */
	RUN_MOST = 256,         /* entries behind one header */
	NAME_MOST = 256,
	TARGET_MOST = 64 * 1024 - 1,
	XATTRS_FREE = 1024 * 1024 * 1024, /* bytes, in all entries */
	NAMES_FREE = 1024 * 1024 * 1024,  /* the same: of entries themselves */
};

/* As stored, little-endian. */
struct run_header {
	uint32_t count; /* minus one */
	uint32_t inode_block;
	uint32_t first_number;
};

struct run_entry {
	uint16_t inode_offset;
	uint16_t number;
	uint16_t type;
	uint16_t name_size; /* minus one */
};

/* A directory that is being listed. */
struct squashfs_level {
	struct squashfs_cursor cursor;
	uint64_t left;        /* bytes of the listing, */
	unsigned more;        /* and of those that the size counts for `.` and `..` */
	uint32_t run;         /* entries left behind the last header */
	uint32_t inode_block; /* where their inodes are */
	size_t path_size;     /* of its own path, with the slash */
};

/* One name in it. */
struct squashfs_name {
	uint64_t inode; /* reference */
	unsigned type;
	size_t size;
};

/* One scan. */
struct squashfs_walk {
	struct scan *scan;
	struct error *e;
	struct squashfs_image image;
	struct squashfs_contents contents;
	struct squashfs_xattrs xattrs;
	struct squashfs_refs directories; /* their inodes: each only once */
	struct squashfs_refs linked;      /* files with several names, to entries */
	VEC(struct squashfs_level) levels;
	VEC(char) path;                   /* of the entry at hand */
	VEC(char) target;
	uint64_t advanced;                /* bytes of the window */
	uint64_t path_bytes;              /* in the entries, targets included */
	uint64_t xattr_bytes;
	uint64_t name_bytes;              /* the entries themselves */
	uint64_t specials;
};

static void warn_entry(struct squashfs_walk *walk, const char *what)
{
	findings_add(walk->scan->findings, FINDING_LEFT_OUT,
		     "'%.200s' %s", walk->path.items, what);
}

/* The path of what is being looked at */

static void cut_path(struct squashfs_walk *walk, size_t size)
{
	walk->path.count = size;
	walk->path.items[size] = '\0';
	walk->image.path = walk->path.items;
}

/* Room for `more` bytes, a slash and a NUL; messages find the path where it is. */
static int squashfs_make_room(struct squashfs_walk *walk, size_t more)
{
	if (vec_reserve(&walk->path, more + 2) < 0)
		return squashfs_out_of_memory(&walk->image);
	walk->image.path = walk->path.items;
	return 0;
}

/* Entries */

static void squashfs_advance(struct squashfs_walk *walk, uint64_t bytes)
{
	uint64_t left = walk->image.used - walk->advanced;

	if (bytes > left) /* blocks that are used twice */
		bytes = left;
	walk->advanced += bytes;
	if (walk->scan->advance)
		walk->scan->advance(walk->scan, bytes);
}

/* The bytes that one more entry and its copies of path and target take. */
static int squashfs_count_names(struct squashfs_walk *walk, const struct entry *entry)
{
	size_t length = strlen(entry->path) + (entry->target ? strlen(entry->target) : 0);

	if (!limit_sum(&walk->name_bytes, sizeof(*entry), walk->image.used, NAMES_FREE))
		return squashfs_refuse_bomb(&walk->image, "names");
	return limit_paths(&walk->path_bytes, length, walk->image.used) ? 0 :
		       squashfs_refuse_bomb(&walk->image, "paths and targets");
}

static int add_entry(struct squashfs_walk *walk, const struct entry *entry,
		     uint64_t bytes)
{
	int err = squashfs_count_names(walk, entry);

	if (err)
		return err;
	if (entries_add(walk->scan->entries, entry) < 0)
		return squashfs_out_of_memory(&walk->image);
	squashfs_advance(walk, bytes);
	return 0;
}

static int squashfs_add_directory(struct squashfs_walk *walk,
				  const struct squashfs_inode *inode, uint64_t reference,
				  struct entry *entry)
{
	struct squashfs_level level = { .cursor = inode->next };

	if (squashfs_refs_find(&walk->directories, reference))
		return squashfs_damaged(&walk->image, "the directory, which is in another "
						      "one too,");
	if (inode->size && inode->size < LISTING_EMPTY)
		return squashfs_damaged(&walk->image, "the size");
	level.left = inode->size ? inode->size - LISTING_EMPTY : 0;
	level.more = inode->size ? LISTING_EMPTY : 0;
	if (walk->path.count) { /* next_name has left room for this */
		walk->path.items[walk->path.count] = '/';
		cut_path(walk, walk->path.count + 1);
	}
	level.path_size = walk->path.count;
	entry->kind = ENTRY_DIRECTORY;
	if (squashfs_refs_add(&walk->directories, reference, 0) < 0 ||
	    vec_push(&walk->levels, level) < 0)
		return squashfs_out_of_memory(&walk->image);
	return add_entry(walk, entry, 0);
}

static int squashfs_add_symlink(struct squashfs_walk *walk,
				const struct squashfs_inode *inode, struct entry *entry)
{
	struct squashfs_cursor cursor = inode->next;
	int err;

	if (inode->size == 0 || inode->size > TARGET_MOST)
		return squashfs_damaged(&walk->image, "the size of the link");
	if (inode->size > LIMIT_TARGET_BYTES) {
		warn_entry(walk, "is a link to too long a path, and is left out");
		return 0;
	}
	walk->target.count = 0;
	if (vec_reserve(&walk->target, inode->size + 1) < 0)
		return squashfs_out_of_memory(&walk->image);
	err = squashfs_read(&walk->image, &cursor, walk->target.items, inode->size);
	if (err)
		return err;
	walk->target.items[inode->size] = '\0';
	if (strlen(walk->target.items) != inode->size)
		return squashfs_damaged(&walk->image, "the target of the link");
	entry->kind = ENTRY_SYMLINK;
	entry->target = walk->target.items;
	return add_entry(walk, entry, 0);
}

/* A file's first name. Others that may come are told by `reference`. */
static int squashfs_add_file(struct squashfs_walk *walk,
			     const struct squashfs_inode *inode, uint64_t reference,
			     struct entry *entry)
{
	size_t number = entries_count(walk->scan->entries);
	int err = squashfs_find_contents(&walk->contents, inode);

	if (err)
		return err;
	if (inode->links > 1 && number < UINT32_MAX &&
	    squashfs_refs_add(&walk->linked, reference, (uint32_t)number) < 0)
		return squashfs_out_of_memory(&walk->image);
	entry->kind = ENTRY_FILE;
	entry->size = inode->size;
	entry->extents = walk->contents.extents.items;
	entry->extent_count = walk->contents.extents.count;
	return add_entry(walk, entry, walk->contents.stored);
}

/* Another name of a file that has been taken. */
static int squashfs_add_link(struct squashfs_walk *walk, uint32_t number,
			     struct entry *entry)
{
	entry->kind = ENTRY_HARDLINK;
	entry->target = entries_get(walk->scan->entries, number)->path;
	return add_entry(walk, entry, 0);
}

/* A set may be said once and belong to every file, and each entry has a copy. */
static int count_xattrs(struct squashfs_walk *walk, const struct entry *entry)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < entry->xattr_count; i++)
		bytes += sizeof(*entry->xattrs) + strlen(entry->xattrs[i].name) +
			 entry->xattrs[i].size;
	return limit_sum(&walk->xattr_bytes, bytes, walk->image.used, XATTRS_FREE) ? 0 :
		       squashfs_refuse_bomb(&walk->image, "xattrs");
}

static int add_inode_xattrs(struct squashfs_walk *walk,
			    const struct squashfs_inode *inode, struct entry *entry)
{
	int err = squashfs_read_xattrs(&walk->xattrs, inode->xattrs);

	if (err)
		return err;
	if (walk->xattrs.left_out)
		warn_entry(walk, "has extended attributes beyond the limits, which are "
				 "left out");
	entry->xattrs = walk->xattrs.items.items;
	entry->xattr_count = walk->xattrs.items.count;
	return count_xattrs(walk, entry);
}

static void squashfs_fill_attributes(const struct squashfs_inode *inode,
				     struct entry *entry)
{
	entry->mode = inode->mode & 0777;
	entry->uid = inode->uid;
	entry->gid = inode->gid;
	entry->mtime = inode->mtime;
}

/* The inode of the path at hand. */
static int squashfs_add_inode(struct squashfs_walk *walk,
			      const struct squashfs_inode *inode, uint64_t reference)
{
	struct entry entry = { .path = walk->path.count ? walk->path.items : "./" };
	const uint32_t *known = NULL;
	int err;

	if (inode->type >= SQUASHFS_OTHER) {
		walk->specials++;
		entries_leave_out(walk->scan->entries);
		return 0;
	}
	squashfs_fill_attributes(inode, &entry);
	if (inode->type == SQUASHFS_SYMLINK)
		return squashfs_add_symlink(walk, inode, &entry);
	if (inode->type == SQUASHFS_FILE && inode->links > 1)
		known = squashfs_refs_find(&walk->linked, reference);
	if (known)
		return squashfs_add_link(walk, *known, &entry);
	err = add_inode_xattrs(walk, inode, &entry);
	if (err)
		return err;
	return inode->type == SQUASHFS_FILE ?
		       squashfs_add_file(walk, inode, reference, &entry) :
		       squashfs_add_directory(walk, inode, reference, &entry);
}

/* Listings */

/*
 * The next bytes of a listing, which must have as many. squashfs-tools-ng before 1.1.3
 * gave the size of the listing alone, without the 3 for `.` and `..`: the last name then
 * takes these 3, and all of them, for nothing shorter than that is an entry.
 */
static int read_listing(struct squashfs_walk *walk, struct squashfs_level *level,
			void *out, size_t size)
{
	size_t more = size > level->left ? size - (size_t)level->left : 0;

	if (more > level->more)
		return squashfs_damaged(&walk->image, "the listing");
	level->left -= size - more;
	level->more -= (unsigned)more;
	return squashfs_read(&walk->image, &level->cursor, out, size);
}

static int begin_run(struct squashfs_walk *walk, struct squashfs_level *level)
{
	struct run_header header;
	int err = read_listing(walk, level, &header, sizeof(header));

	if (err)
		return err;
	if (le32toh(header.count) >= RUN_MOST)
		return squashfs_damaged(&walk->image, "the listing");
	level->run = le32toh(header.count) + 1;
	level->inode_block = le32toh(header.inode_block);
	return 0;
}

static bool squashfs_is_name(const char *name, size_t size)
{
	if (memchr(name, '/', size) || memchr(name, '\0', size))
		return false;
	return !(size == 1 && name[0] == '.') &&
	       !(size == 2 && name[0] == '.' && name[1] == '.');
}

/* The next name, which is put behind the directory's path. */
static int next_name(struct squashfs_walk *walk, struct squashfs_level *level,
		     struct squashfs_name *out)
{
	struct run_entry entry;
	char *end;
	int err = level->run ? 0 : begin_run(walk, level);

	if (!err)
		err = read_listing(walk, level, &entry, sizeof(entry));
	if (err)
		return err;
	level->run--;
	out->inode = (uint64_t)level->inode_block << 16 | le16toh(entry.inode_offset);
	out->type = le16toh(entry.type);
	out->size = le16toh(entry.name_size) + (size_t)1;
	if (out->size > NAME_MOST)
		return squashfs_damaged(&walk->image, "the listing");
	err = squashfs_make_room(walk, out->size);
	if (err)
		return err;
	end = walk->path.items + walk->path.count;
	err = read_listing(walk, level, end, out->size);
	if (err || !squashfs_is_name(end, out->size)) {
		*end = '\0';
		return err ? err : squashfs_damaged(&walk->image, "a name in the listing");
	}
	cut_path(walk, walk->path.count + out->size);
	return 0;
}

static int squashfs_add_name(struct squashfs_walk *walk,
			     const struct squashfs_name *name)
{
	struct squashfs_inode inode;
	int err = squashfs_inode(&walk->image, name->inode, &inode);

	if (err)
		return err;
	if (inode.type != name->type)
		return squashfs_damaged(&walk->image, "the type");
	return squashfs_add_inode(walk, &inode, name->inode);
}

/* One step: the next name of the innermost directory, or out of it. */
static int squashfs_step(struct squashfs_walk *walk)
{
	struct squashfs_level *level = &walk->levels.items[walk->levels.count - 1];
	struct squashfs_name name;
	int err;

	cut_path(walk, level->path_size);
	if (level->left == 0) {
		walk->levels.count--;
		return level->run || level->more % LISTING_EMPTY ?
			       squashfs_damaged(&walk->image, "the listing") : 0;
	}
	err = next_name(walk, level, &name);
	if (err)
		return err;
	if (walk->path.count > LIMIT_PATH_BYTES) {
		warn_entry(walk, "has too long a path, and is left out");
		return 0;
	}
	return squashfs_add_name(walk, &name);
}

static int walk_tree(struct squashfs_walk *walk)
{
	struct squashfs_inode root;
	int err = squashfs_make_room(walk, 0);

	if (err)
		return err;
	cut_path(walk, 0);
	err = squashfs_inode(&walk->image, walk->image.root, &root);
	if (err)
		return err;
	if (root.type != SQUASHFS_DIRECTORY)
		return squashfs_damaged(&walk->image, "the type");
	err = squashfs_add_inode(walk, &root, walk->image.root);
	while (!err && walk->levels.count)
		err = squashfs_step(walk);
	return err;
}

static void squashfs_report(struct squashfs_walk *walk)
{
	squashfs_advance(walk, walk->image.used); /* metadata, too, have been passed */
	if (walk->specials)
		findings_add(walk->scan->findings, FINDING_USUAL,
			     "%llu devices, pipes or sockets are left out",
			     (unsigned long long)walk->specials);
}

static int squashfs_scan(struct scan *scan, struct error *e)
{
	struct squashfs_walk walk = { .scan = scan, .e = e };
	int err = squashfs_open(&walk.image, scan, e);

	if (err)
		return err;
	walk.contents.image = &walk.image;
	walk.xattrs.image = &walk.image;
	snprintf(scan->detail, sizeof(scan->detail), "%s, blocks of %u KiB",
		 walk.image.compression, walk.image.block_size / 1024);
	err = walk_tree(&walk);
	if (!err)
		squashfs_report(&walk);
	squashfs_contents_free(&walk.contents);
	squashfs_xattrs_free(&walk.xattrs);
	squashfs_refs_free(&walk.directories);
	squashfs_refs_free(&walk.linked);
	vec_free(&walk.levels);
	vec_free(&walk.path);
	vec_free(&walk.target);
	squashfs_close(&walk.image);
	return err;
}

#endif /* WITH_SQUASHFS */

const struct format format_squashfs = {
	.name = "squashfs",
	.probe = squashfs_probe,
	IF_SQUASHFS(.scan = squashfs_scan,)
	UNLESS_SQUASHFS(.needs = NEEDS_SQUASHFS,)
};
