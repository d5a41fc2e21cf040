/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.c: applies entries: makes paths safe, and decides which of several entries of one
 * name is shown.
 *
 *	new \ there   directory            anything else
 *	directory     one directory        replaces it
 *	else          replaces an empty    replaces it
 *	              one, is ignored
 *	              before a full one
 *
 * Between two shards the option `duplicates` decides first, except that directories
 * merge. The result equals an extraction by GNU tar, except for members below a name that
 * is no directory: see docs/formats/tar.md.
 */
#include "build/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "build/builder.h"
#include "build/findings.h"
#include "build/paths.h"
#include "names/packed_suffixes.h"

struct builder *builder_new(enum duplicates duplicates,
			    const struct builder_defaults *defaults,
			    struct findings *findings)
{
	struct builder *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->duplicates = duplicates;
	b->defaults = *defaults;
	b->findings = findings;
	b->recent_directory = NO_ID;
	if (inodes_add_implied(b) == NO_ID || names_add(b, NO_ID, "", 0, 0) == NO_ID) {
		builder_free(b);
		return NULL;
	}
	return b;
}

void builder_free(struct builder *b)
{
	if (!b)
		return;
	vec_free(&b->names);
	vec_free(&b->texts);
	vec_free(&b->inodes);
	vec_free(&b->sides);
	vec_free(&b->firsts);
	vec_free(&b->recent_path);
	vec_free(&b->attrs);
	vec_free(&b->volumes);
	builder_free_streams(b);
	vec_free(&b->chunks);
	vec_free(&b->arrays);
	vec_free(&b->literals);
	vec_free(&b->pending);
	vec_free(&b->labels);
	idmap_free(&b->name_ids);
	idmap_free(&b->attr_ids);
	arena_free(&b->arena);
	free(b);
}

static void note_example(struct builder *b, const char **example, uint64_t *count,
			 const char *path)
{
	if ((*count)++ == 0)
		*example = arena_copy(&b->arena, path, strnlen(path, 512));
}

static void drop_recent(struct builder *b)
{
	b->recent_directory = NO_ID;
}

/* The safe form of an entry's path, or NULL: it is not shown. */
static const char *admit_path(struct builder *b, uint32_t base, const char *path)
{
	const char *safe;

	if (path_is_plain(path))
		return path;
	safe = path_safe(path);
	if (!path_fits(safe, LAYOUT_NAME_MAX) || (base == 0 && path_is_reserved(safe))) {
		note_example(b, &b->skipped_example, &b->skipped, path);
		return NULL;
	}
	if (safe != path)
		note_example(b, &b->unsafe_example, &b->unsafe, path);
	return safe;
}

/* Names. */

/*
 * May a new inode of `kind` replace the name `old`? 1 yes, 0 no (it is ignored), or an
 * error.
 */
static int may_replace(struct builder *b, uint32_t old, enum tree_kind kind,
		       const char *path, struct error *e)
{
	const struct inode *there = inode_of(b, old);
	uint32_t owner = names_shard(b, old);
	bool foreign = owner != b->shard;

	if (!foreign && b->distinct)
		return clash_within(b, path, e);
	if (foreign && b->duplicates == DUPLICATES_ERROR)
		return clash_between(b, owner, path, e);
	if (foreign && b->duplicates == DUPLICATES_FIRST) {
		b->ignored++;
		return 0;
	}
	if (there->kind == TREE_DIRECTORY && kind != TREE_DIRECTORY &&
	    side_of(b, there)->children) {
		note_example(b, &b->skipped_example, &b->skipped, path);
		return 0;
	}
	return 1;
}

/* Enters a parent directory, made if it does not exist. NO_ID: an existing file stays. */
static int enter_directory(struct builder *b, uint32_t parent, const char *text,
			   size_t length, const char *path, uint32_t *out,
			   struct error *e)
{
	uint32_t name, inode;
	const char *way;
	int replace;

	if (names_find(b, parent, text, length, &name) < 0)
		return builder_no_memory(e);
	*out = name;
	if (name != NO_ID && inode_of(b, name)->kind == TREE_DIRECTORY)
		return 0;
	*out = NO_ID;
	if (name != NO_ID) {
		way = arena_copy(&b->arena, path, (size_t)(text + length - path));
		if (!way)
			return builder_no_memory(e);
		replace = may_replace(b, name, TREE_DIRECTORY, way, e);
		if (replace <= 0)
			return replace;
		if (names_shard(b, name) == b->shard)
			note_example(b, &b->skipped_example, &b->skipped, way);
		drop_recent(b);
	}
	inode = inodes_add_implied(b);
	if (inode != NO_ID)
		*out = name == NO_ID ? names_add(b, parent, text, length, inode) :
				       names_replace(b, name, inode);
	return *out == NO_ID ? builder_no_memory(e) : 0;
}

static int build_remember(struct builder *b, uint32_t base,
			  const struct path_split *split, uint32_t directory)
{
	b->recent_path.count = 0;
	if (vec_reserve(&b->recent_path, split->parents + 1) < 0)
		return -ENOMEM;
	memcpy(b->recent_path.items, split->path, split->parents);
	b->recent_path.count = split->parents;
	b->recent_base = base;
	b->recent_directory = directory;
	return 0;
}

/* The directory of the leaf of `split`, from `base`, or NO_ID. */
static int enter_parents(struct builder *b, uint32_t base,
			 const struct path_split *split, uint32_t *out,
			 struct error *e)
{
	size_t length;
	int err;

	*out = b->recent_directory;
	if (b->recent_directory != NO_ID && b->recent_base == base &&
	    b->recent_path.count == split->parents &&
	    memcmp(b->recent_path.items, split->path, split->parents) == 0)
		return 0;
	*out = base;
	for (const char *at = split->path; at < split->leaf;) {
		const char *next = path_next(at, &length);

		if (!path_is_dot(at, length)) {
			err = enter_directory(b, *out, at, length, split->path, out, e);
			if (err || *out == NO_ID)
				return err;
		}
		at = next;
	}
	return build_remember(b, base, split, *out) < 0 ? builder_no_memory(e) : 0;
}

/* Gives an inode a name. *out: the name, or NO_ID if the inode is ignored. */
static int build_add_name(struct builder *b, uint32_t parent,
			  const struct path_split *split, uint32_t inode, uint32_t *out,
			  struct error *e)
{
	uint32_t old, name;
	int err;

	*out = NO_ID;
	if (names_find(b, parent, split->leaf, split->leaf_length, &old) < 0)
		return builder_no_memory(e);
	if (old == NO_ID) {
		name = names_add(b, parent, split->leaf, split->leaf_length, inode);
	} else {
		err = may_replace(b, old, b->inodes.items[inode].kind, split->path, e);
		if (err <= 0)
			return err;
		if (inode_of(b, old)->kind == TREE_DIRECTORY)
			drop_recent(b);
		else if (names_shard(b, old) == b->shard)
			note_example(b, &b->replaced_example, &b->replaced, split->path);
		name = names_replace(b, old, inode);
	}
	*out = name;
	return name == NO_ID ? builder_no_memory(e) : 0;
}

/* Applies a directory's own entry; the first shard with one wins. */
static void describe_directory(struct builder *b, uint32_t name, uint32_t inode)
{
	struct inode *there = inode_of(b, name);
	const struct inode *described = &b->inodes.items[inode];
	struct inode_side *side = side_of(b, there);

	if (!there->implied && side->shard != b->shard)
		return;
	there->implied = false;
	there->mtime_low = described->mtime_low;
	there->mtime_high = described->mtime_high;
	there->mtime_ns = described->mtime_ns;
	there->attr = described->attr;
	side->shard = b->shard;
	side->xattrs = side_of(b, described)->xattrs;
	side->xattr_count = side_of(b, described)->xattr_count;
}

static int apply_directory(struct builder *b, const struct entries *log,
			   const struct entry *entry, uint32_t base,
			   const char *path, uint32_t mode, uint32_t *out,
			   struct error *e)
{
	struct path_split split = path_split(path);
	uint32_t parent, inode, there;
	int err = inodes_add(b, log, entry, TREE_DIRECTORY, mode, &inode, e);

	if (err)
		return err;
	*out = base;
	if (split.leaf_length == 0) {
		describe_directory(b, base, inode);
		return 0;
	}
	err = enter_parents(b, base, &split, &parent, e);
	*out = NO_ID;
	if (err || parent == NO_ID)
		return err;
	if (names_find(b, parent, split.leaf, split.leaf_length, &there) < 0)
		return builder_no_memory(e);
	if (there == NO_ID || inode_of(b, there)->kind != TREE_DIRECTORY)
		return build_add_name(b, parent, &split, inode, out, e);
	describe_directory(b, there, inode);
	*out = there;
	return 0;
}

static int apply_leaf(struct builder *b, const struct entries *log,
		      const struct entry *entry, uint32_t base, const char *path,
		      struct error *e)
{
	struct path_split split = path_split(path);
	uint32_t parent, inode, name;
	int err;

	if (split.leaf_length == 0) {
		note_example(b, &b->skipped_example, &b->skipped, entry->path);
		return 0;
	}
	if (entry->kind == ENTRY_SYMLINK && strlen(entry->target) >= TREE_TARGET_BYTES) {
		note_example(b, &b->long_example, &b->long_links, entry->path);
		return 0;
	}
	err = inodes_add(b, log, entry, entry->kind == ENTRY_SYMLINK ? TREE_SYMLINK :
			 TREE_FILE, entry->kind == ENTRY_SYMLINK ? 0777 : entry->mode,
			 &inode, e);
	if (err)
		return err;
	err = enter_parents(b, base, &split, &parent, e);
	if (err || parent == NO_ID)
		return err;
	return build_add_name(b, parent, &split, inode, &name, e);
}

/* Hard links. */


static int find_path(struct builder *b, uint32_t base, const char *path, uint32_t *out)
{
	size_t length;
	int err = 0;

	*out = base;
	for (const char *at = path; *at && *out != NO_ID && !err;) {
		const char *next = path_next(at, &length);

		if (!path_is_dot(at, length))
			err = names_find(b, *out, at, length, out);
		at = next;
	}
	return err;
}

/* Adds an inode for a link whose target may come later. */
static int defer_link(struct builder *b, uint32_t before, const char *path,
		      const char *target, uint32_t base, uint32_t *inode,
		      struct error *e)
{
	const struct inode waiting = { .kind = TREE_ALIAS };
	struct pending_link link = {
		.path = arena_copy(&b->arena, path, strlen(path)),
		.target = arena_copy(&b->arena, target, strlen(target)),
		.base = base, .shard = b->shard, .before = before, .settled = NO_ID,
	};

	*inode = (uint32_t)b->inodes.count;
	if (!link.path || !link.target || vec_push(&b->pending, link) < 0 ||
	    vec_push(&b->inodes, waiting) < 0 || inodes_add_side(b, *inode) < 0)
		return builder_no_memory(e);
	side_of(b, &b->inodes.items[*inode])->pending = (uint32_t)b->pending.count - 1;
	return 0;
}

/* Prepares a file for a second name. */
static int share_inode(struct builder *b, uint32_t inode)
{
	b->linked = true;
	return inodes_add_side(b, inode);
}

static int apply_hardlink(struct builder *b, const struct entry *entry,
			  uint32_t base, const char *path, struct error *e)
{
	const char *target = path_safe(entry->target);
	struct path_split split = path_split(path);
	uint32_t parent, found, inode, there, name;
	int err;

	if (split.leaf_length == 0) {
		note_example(b, &b->skipped_example, &b->skipped, entry->path);
		return 0;
	}
	err = enter_parents(b, base, &split, &parent, e);
	if (err || parent == NO_ID)
		return err;
	if (find_path(b, base, target, &found) < 0 ||
	    names_find(b, parent, split.leaf, split.leaf_length, &there) < 0)
		return builder_no_memory(e);
	if (found != NO_ID && found == there)
		return 0; /* a link to itself */
	if (found != NO_ID && inode_of(b, found)->kind != TREE_DIRECTORY) {
		inode = b->names.items[found].inode;
		if (share_inode(b, inode) < 0)
			return builder_no_memory(e);
		return build_add_name(b, parent, &split, inode, &name, e);
	}
	err = defer_link(b, there == NO_ID ? (uint32_t)NO_ID : b->names.items[there].inode,
			 path, target, base, &inode, e);
	return err ? err : build_add_name(b, parent, &split, inode, &name, e);
}

/* The inode of a link's target, maybe a pending link too, or NO_ID. */
static uint32_t target_inode(struct builder *b, const struct pending_link *link)
{
	uint32_t found;

	if (find_path(b, link->base, link->target, &found) < 0 || found == NO_ID || b->names.items[found].dead ||
	    inode_of(b, found)->kind == TREE_DIRECTORY)
		return NO_ID;
	return b->names.items[found].inode;
}

/* Follows links to links. Each link is visited once, however long the chain. */
static void build_resolve_link(struct builder *b, uint32_t first)
{
	uint32_t inode = first, end;

	while (inode != NO_ID && b->inodes.items[inode].kind == TREE_ALIAS) {
		struct pending_link *link = pending_of(b, &b->inodes.items[inode]);

		if (link->visited) { /* settled, or a cycle */
			inode = link->settled;
			break;
		}
		link->visited = true;
		inode = target_inode(b, link);
	}
	end = inode;
	if (end == NO_ID)
		return;
	for (inode = first; inode != end;) {
		struct pending_link *link = pending_of(b, &b->inodes.items[inode]);

		if (link->settled != NO_ID) /* the rest is settled */
			return;
		link->settled = end;
		inode = target_inode(b, link);
	}
}

/* Leaves out a link without a target; the inode that it replaced is shown again. */
static void drop_link(struct builder *b, struct builder_name *name,
		      const struct pending_link *link, struct findings *own)
{
	const char *file = filename_of(b->labels.items[link->shard]);

	if (own->file != file)
		findings_join(b->findings, own);
	own->file = file;
	findings_add(own, FINDING_LEFT_OUT,
		     "the hard link %.200s is left out: there is no file %.200s", link->path,
		     link->target);
	b->left_out++;
	name->inode = link->before;
	name->dead = link->before == NO_ID;
}

/* Gives every name of a pending link the inode of the target. */
int builder_settle_links(struct builder *b)
{
	struct findings own = { .file = NULL };
	int err = 0;

	/* so that names_find cannot fail */
	if (b->pending.count && names_hash(b) < 0)
		return -ENOMEM;
	for (size_t i = 1; i < b->names.count && !err; i++) {
		struct builder_name *name = &b->names.items[i];

		while (!err && !name->dead && b->inodes.items[name->inode].kind == TREE_ALIAS) {
			struct pending_link *link =
				pending_of(b, &b->inodes.items[name->inode]);

			if (!link->visited)
				build_resolve_link(b, name->inode);
			if (link->settled == NO_ID)
				drop_link(b, name, link, &own);
			else
				name->inode = link->settled;
			err = name->dead ? 0 : share_inode(b, name->inode);
		}
	}
	findings_join(b->findings, &own);
	return err;
}

/* Logs. */

enum { RELEASE_EVERY = 4096 };

static int apply_log(struct builder *b, struct entries *log, uint32_t base,
		     struct error *e);

/* Applies a nested packed file: a directory with its contents. */
static int apply_nested(struct builder *b, const struct entries *log,
			const struct entry *entry, uint32_t base,
			const char *path, struct error *e)
{
	/* read permission of the file gives search permission of the directory */
	uint32_t mode = entry->mode | (entry->mode & 0444) >> 2;
	const char *shown;
	uint32_t directory;
	int err;

	if (entries_failed(entry->nested))
		return apply_leaf(b, log, entry, base, path, e);
	shown = nested_directory_path(b, path);
	if (!shown)
		return builder_no_memory(e);
	err = apply_directory(b, log, entry, base, shown, mode, &directory, e);
	if (err || directory == NO_ID)
		return err;
	side_of(b, inode_of(b, directory))->opened = b->opened = true;
	drop_recent(b);
	return apply_log(b, entry->nested, directory, e);
}

static int apply_entry(struct builder *b, const struct entries *log,
		       const struct entry *entry, uint32_t base, struct error *e)
{
	const char *path = admit_path(b, base, entry->path);
	uint32_t directory;

	if (!path)
		return 0;
	switch (entry->kind) {
	case ENTRY_DIRECTORY:
		return apply_directory(b, log, entry, base, path, entry->mode,
				       &directory, e);
	case ENTRY_HARDLINK:
		return apply_hardlink(b, entry, base, path, e);
	case ENTRY_NESTED:
		return apply_nested(b, log, entry, base, path, e);
	case ENTRY_FILE:
	case ENTRY_SYMLINK:
		break;
	}
	return apply_leaf(b, log, entry, base, path, e);
}

static int build_apply_one(struct builder *b, struct entries *log, uint32_t base,
			   struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < entries_count(log) && !err; i++) {
		b->distinct |= log == b->outer && i >= entries_unique_from(log);
		err = apply_entry(b, log, entries_get(log, i), base, e);
		if (i % RELEASE_EVERY == 0)
			entries_release(log, i);
	}
	return err;
}

static int apply_log(struct builder *b, struct entries *log, uint32_t base,
		     struct error *e)
{
	int err = 0;

	for (; log && !err; log = entries_next(log))
		err = build_apply_one(b, log, base, e);
	return err;
}

static void build_report(struct builder *b, const char *label)
{
	struct findings own = { .file = filename_of(label) };

	if (b->unsafe)
		findings_add(&own, FINDING_LEFT_OUT,
			     "%llu names were absolute or held `..` and were made "
			     "safe (%s, for one)", (unsigned long long)b->unsafe,
			     b->unsafe_example);
	if (b->skipped)
		findings_add(&own, FINDING_LEFT_OUT,
			     "%llu entries cannot be shown and are left out: names "
			     "over %d bytes, the reserved name .granaryfs, no name at "
			     "all, or two entries of one name, a directory and not (%s, "
			     "for one)", (unsigned long long)b->skipped,
			     LAYOUT_NAME_MAX, b->skipped_example);
	if (b->long_links)
		findings_add(&own, FINDING_LEFT_OUT,
			     "%llu symbolic links are left out: their targets "
			     "have more than %d bytes, which Linux does not take (%s, for "
			     "one)", (unsigned long long)b->long_links,
			     TREE_TARGET_BYTES - 1, b->long_example);
	if (b->ignored)
		findings_add(&own, FINDING_USUAL,
			     "%llu files are in an earlier shard too and are left "
			     "out (duplicates=first)", (unsigned long long)b->ignored);
	if (b->replaced)
		findings_add(&own, FINDING_USUAL,
			     "%llu members have a later one of the same name, which is "
			     "shown (%s, for one)", (unsigned long long)b->replaced,
			     b->replaced_example);
	findings_join(b->findings, &own);
	b->left_out += b->skipped + b->long_links;
	b->unsafe = b->skipped = b->ignored = b->long_links = b->replaced = 0;
}

int builder_apply(struct builder *b, struct entries *entries,
		  const char *label, struct error *e)
{
	int err;

	b->shard = (uint32_t)b->labels.count;
	b->outer = entries;
	b->distinct = entries_unique_from(entries) == 0;
	if (vec_push(&b->labels, label) < 0 ||
	    vec_push(&b->firsts, (uint32_t)b->names.count) < 0)
		return builder_no_memory(e);
	drop_recent(b);
	err = apply_log(b, entries, 0, e);
	build_report(b, label);
	return err;
}
