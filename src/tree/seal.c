/*
 * seal.c: lays a finished tree out: nodes breadth first, the children of a
 * directory together and sorted, so that looking up is a binary search and a
 * node's number is its place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree/builder.h"
#include "util/cleanup.h"

struct seal {
	struct builder *b;
	struct image *image;
	struct index_summary summary;
	uint32_t *children;    /* names, grouped by parent */
	uint64_t *child_ends;  /* by name: where its group ends in `children` */
	uint32_t *order;       /* by node: its name */
	uint32_t count;        /* nodes */
};

static int by_text(const void *left, const void *right, void *builder)
{
	const struct builder *b = builder;
	const struct name *x = &b->names.items[*(const uint32_t *)left];
	const struct name *y = &b->names.items[*(const uint32_t *)right];
	size_t shorter = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->text, y->text, shorter);

	return order ? order : (int)x->length - (int)y->length;
}

static uint64_t group_start(const struct seal *s, uint32_t parent)
{
	return parent ? s->child_ends[parent - 1] : 0;
}

/* A counting sort by parent, then each group by name. */
static int group_children(struct seal *s)
{
	const struct builder *b = s->b;
	size_t n = b->names.count;
	uint64_t end = 0;

	s->children = calloc(n, sizeof(*s->children));
	s->child_ends = calloc(n, sizeof(*s->child_ends));
	s->order = calloc(n, sizeof(*s->order));
	if (!s->children || !s->child_ends || !s->order)
		return -ENOMEM;
	for (size_t i = 1; i < n; i++) {
		if (!b->names.items[i].dead)
			s->child_ends[b->names.items[i].parent]++;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t size = s->child_ends[i];

		s->child_ends[i] = end; /* for now: where the group begins */
		end += size;
	}
	for (size_t i = 1; i < n; i++) {
		const struct name *name = &b->names.items[i];

		if (!name->dead)
			s->children[s->child_ends[name->parent]++] = (uint32_t)i;
	}
	for (uint32_t i = 0; i < n; i++)
		qsort_r(s->children + group_start(s, i),
			s->child_ends[i] - group_start(s, i),
			sizeof(*s->children), by_text, s->b);
	return 0;
}

/* What was replaced together with its directory is not reached, and so gone. */
static void order_nodes(struct seal *s)
{
	struct builder *b = s->b;

	for (size_t i = 0; i < b->inodes.count; i++) {
		b->inodes.items[i].node = NO_ID;
		b->inodes.items[i].names = 0;
	}
	s->order[0] = 0;
	s->count = 1;
	for (uint32_t node = 0; node < s->count; node++) {
		uint32_t name = s->order[node];
		struct inode *inode = inode_of(b, name);

		if (inode->names++ == 0)
			inode->node = node;
		if (inode->kind != TREE_DIRECTORY)
			continue;
		for (uint64_t i = group_start(s, name); i < s->child_ends[name]; i++)
			s->order[s->count++] = s->children[i];
	}
}

static int64_t append_bytes(struct seal *s, const void *bytes, size_t size)
{
	return image_append(s->image, SECTION_BYTES, bytes, size);
}

static int seal_extents(struct seal *s, const struct inode *inode, uint64_t *where)
{
	uint64_t first = s->image->sections[SECTION_EXTENTS].count /
			 sizeof(struct layout_extent);
	uint64_t stored = 0;

	if (first + inode->extent_count > UINT32_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < inode->extent_count; i++) {
		const struct entry_extent *x = &inode->extents[i];
		struct layout_extent out = { x->file_offset, x->offset, x->length,
					     stored += x->length, x->volume, 0 };

		if (image_append(s->image, SECTION_EXTENTS, &out, sizeof(out)) < 0)
			return -ENOMEM;
	}
	*where = first | (uint64_t)inode->extent_count << 32;
	return 0;
}

static int seal_xattrs(struct seal *s, const struct inode *inode)
{
	struct layout_xattr_node owner = {
		.node = inode->node, .count = inode->xattr_count,
		.first = (uint32_t)(s->image->sections[SECTION_XATTRS].count /
				    sizeof(struct layout_xattr)),
	};

	for (uint32_t i = 0; i < inode->xattr_count; i++) {
		const struct entry_xattr *x = &inode->xattrs[i];
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

/* What `where` holds, by kind: see layout.h. A directory's is known already. */
static int seal_where(struct seal *s, const struct inode *inode, uint64_t *where)
{
	int64_t at;

	if (inode->kind == TREE_SYMLINK) {
		at = append_bytes(s, inode->target, inode->size + 1);
		*where = (uint64_t)at;
		return at < 0 ? -ENOMEM : 0;
	}
	if (inode->kind == TREE_FILE && inode->many)
		return seal_extents(s, inode, where);
	if (inode->kind == TREE_FILE && inode->size)
		*where = (uint64_t)inode->volume << 40 | inode->offset;
	return 0;
}

static int seal_sides(struct seal *s, const struct inode *inode, uint32_t *flags)
{
	struct layout_link link = { inode->node, inode->names };

	if (inode->kind == TREE_FILE && inode->many)
		*flags |= NODE_MANY;
	if (inode->names > 1) {
		*flags |= NODE_LINKS;
		if (image_append(s->image, SECTION_LINKS, &link, sizeof(link)) < 0)
			return -ENOMEM;
	}
	if (inode->xattr_count) {
		*flags |= NODE_XATTRS;
		return seal_xattrs(s, inode);
	}
	return 0;
}

static void count_inode(struct index_summary *summary, const struct inode *inode)
{
	if (inode->kind == TREE_DIRECTORY)
		summary->directories++;
	else if (inode->kind == TREE_SYMLINK)
		summary->symlinks++;
	else
		summary->files++;
	summary->links += inode->names - 1;
	if (inode->kind == TREE_FILE)
		summary->bytes += inode->size;
}

static int64_t clamp_mtime(int64_t mtime)
{
	if (mtime >= LAYOUT_MTIME_LIMIT)
		return LAYOUT_MTIME_LIMIT - 1;
	return mtime < -LAYOUT_MTIME_LIMIT ? -LAYOUT_MTIME_LIMIT : mtime;
}

static void put_numbers(struct layout_node *node, uint64_t where, uint64_t size,
			uint64_t name, int64_t mtime)
{
	node->where_low = (uint32_t)where;
	node->where_high = (uint32_t)(where >> 32);
	node->size_low = (uint32_t)size;
	node->size_high = (uint16_t)(size >> 32);
	node->name_low = (uint32_t)name;
	node->name_high = (uint8_t)(name >> 32);
	node->mtime_low = (uint32_t)(uint64_t)mtime;
	node->mtime_high = (int8_t)(mtime >> 32);
}

static int64_t seal_name(struct seal *s, const struct name *name)
{
	int64_t at = image_append(s->image, SECTION_NAMES, &name->length, 1);

	if (at < 0 || image_append(s->image, SECTION_NAMES, name->text, name->length) < 0)
		return -ENOMEM;
	return at < (int64_t)LAYOUT_NAMES_LIMIT ? at : -E2BIG;
}

/* The number of a directory's first child, and of its subdirectories. */
struct family {
	uint32_t first, count, directories;
};

static int seal_node(struct seal *s, uint32_t node, const struct family *family,
		     uint32_t parent)
{
	const struct name *name = &s->b->names.items[s->order[node]];
	const struct inode *inode = inode_of(s->b, s->order[node]);
	struct layout_node out = { .parent = parent };
	uint32_t flags = 0, kind = inode->kind;
	int64_t text = seal_name(s, name);
	uint64_t where = 0, size = inode->size;
	int err = text < 0 ? (int)text : 0;

	if (inode->node != node) {
		kind = TREE_ALIAS;
		where = inode->node;
		size = 0;
	} else if (kind == TREE_DIRECTORY) {
		where = family->first | (uint64_t)family->count << 32;
		size = family->directories;
	}
	if (kind != TREE_ALIAS && !err) {
		count_inode(&s->summary, inode);
		err = seal_where(s, inode, &where);
		if (!err)
			err = seal_sides(s, inode, &flags);
	}
	if (err)
		return err;
	put_numbers(&out, where, size, (uint64_t)text, clamp_mtime(inode->mtime));
	out.kind_nsec = kind << 30 | inode->mtime_ns;
	out.flags_attr = flags << 24 | inode->attr;
	return image_append(s->image, SECTION_NODES, &out, sizeof(out)) < 0 ? -ENOMEM : 0;
}

static struct family family_of(const struct seal *s, uint32_t name, uint32_t first)
{
	struct family family = { .first = first };

	for (uint64_t i = group_start(s, name); i < s->child_ends[name]; i++) {
		family.count++;
		if (inode_of(s->b, s->children[i])->kind == TREE_DIRECTORY)
			family.directories++;
	}
	return family;
}

/* Children follow in the order in which their directories come. */
static int seal_nodes(struct seal *s)
{
	CLEANUP(cleanup_free) uint32_t *parents = calloc(s->count, sizeof(*parents));
	uint32_t next_child = 1;

	if (!parents)
		return -ENOMEM;
	for (uint32_t node = 0; node < s->count; node++) {
		uint32_t name = s->order[node];
		struct family family = { 0 };
		int err;

		if (inode_of(s->b, name)->kind == TREE_DIRECTORY) {
			family = family_of(s, name, next_child);
			for (uint32_t i = 0; i < family.count; i++)
				parents[next_child++] = node;
		}
		err = seal_node(s, node, &family, parents[node]);
		if (err)
			return err;
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

		memcpy(out.codecs, v->codecs, sizeof(out.codecs));
		if (image_append(s->image, SECTION_VOLUMES, &out, sizeof(out)) < 0)
			return -ENOMEM;
	}
	if (image_append(s->image, SECTION_ATTRS, b->attrs.items,
			 b->attrs.count * sizeof(struct layout_attr)) < 0 ||
	    image_append(s->image, SECTION_CHUNKS, b->chunks.items,
			 b->chunks.count * sizeof(struct volume_chunk)) < 0 ||
	    image_append(s->image, SECTION_LITERALS, b->literals.items,
			 b->literals.count) < 0)
		return -ENOMEM;
	return image_append(s->image, SECTION_SUMMARY, &s->summary,
			    sizeof(s->summary)) < 0 ? -ENOMEM : 0;
}

int builder_seal(struct builder *b, const struct builder_source *sources,
		 uint32_t source_count, const struct index_summary *summary,
		 struct image *image, struct error *e)
{
	struct seal s = { .b = b, .image = image, .summary = *summary };
	int err;

	builder_settle_links(b);
	s.summary.left_out += b->left_out;
	*image = (struct image){ 0 };
	err = group_children(&s);
	if (!err) {
		order_nodes(&s);
		err = seal_nodes(&s);
	}
	if (!err)
		err = seal_tables(&s, sources, source_count);
	free(s.children);
	free(s.child_ends);
	free(s.order);
	if (!err)
		return 0;
	image_free(image);
	return err == -ENOMEM ? builder_no_memory(e) :
	       error_set(e, ERROR_SYSTEM, -err, "the tree is too large for an index: %s",
			 strerror(-err));
}
