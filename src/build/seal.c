/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * seal.c: lays a finished tree out: nodes breadth first, the children of a directory
 * adjacent and sorted. So a look-up is a binary search and a node's number is its
 * position.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "build/builder.h"

struct seal {
	struct builder *b;
	struct image *image;
	struct index_summary summary;
	uint32_t *children;   /* names, grouped by directory */
	VEC(uint32_t) queue;  /* names of directories, in the order of their nodes */
};

static int seal_by_text(const void *left, const void *right, void *builder)
{
	const struct builder *b = builder;
	const struct builder_name *x = &b->names.items[*(const uint32_t *)left];
	const struct builder_name *y = &b->names.items[*(const uint32_t *)right];
	size_t shorter = x->length < y->length ? x->length : y->length;
	int order = memcmp(text_of(b, x), text_of(b, y), shorter);

	return order ? order : (int)x->length - (int)y->length;
}

/* Most archives are sorted. */
static bool is_sorted(const struct seal *s, const struct inode_side *family)
{
	for (uint32_t i = 1; i < family->count; i++) {
		const uint32_t *at = s->children + family->first + i;

		if (seal_by_text(at - 1, at, s->b) > 0)
			return false;
	}
	return true;
}

/* The directory of a name, or NULL if it was replaced: the name is unreachable. */
static struct inode_side *seal_family_of(const struct builder *b,
					 const struct builder_name *name)
{
	const struct inode *parent = inode_of(b, name->parent);

	return parent->kind == TREE_DIRECTORY ? side_of(b, parent) : NULL;
}

/* Counts the names of each directory, and places them in `children`. */
static void measure_families(struct seal *s)
{
	const struct builder *b = s->b;
	uint32_t first = 0;

	for (size_t i = 1; i < b->names.count; i++) {
		const struct builder_name *name = &b->names.items[i];
		struct inode_side *family = name->dead ? NULL : seal_family_of(b, name);

		if (family)
			family->count++;
	}
	for (size_t i = 0; i < b->sides.count; i++) {
		b->sides.items[i].first = first;
		first += b->sides.items[i].count;
		b->sides.items[i].count = 0; /* counted again as names are placed */
	}
}

/* Counting sort by directory, then each group by name. */
static int group_children(struct seal *s)
{
	const struct builder *b = s->b;

	s->children = malloc(b->names.count * sizeof(*s->children));
	if (!s->children)
		return -ENOMEM;
	measure_families(s);
	for (size_t i = 1; i < b->names.count; i++) {
		const struct builder_name *name = &b->names.items[i];
		struct inode_side *family = name->dead ? NULL : seal_family_of(b, name);

		if (!family)
			continue;
		s->children[family->first + family->count++] = (uint32_t)i;
		if (inode_of(b, (uint32_t)i)->kind == TREE_DIRECTORY)
			family->directories++;
	}
	for (size_t i = 0; i < b->sides.count; i++) {
		struct inode_side *family = &b->sides.items[i];

		if (!is_sorted(s, family))
			qsort_r(s->children + family->first, family->count,
				sizeof(*s->children), seal_by_text, s->b);
	}
	return 0;
}

/* Lists the reachable directories; names below a replaced one are gone. */
static int order_directories(struct seal *s)
{
	const struct builder *b = s->b;

	if (vec_push(&s->queue, 0) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < s->queue.count; i++) {
		const struct inode_side *family = side_of(b, inode_of(b, s->queue.items[i]));

		if (!family->directories && !b->linked)
			continue;
		for (uint32_t k = 0; k < family->count; k++) {
			uint32_t name = s->children[family->first + k];
			const struct inode *inode = inode_of(b, name);

			if (inode->sided)
				side_of(b, inode)->names++;
			if (inode->kind == TREE_DIRECTORY && vec_push(&s->queue, name) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int64_t append_bytes(struct seal *s, const void *bytes, size_t size)
{
	return image_append(s->image, SECTION_BYTES, bytes, size);
}

static int seal_extents(struct seal *s, const struct inode_side *side, uint64_t *where)
{
	uint64_t first = s->image->sections[SECTION_EXTENTS].count /
			 sizeof(struct layout_extent);
	uint64_t stored = 0;

	if (first + side->extent_count > UINT32_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < side->extent_count; i++) {
		const struct entry_extent *x = &side->extents[i];
		struct layout_extent out = { x->file_offset, x->offset, x->length,
					     stored += x->length, x->volume, 0 };

		if (image_append(s->image, SECTION_EXTENTS, &out, sizeof(out)) < 0)
			return -ENOMEM;
	}
	*where = first | (uint64_t)side->extent_count << 32;
	return 0;
}

static int seal_xattrs(struct seal *s, const struct inode_side *side)
{
	struct layout_xattr_node owner = {
		.node = side->node, .count = side->xattr_count,
		.first = (uint32_t)(s->image->sections[SECTION_XATTRS].count /
				    sizeof(struct layout_xattr)),
	};

	for (uint32_t i = 0; i < side->xattr_count; i++) {
		const struct entry_xattr *x = &side->xattrs[i];
		struct layout_xattr out = { .name_length = (uint32_t)strlen(x->name),
					    .value_length = (uint32_t)x->size };
		int64_t at = append_bytes(s, x->name, out.name_length);

		if (at < 0 || append_bytes(s, x->value, x->size) < 0)
			return -ENOMEM;
		out.at = (uint64_t)at;
		if (image_append(s->image, SECTION_XATTRS, &out, sizeof(out)) < 0)
			return -ENOMEM;
	}
	return image_append(s->image, SECTION_XATTR_NODES, &owner, sizeof(owner)) < 0 ?
		       -ENOMEM : 0;
}

/* The field `where` of a node, by kind: see layout.h. A directory's is set before. */
static int seal_location(struct seal *s, const struct inode *inode, uint64_t *where)
{
	const struct inode_side *side = inode->sided ? side_of(s->b, inode) : NULL;
	int64_t at;

	if (inode->kind == TREE_SYMLINK) {
		at = append_bytes(s, side->target, inode->size + 1);
		*where = (uint64_t)at;
		return at < 0 ? -ENOMEM : 0;
	}
	if (inode->kind == TREE_FILE && inode->many)
		return seal_extents(s, side, where);
	if (inode->kind == TREE_FILE && inode->size)
		*where = side ? side->where : inode->where;
	return 0;
}

static int seal_sides(struct seal *s, const struct inode *inode, uint32_t *flags)
{
	const struct inode_side *side = side_of(s->b, inode);
	struct layout_link link = { side->node, side->names };

	if (inode->kind == TREE_FILE && inode->many)
		*flags |= NODE_MANY;
	if (link.links > 1) {
		*flags |= NODE_LINKS;
		if (image_append(s->image, SECTION_LINKS, &link, sizeof(link)) < 0)
			return -ENOMEM;
	}
	if (side->xattr_count) {
		*flags |= NODE_XATTRS;
		return seal_xattrs(s, side);
	}
	return 0;
}

static void count_inode(struct seal *s, const struct inode *inode)
{
	struct index_summary *summary = &s->summary;

	if (inode->kind == TREE_DIRECTORY)
		summary->directories++;
	else if (inode->kind == TREE_SYMLINK)
		summary->symlinks++;
	else
		summary->files++;
	if (inode->sided && side_of(s->b, inode)->names > 1)
		summary->links += side_of(s->b, inode)->names - 1;
	if (inode->kind == TREE_FILE)
		summary->bytes += inode->size;
}

static void put_numbers(struct layout_node *node, uint64_t where, uint64_t size)
{
	node->where_low = (uint32_t)where;
	node->where_high = (uint32_t)(where >> 32);
	node->size_low = (uint32_t)size;
	node->size_high = (uint16_t)(size >> 32);
}

/* Counts a new node, and seals its contents and attributes. */
static int seal_inode(struct seal *s, const struct inode *inode, uint64_t *where,
		      uint32_t *flags)
{
	int err = seal_location(s, inode, where);

	count_inode(s, inode);
	return err || !inode->sided ? err : seal_sides(s, inode, flags);
}

/*
 * Appends one node. `next`: the first node number not yet given to the children of a
 * directory; directories get them in order.
 */
static int seal_node(struct seal *s, uint32_t name_id, uint32_t node, uint32_t parent,
		     uint32_t *next)
{
	const struct builder_name *name = &s->b->names.items[name_id];
	const struct inode *inode = inode_of(s->b, name_id);
	struct inode_side *side = inode->sided ? side_of(s->b, inode) : NULL;
	struct layout_node out = {
		.parent = parent, .name_low = name->text_low, .name_high = name->text_high,
		.mtime_low = inode->mtime_low, .mtime_high = inode->mtime_high,
	};
	uint64_t where = 0, size = inode->size;
	uint32_t flags = 0, kind = inode->kind;
	int err = 0;

	if (side && side->node != NO_ID) {
		kind = TREE_ALIAS;
		where = side->node;
		size = 0;
	} else {
		if (side)
			side->node = node;
		if (side && kind == TREE_DIRECTORY) {
			where = *next | (uint64_t)side->count << 32;
			size = side->directories;
			*next += side->count;
		}
		err = seal_inode(s, inode, &where, &flags);
	}
	put_numbers(&out, where, size);
	out.kind_nsec = kind << 30 | inode->mtime_ns;
	out.flags_attr = flags << 24 | inode->attr;
	if (err)
		return err;
	return image_append(s->image, SECTION_NODES, &out, sizeof(out)) < 0 ? -ENOMEM : 0;
}

static int seal_nodes(struct seal *s)
{
	const struct builder *b = s->b;
	uint32_t next = 1, node = 1;
	int err = seal_node(s, 0, 0, 0, &next);

	for (size_t i = 0; i < s->queue.count && !err; i++) {
		const struct inode_side *family = side_of(b, inode_of(b, s->queue.items[i]));

		for (uint32_t k = 0; k < family->count && !err; k++)
			err = seal_node(s, s->children[family->first + k], node++,
					family->node, &next);
	}
	return err;
}

/* Frees names and inodes, which are all sealed. */
static void drop_numbers(struct seal *s)
{
	vec_free(&s->b->names);
	vec_free(&s->b->inodes);
	vec_free(&s->b->sides);
	vec_free(&s->queue);
	free(s->children);
	s->children = NULL;
}

/* Copies the names in the order of the nodes: those of a directory are adjacent. */
static int seal_names(struct seal *s)
{
	struct layout_node *nodes = (void *)s->image->sections[SECTION_NODES].items;
	size_t count = s->image->sections[SECTION_NODES].count / sizeof(*nodes);

	drop_numbers(s);
	for (size_t i = 0; i < count; i++) {
		uint64_t from = (uint64_t)nodes[i].name_high << 32 | nodes[i].name_low;
		const uint8_t *text = s->b->texts.items + from;
		int64_t at = image_append(s->image, SECTION_NAMES, text, *text + 1U);

		if (at < 0)
			return -ENOMEM;
		nodes[i].name_low = (uint32_t)at;
		nodes[i].name_high = (uint8_t)(at >> 32);
	}
	return 0;
}

/* All or none; none if no source has fields that version 0.1 lacks. */
static int seal_identities(struct seal *s, const struct builder_source *sources,
			   uint32_t source_count)
{
	bool known = false;

	for (uint32_t i = 0; i < source_count; i++)
		known |= sources[i].identity.number || sources[i].identity.samples;
	for (uint32_t i = 0; i < source_count && known; i++) {
		if (image_add_identity(s->image, &sources[i].identity) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int seal_tables(struct seal *s, const struct builder_source *sources,
		       uint32_t source_count)
{
	const struct builder *b = s->b;

	for (uint32_t i = 0; i < source_count; i++) {
		const struct identity *id = &sources[i].identity;
		struct layout_source out = {
			.size = id->size, .mtime_ns = id->mtime_ns, .digest = id->digest,
			.name_length = (uint32_t)strlen(sources[i].name),
		};
		int64_t at = append_bytes(s, sources[i].name, out.name_length + 1);

		out.name = (uint64_t)at;
		if (at < 0 || image_append(s->image, SECTION_SOURCES, &out, sizeof(out)) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < b->volumes.count; i++) {
		const struct volume_desc *v = &b->volumes.items[i].is;
		struct layout_volume out = {
			.kind = v->kind, .source = v->source, .base = v->base,
			.length = v->length, .first_chunk = v->first_chunk,
			.chunk_count = v->chunk_count, .guard = v->guard,
		};

		if (v->guard == GUARD_LMDB)
			memcpy(out.codecs, &v->snapshot, sizeof(v->snapshot));
		else
			memcpy(out.codecs, v->codecs, sizeof(out.codecs));
		if (image_append(s->image, SECTION_VOLUMES, &out, sizeof(out)) < 0)
			return -ENOMEM;
	}
	if (image_append(s->image, SECTION_ATTRS, b->attrs.items,
			 b->attrs.count * sizeof(struct layout_attr)) < 0 ||
	    image_append(s->image, SECTION_CHUNKS, b->chunks.items,
			 b->chunks.count * sizeof(struct volume_chunk)) < 0 ||
	    image_append(s->image, SECTION_ARRAYS, b->arrays.items,
			 b->arrays.count * sizeof(struct volume_array)) < 0 ||
	    image_append(s->image, SECTION_LITERALS, b->literals.items,
			 b->literals.count) < 0 ||
	    image_append(s->image, SECTION_POINTS, b->points.items,
			 b->points.count * sizeof(struct volume_point)) < 0 ||
	    image_append(s->image, SECTION_WINDOWS, b->windows.items, b->windows.count) < 0)
		return -ENOMEM;
	return image_append(s->image, SECTION_SUMMARY, &s->summary,
			    sizeof(s->summary)) < 0 ? -ENOMEM : 0;
}

int builder_seal(struct builder *b, const struct builder_source *sources,
		 uint32_t source_count, const struct index_summary *summary,
		 struct image *image, struct error *e)
{
	struct seal s = { .b = b, .image = image, .summary = *summary };
	int err = builder_retarget_links(b);

	if (!err)
		err = builder_settle_links(b);
	idmap_free(&b->name_ids); /* no further look-ups */
	s.summary.left_out += b->left_out;
	*image = (struct image){ 0 };
	if (!err)
		err = group_children(&s);
	if (!err)
		err = order_directories(&s);
	if (!err)
		err = seal_nodes(&s);
	if (!err)
		err = seal_tables(&s, sources, source_count);
	if (!err)
		err = seal_identities(&s, sources, source_count);
	if (!err)
		err = seal_names(&s);
	free(s.children);
	vec_free(&s.queue);
	if (!err)
		return 0;
	image_free(image);
	return err == -ENOMEM ? builder_no_memory(e) :
	       error_set(e, ERROR_SYSTEM, -err, "the tree is too large for an index: %s",
			 strerror(-err));
}
