/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "index/array_tiles.h"
#include "index/mapped.h"

static int fault(struct error *e, uint32_t node, const char *what)
{
	return error_set(e, ERROR_DATASET, EBADMSG, "its node %u %s", node, what);
}

static int check_children(const struct tree *tree, uint32_t node, uint32_t *next,
			  struct error *e)
{
	struct layout_node n;
	struct tree_name before = { 0 }, name;
	uint32_t count;

	if (mapped_node(tree, node, &n) < 0 || tree_child_count(tree, node, &count) < 0)
		return fault(e, node, "has children that are not there");
	if (count && n.where_low != *next)
		return fault(e, node, "claims the children of another");
	for (uint32_t i = 0; i < count; i++, (*next)++) {
		uint32_t parent;
		int order;

		if (tree_parent(tree, *next, &parent) < 0 || parent != node)
			return fault(e, *next, "names another directory as its own");
		if (tree_child(tree, node, i, &name) < 0)
			return fault(e, *next, "has no proper name");
		order = i ? memcmp(before.name, name.name, before.length < name.length ?
				   before.length : name.length) : -1;
		if (order > 0 || (order == 0 && before.length >= name.length))
			return fault(e, *next, "is out of order");
		before = name;
	}
	return 0;
}

static int check_contents(const struct tree *tree, uint32_t node,
			  const struct tree_stat *st, struct error *e)
{
	uint64_t offset = 0, stored = 0;

	while (offset < st->size) {
		struct tree_piece piece;
		struct layout_volume volume;

		if (tree_piece(tree, node, offset, &piece) < 0 || piece.length == 0)
			return fault(e, node, "has contents that lead nowhere");
		if (!piece.hole &&
		    (mapped_item(tree, SECTION_VOLUMES, piece.volume, &volume,
				 sizeof(volume)) < 0 ||
		     !range_within(piece.offset, piece.length, volume.length)))
			return fault(e, node, "reaches past the end of its volume");
		offset += piece.length;
		stored += piece.hole ? 0 : piece.length;
	}
	if (stored != st->stored)
		return fault(e, node, "has another number of stored bytes than it says");
	return 0;
}

static int check_node(const struct tree *tree, uint32_t node, uint32_t *next_child,
		      struct error *e)
{
	struct tree_stat st;
	char target[TREE_TARGET_BYTES];

	if (tree_stat(tree, node, &st) < 0)
		return fault(e, node, "has attributes that are not there");
	if (st.node != node)
		return 0; /* alias: checked at its own node */
	if (st.kind == TREE_DIRECTORY)
		return check_children(tree, node, next_child, e);
	if (st.kind == TREE_SYMLINK)
		return tree_readlink(tree, node, target) < 0 ?
			       fault(e, node, "is a symbolic link without a target") : 0;
	return check_contents(tree, node, &st, e);
}

/* Compares the number of names of each inode with LINKS. */
static int check_links(const struct tree *tree, const uint32_t *names, struct error *e)
{
	for (uint32_t node = 0; node < tree_count(tree); node++) {
		struct tree_stat st;

		if (tree_stat(tree, node, &st) < 0)
			return fault(e, node, "has attributes that are not there");
		if (st.node == node && st.kind != TREE_DIRECTORY && st.links != names[node])
			return fault(e, node, "has another number of names than it says");
	}
	return 0;
}

static int check_count_names(const struct tree *tree, struct error *e)
{
	CLEANUP(cleanup_free) uint32_t *names = calloc(tree_count(tree), sizeof(*names));
	struct tree_stat st;

	if (!names)
		return error_no_memory(e, NULL);
	for (uint32_t node = 0; node < tree_count(tree); node++) {
		if (tree_stat(tree, node, &st) == 0)
			names[st.node]++;
	}
	return check_links(tree, names, e);
}

static int check_xattrs(const struct tree *tree, struct error *e)
{
	uint64_t count = tree->sections[SECTION_XATTR_NODES].count;
	uint64_t owned = 0;
	uint32_t before = 0;

	for (uint64_t i = 0; i < count; i++) {
		struct layout_xattr_node owner;

		if (mapped_item(tree, SECTION_XATTR_NODES, i, &owner,
				sizeof(owner)) < 0 ||
		    owner.node >= tree_count(tree) || (i && owner.node <= before))
			return fault(e, before, "has extended attributes out of order");
		owned += owner.count; /* no overflow: a file cannot have 2^64 */
		if (owned > tree->sections[SECTION_XATTRS].count)
			return fault(e, owner.node,
				     "shares its extended attributes with another");
		if (owner.count == 0 || tree_listxattr(tree, owner.node, NULL, 0) < 0)
			return fault(e, owner.node,
				     "has extended attributes that are not there");
		before = owner.node;
	}
	return 0;
}

/*
 * The size of what a volume's stored bytes lie in: a source, or a stream with a lower
 * number, so that no two lie on each other. False: there is none.
 */
static bool stored_size(const struct tree *tree, uint64_t number,
			const struct layout_volume *v, uint64_t *out)
{
	struct layout_source source;
	struct layout_volume stream;
	uint32_t below = v->source & ~VOLUME_ON_STREAM;

	if (!(v->source & VOLUME_ON_STREAM)) {
		if (mapped_item(tree, SECTION_SOURCES, v->source, &source, sizeof(source)) < 0)
			return false;
		*out = source.size;
		return true;
	}
	if (below >= number ||
	    mapped_item(tree, SECTION_VOLUMES, below, &stream, sizeof(stream)) < 0 ||
	    stream.kind != VOLUME_STREAM)
		return false;
	*out = stream.length;
	return true;
}

static bool has_chunks(const struct tree *tree, const struct layout_volume *v)
{
	return v->chunk_count && range_within(v->first_chunk, v->chunk_count,
					      tree->sections[SECTION_CHUNKS].count);
}

/* Reads chunk or tile i; false if it exceeds the `size` bytes that it is stored in. */
static bool get_chunk(const struct tree *tree, const struct layout_volume *v, uint64_t i,
		      uint64_t size, struct volume_chunk *out)
{
	return mapped_item(tree, SECTION_CHUNKS, v->first_chunk + i, out,
			   sizeof(*out)) == 0 &&
	       out->stored_length <= VOLUME_CHUNK_LIMIT &&
	       range_within(out->stored_at, out->stored_length, size);
}

/* Chunks must be contiguous from 0. */
static bool chunks_are_sound(const struct tree *tree, const struct layout_volume *v,
			     uint64_t size)
{
	uint64_t start = 0;

	if (!has_chunks(tree, v))
		return false;
	for (uint64_t i = 0; i < v->chunk_count; i++) {
		struct volume_chunk chunk;

		if (!get_chunk(tree, v, i, size, &chunk) ||
		    (i ? chunk.start <= start : chunk.start != 0) ||
		    chunk.start - start > VOLUME_CHUNK_LIMIT || chunk.stored_length == 0)
			return false;
		start = chunk.start;
	}
	return v->length > start && v->length - start <= VOLUME_CHUNK_LIMIT;
}

/* Each chunk of a stream has a point, whose window is in its table. */
static bool points_are_sound(const struct tree *tree, const struct layout_volume *v)
{
	if (!range_within(v->base, v->chunk_count, tree->sections[SECTION_POINTS].count))
		return false;
	for (uint64_t i = 0; i < v->chunk_count; i++) {
		struct volume_point point;

		if (mapped_item(tree, SECTION_POINTS, v->base + i, &point,
				sizeof(point)) < 0 ||
		    (point.bits & 255) > 7 || point.bits >> 8 >> (point.bits & 255) ||
		    point.window_length > VOLUME_WINDOW_LIMIT ||
		    !range_within(point.window, point.window_length,
				  tree->sections[SECTION_WINDOWS].count))
			return false;
	}
	return true;
}

/* Streams that lie on one another, this one included. */
static unsigned stream_depth(const struct tree *tree, const struct layout_volume *v)
{
	struct layout_volume below = *v;
	unsigned depth = 1;

	while (below.source & VOLUME_ON_STREAM && depth <= VOLUME_STREAMS_DEEP &&
	       mapped_item(tree, SECTION_VOLUMES, below.source & ~VOLUME_ON_STREAM, &below,
			   sizeof(below)) == 0)
		depth++;
	return depth;
}

static bool stream_is_sound(const struct tree *tree, const struct layout_volume *v,
			    uint64_t size)
{
	return stream_depth(tree, v) <= VOLUME_STREAMS_DEEP &&
	       chunks_are_sound(tree, v, size) && points_are_sound(tree, v);
}

static bool tiles_are_sound(const struct tree *tree, const struct layout_volume *v,
			    uint64_t size)
{
	if (!has_chunks(tree, v))
		return false;
	for (uint64_t i = 0; i < v->chunk_count; i++) {
		struct volume_chunk tile;

		if (!get_chunk(tree, v, i, size, &tile) || tile.start != 0)
			return false;
	}
	return true;
}

/* Checks an array's numbers, and their number of tiles. */
static bool array_is_sound(const struct tree *tree, const struct layout_volume *v,
			   uint64_t size)
{
	struct array_measure measure;
	struct volume_array array;

	if (mapped_item(tree, SECTION_ARRAYS, v->base, &array, sizeof(array)) < 0 ||
	    array_measure(&array, &measure) < 0 || measure.bytes != v->length ||
	    measure.tiles != v->chunk_count)
		return false;
	if (array.filled && !range_within(array.fill, array.item,
					  tree->sections[SECTION_LITERALS].count))
		return false;
	return tiles_are_sound(tree, v, size);
}

static bool volume_is_sound(const struct tree *tree, uint64_t number,
			    const struct layout_volume *v)
{
	uint64_t size;

	if (v->kind == VOLUME_LITERAL)
		return range_within(v->base, v->length,
				    tree->sections[SECTION_LITERALS].count);
	if (!stored_size(tree, number, v, &size))
		return false;
	switch (v->kind) {
	case VOLUME_RAW:
		return range_within(v->base, v->length, size);
	case VOLUME_CODED:
		return chunks_are_sound(tree, v, size);
	case VOLUME_ARRAY:
		return array_is_sound(tree, v, size);
	case VOLUME_STREAM:
		return stream_is_sound(tree, v, size);
	default:
		return false;
	}
}

static int check_volumes(const struct tree *tree, struct error *e)
{
	uint64_t count = tree->sections[SECTION_VOLUMES].count, chunks = 0;

	for (uint64_t i = 0; i < count; i++) {
		struct layout_volume v;

		if (mapped_item(tree, SECTION_VOLUMES, i, &v, sizeof(v)) < 0 ||
		    /* each chunk belongs to one volume, which bounds this loop */
		    !checked_add(chunks, v.chunk_count, &chunks) ||
		    chunks > tree->sections[SECTION_CHUNKS].count ||
		    !volume_is_sound(tree, i, &v))
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "its volume %llu is not right",
					 (unsigned long long)i);
	}
	return 0;
}

static int check_nodes(const struct tree *tree, struct error *e)
{
	uint32_t next_child = 1, count = tree_count(tree);
	uint64_t pieces = 0;

	for (uint32_t node = 0; node < count; node++) {
		struct layout_node n;
		int err = check_node(tree, node, &next_child, e);

		if (err)
			return err;
		/* each piece belongs to one file, which bounds this loop */
		if (mapped_node(tree, node, &n) == 0 && node_kind(&n) == TREE_FILE &&
		    node_flags(&n) & NODE_MANY)
			pieces += n.where_high;
		if (pieces > tree->sections[SECTION_EXTENTS].count)
			return fault(e, node, "shares its pieces with another");
	}
	if (next_child != count)
		return fault(e, next_child < count ? next_child : count,
			     "belongs to no directory");
	return 0;
}

int tree_check(const struct tree *tree, struct error *e)
{
	struct tree_stat root;
	int err;

	if (tree_stat(tree, TREE_ROOT, &root) < 0 || root.kind != TREE_DIRECTORY)
		return fault(e, TREE_ROOT, "is no directory");
	err = check_volumes(tree, e);
	if (!err)
		err = check_nodes(tree, e);
	if (!err)
		err = check_count_names(tree, e);
	if (!err)
		err = check_xattrs(tree, e);
	if (!err && !block_sums_are_valid(tree))
		err = error_set(e, ERROR_DATASET, EBADMSG,
				"its checksums of blocks are not those of its files");
	return err;
}
