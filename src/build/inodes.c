/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inodes.c: the attributes and contents of files, until the tree is sealed. */
#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "build/builder.h"
#include "build/streams.h"

int builder_no_memory(struct error *e)
{
	return error_set(e, ERROR_SYSTEM, ENOMEM,
			 "out of memory, or more than %d names, while the tree is built",
			 LAYOUT_NODE_LIMIT);
}

static uint32_t add_inode(struct builder *b, const struct inode *inode)
{
	uint32_t id = (uint32_t)b->inodes.count;

	return vec_push(&b->inodes, *inode) < 0 ? (uint32_t)NO_ID : id;
}

int inodes_add_side(struct builder *b, uint32_t number)
{
	struct inode *inode = &b->inodes.items[number];
	struct inode_side side = { .where = inode->where, .shard = b->shard,
				   .last = NO_ID, .node = NO_ID };

	if (inode->sided)
		return 0;
	if (vec_push(&b->sides, side) < 0)
		return -ENOMEM;
	inode->where = b->sides.count - 1;
	inode->sided = true;
	return 0;
}

static void set_mtime(struct inode *inode, int64_t mtime, uint32_t ns)
{
	if (mtime >= LAYOUT_MTIME_LIMIT)
		mtime = LAYOUT_MTIME_LIMIT - 1;
	if (mtime < -LAYOUT_MTIME_LIMIT)
		mtime = -LAYOUT_MTIME_LIMIT;
	inode->mtime_low = (uint32_t)(uint64_t)mtime;
	inode->mtime_high = (int8_t)(mtime >> 32);
	inode->mtime_ns = ns;
}

uint32_t inodes_add_implied(struct builder *b)
{
	const struct builder_defaults *d = &b->defaults;
	uint32_t attr = names_attr(b, &(struct layout_attr){ d->mode, d->uid, d->gid });
	struct inode inode = {
		.kind = TREE_DIRECTORY, .implied = true, .attr = attr & 0xffffff,
	};
	uint32_t id;

	set_mtime(&inode, d->mtime, d->mtime_ns);
	id = attr == NO_ID ? (uint32_t)NO_ID : add_inode(b, &inode);
	return id == NO_ID || inodes_add_side(b, id) < 0 ? (uint32_t)NO_ID : id;
}

static const struct entry_xattr *store_inode_xattrs(struct builder *b,
						    const struct entry *entry)
{
	struct entry_xattr *copies;

	copies = arena_alloc(&b->arena, entry->xattr_count * sizeof(*copies));
	for (size_t i = 0; copies && i < entry->xattr_count; i++) {
		const struct entry_xattr *from = &entry->xattrs[i];

		copies[i].name = arena_copy(&b->arena, from->name, strlen(from->name));
		copies[i].value = arena_copy(&b->arena, from->value, from->size);
		copies[i].size = from->size;
		if (!copies[i].name || !copies[i].value)
			return NULL;
	}
	return copies;
}

/* Raw volumes are equal if their windows are, in any log. */
static bool same_volume(const struct built_volume *have, const struct built_volume *want)
{
	if (have->is.kind != want->is.kind)
		return false;
	if (want->is.kind != VOLUME_RAW)
		return have->log == want->log && have->shard == want->shard &&
		       have->number == want->number;
	return have->is.source == want->is.source && have->is.base == want->is.base &&
	       have->is.length == want->is.length && have->is.guard == want->is.guard &&
	       have->is.snapshot.transaction == want->is.snapshot.transaction;
}

/*
 * A volume as it will be in the index. The length of a stream may have been unknown when
 * the log got a volume on it.
 */
static int describe_volume(struct builder *b, const struct entries *log, uint32_t number,
			   struct built_volume *out)
{
	uint32_t stream;

	*out = (struct built_volume){ *entries_volume(log, number), log, b->shard, number };
	stream = out->is.source & ~VOLUME_ON_STREAM;
	if (out->is.source & VOLUME_ON_STREAM && out->is.kind == VOLUME_RAW &&
	    stream < b->stream_count && out->is.base <= b->streams[stream].length)
		out->is.length = b->streams[stream].length - out->is.base;
	return builder_locate_source(b, &out->is.source);
}

static int store_literals(struct builder *b, const void *bytes, size_t size, uint64_t *at)
{
	*at = b->literals.count;
	if (vec_reserve(&b->literals, size) < 0)
		return -ENOMEM;
	memcpy(b->literals.items + b->literals.count, bytes, size);
	b->literals.count += size;
	return 0;
}

static int store_array(struct builder *b, const struct entries *log, uint32_t number,
		       struct volume_desc *desc)
{
	struct volume_array array = *entries_array(log, number);

	desc->base = b->arrays.count;
	if (array.filled && store_literals(b, entries_literals(log, number), array.item,
					   &array.fill) < 0)
		return -ENOMEM;
	return vec_push(&b->arrays, array);
}

/* Copies chunks, tiles and literals from the log, which is freed before the builder. */
static int store_contents(struct builder *b, const struct entries *log, uint32_t number,
			  struct volume_desc *desc)
{
	if (desc->kind == VOLUME_CODED || desc->kind == VOLUME_ARRAY) {
		desc->first_chunk = b->chunks.count;
		if (vec_reserve(&b->chunks, desc->chunk_count) < 0)
			return -ENOMEM;
		memcpy(b->chunks.items + b->chunks.count, entries_chunks(log, number),
		       desc->chunk_count * sizeof(*b->chunks.items));
		b->chunks.count += desc->chunk_count;
	}
	if (desc->kind == VOLUME_LITERAL)
		return store_literals(b, entries_literals(log, number), desc->length,
				      &desc->base);
	if (desc->kind == VOLUME_ARRAY)
		return store_array(b, log, number, desc);
	return 0;
}

/* The builder's number for a volume of a log. */
static uint32_t map_volume(struct builder *b, const struct entries *log, uint32_t number)
{
	struct built_volume added;

	if (describe_volume(b, log, number, &added) < 0)
		return NO_ID;
	for (size_t i = b->volumes.count; i-- > 0;) {
		if (same_volume(&b->volumes.items[i], &added))
			return (uint32_t)i;
	}
	if (b->volumes.count >= LAYOUT_VOLUME_LIMIT ||
	    store_contents(b, log, number, &added.is) < 0 ||
	    vec_push(&b->volumes, added) < 0)
		return NO_ID;
	return (uint32_t)b->volumes.count - 1;
}

static bool extents_make_sense(const struct entries *log, const struct entry *entry)
{
	uint64_t end = 0;

	for (size_t i = 0; i < entry->extent_count; i++) {
		const struct entry_extent *x = &entry->extents[i];

		if (x->file_offset < end || x->length == 0 ||
		    !range_within(x->file_offset, x->length, entry->size) ||
		    x->offset >= VOLUME_OFFSET_LIMIT ||
		    x->volume >= entries_volume_count(log) ||
		    !range_within(x->offset, x->length,
				  entries_volume(log, x->volume)->length))
			return false;
		end = x->file_offset + x->length;
	}
	return entry->size < LAYOUT_SIZE_LIMIT;
}

/* Fits the contents into the node, without a list of extents? */
static bool in_one_piece(const struct entry *entry)
{
	return entry->size == 0 || (entry->extent_count == 1 &&
				    entry->extents[0].length == entry->size);
}

static int store_extent(struct builder *b, const struct entries *log,
			const struct entry *entry, struct inode *inode)
{
	uint32_t volume;

	if (entry->size == 0)
		return 0;
	volume = map_volume(b, log, entry->extents[0].volume);
	inode->where = (uint64_t)volume << 40 | entry->extents[0].offset;
	return volume == NO_ID ? -ENOMEM : 0;
}

static int store_extents(struct builder *b, const struct entries *log,
			 const struct entry *entry, struct inode_side *side)
{
	size_t n = entry->extent_count;
	struct entry_extent *copies;

	side->extent_count = (uint32_t)n;
	copies = arena_alloc(&b->arena, n * sizeof(*copies));
	if (!copies)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copies[i] = entry->extents[i];
		copies[i].volume = map_volume(b, log, copies[i].volume);
		if (copies[i].volume == NO_ID)
			return -ENOMEM;
	}
	side->extents = copies;
	return 0;
}

/* Stores the attributes that do not fit into an inode. */
static int store_side(struct builder *b, const struct entries *log,
		      const struct entry *entry, uint32_t number)
{
	struct inode *inode = &b->inodes.items[number];
	struct inode_side *side;
	int err = inodes_add_side(b, number);

	if (err)
		return err;
	side = side_of(b, inode);
	if (inode->many)
		err = store_extents(b, log, entry, side);
	if (inode->kind == TREE_SYMLINK) {
		side->target = arena_copy(&b->arena, entry->target, inode->size);
		err = side->target ? 0 : -ENOMEM;
	}
	if (entry->xattr_count) {
		side->xattr_count = (uint32_t)entry->xattr_count;
		side->xattrs = store_inode_xattrs(b, entry);
		err = side->xattrs ? err : -ENOMEM;
	}
	return err;
}

int inodes_add(struct builder *b, const struct entries *log,
	       const struct entry *entry, enum tree_kind kind, uint32_t mode,
	       uint32_t *out, struct error *e)
{
	uint32_t attr = names_attr(b, &(struct layout_attr){ mode & 0777, entry->uid,
							     entry->gid });
	struct inode inode = { .kind = kind, .attr = attr & 0xffffff };
	int err = attr == NO_ID ? -ENOMEM : 0;

	set_mtime(&inode, entry->mtime, entry->mtime_ns % 1000000000U);
	if (kind == TREE_FILE) {
		if (!extents_make_sense(log, entry))
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "%s: %s: its pieces do not fit its size of %llu bytes",
					 b->labels.items[b->shard], entry->path,
					 (unsigned long long)entry->size);
		inode.size = entry->size & (LAYOUT_SIZE_LIMIT - 1);
		inode.many = !in_one_piece(entry);
		if (!err && !inode.many)
			err = store_extent(b, log, entry, &inode);
	} else if (kind == TREE_SYMLINK) {
		inode.size = strlen(entry->target) & (LAYOUT_SIZE_LIMIT - 1);
	}
	*out = err ? (uint32_t)NO_ID : add_inode(b, &inode);
	if (*out == NO_ID)
		return builder_no_memory(e);
	if (kind == TREE_FILE && !inode.many && !entry->xattr_count)
		return 0;
	return store_side(b, log, entry, *out) < 0 ? builder_no_memory(e) : 0;
}

bool builder_has_directories(const struct builder *b)
{
	for (size_t i = 1; i < b->names.count; i++) {
		const struct builder_name *name = &b->names.items[i];

		if (!name->dead && b->inodes.items[name->inode].kind == TREE_DIRECTORY)
			return true;
	}
	return false;
}
