/* inodes.c: what an entry says of a file, kept until the tree is sealed. */
#include <errno.h>
#include <string.h>

#include "tree/builder.h"
#include "util/checked.h"

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

uint32_t inodes_add_implied(struct builder *b)
{
	const struct builder_defaults *d = &b->defaults;
	struct inode inode = {
		.kind = TREE_DIRECTORY, .implied = true, .shard = b->shard,
		.mtime = d->mtime, .mtime_ns = d->mtime_ns,
		.attr = names_attr(b, &(struct layout_attr){ d->mode, d->uid, d->gid }),
	};

	return inode.attr == NO_ID ? (uint32_t)NO_ID : add_inode(b, &inode);
}

static const struct entry_xattr *keep_xattrs(struct builder *b, const struct entry *entry)
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

/* Windows over sources are the same volume in whichever log they are. */
static bool same_volume(const struct builder *b, const struct built_volume *have,
			const struct entries *log, uint32_t number)
{
	const struct volume_desc *want = entries_volume(log, number);

	if (have->is.kind != want->kind)
		return false;
	if (want->kind != VOLUME_RAW)
		return have->log == log && have->shard == b->shard &&
		       have->number == number;
	return have->is.source == want->source && have->is.base == want->base &&
	       have->is.length == want->length && have->is.guard == want->guard;
}

/* What only this log holds has to outlive it. */
static int keep_contents(struct builder *b, const struct entries *log, uint32_t number,
			 struct volume_desc *desc)
{
	if (desc->kind == VOLUME_CODED) {
		desc->first_chunk = b->chunks.count;
		if (vec_reserve(&b->chunks, desc->chunk_count) < 0)
			return -ENOMEM;
		memcpy(b->chunks.items + b->chunks.count, entries_chunks(log, number),
		       desc->chunk_count * sizeof(*b->chunks.items));
		b->chunks.count += desc->chunk_count;
	}
	if (desc->kind == VOLUME_LITERAL) {
		desc->base = b->literals.count;
		if (vec_reserve(&b->literals, desc->length) < 0)
			return -ENOMEM;
		memcpy(b->literals.items + b->literals.count,
		       entries_literals(log, number), desc->length);
		b->literals.count += desc->length;
	}
	return 0;
}

/* The builder's number for a volume of a log. */
static uint32_t map_volume(struct builder *b, const struct entries *log, uint32_t number)
{
	struct built_volume added = { *entries_volume(log, number), log, b->shard, number };

	for (size_t i = b->volumes.count; i-- > 0;) {
		if (same_volume(b, &b->volumes.items[i], log, number))
			return (uint32_t)i;
	}
	if (b->volumes.count >= LAYOUT_VOLUME_LIMIT ||
	    keep_contents(b, log, number, &added.is) < 0 ||
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

static int keep_extents(struct builder *b, const struct entries *log,
			const struct entry *entry, struct inode *inode)
{
	size_t n = entry->extent_count;
	struct entry_extent *copies;

	inode->extent_count = (uint32_t)n;
	if (n == 1 && entry->extents[0].length == entry->size) {
		inode->offset = entry->extents[0].offset;
		inode->volume = map_volume(b, log, entry->extents[0].volume);
		return inode->volume == NO_ID ? -ENOMEM : 0;
	}
	inode->many = entry->size > 0;
	copies = arena_alloc(&b->arena, n * sizeof(*copies));
	if (!copies)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copies[i] = entry->extents[i];
		copies[i].volume = map_volume(b, log, copies[i].volume);
		if (copies[i].volume == NO_ID)
			return -ENOMEM;
	}
	inode->extents = copies;
	return 0;
}

int inodes_add(struct builder *b, const struct entries *log,
	       const struct entry *entry, enum tree_kind kind, uint32_t mode,
	       uint32_t *out, struct error *e)
{
	struct inode inode = {
		.kind = (uint8_t)kind, .shard = b->shard,
		.mtime = entry->mtime, .mtime_ns = entry->mtime_ns % 1000000000U,
		.attr = names_attr(b, &(struct layout_attr){ mode & 0777, entry->uid,
							     entry->gid }),
	};
	int err = 0;

	if (kind == TREE_FILE) {
		if (!extents_make_sense(log, entry))
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "%s: %s: its pieces do not fit its size of %llu bytes",
					 b->labels.items[b->shard], entry->path,
					 (unsigned long long)entry->size);
		inode.size = entry->size;
		err = keep_extents(b, log, entry, &inode);
	} else if (kind == TREE_SYMLINK) {
		inode.size = strlen(entry->target);
		inode.target = arena_copy(&b->arena, entry->target, inode.size);
		err = inode.target ? 0 : -ENOMEM;
	}
	if (entry->xattr_count) {
		inode.xattr_count = (uint32_t)entry->xattr_count;
		inode.xattrs = keep_xattrs(b, entry);
	}
	if (err || inode.attr == NO_ID || (inode.xattr_count && !inode.xattrs))
		return builder_no_memory(e);
	*out = add_inode(b, &inode);
	return *out == NO_ID ? builder_no_memory(e) : 0;
}
