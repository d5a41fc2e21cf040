/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapped.h: access to the sections of a mapped index. Private to index/. */
#ifndef GRANARY_INDEX_MAPPED_H
#define GRANARY_INDEX_MAPPED_H

#include "index/layout.h"

/* A section of the mapping: `count` items of a fixed size. */
struct section {
	const uint8_t *base;
	uint64_t count;
};

struct tree {
	struct section sections[SECTION_COUNT];
};

/* Copies item `i` of a section: 0, or -EIO if it does not exist. */
int mapped_item(const struct tree *tree, enum layout_section_id section, uint64_t i,
		void *out, size_t item_size);

/* Returns `length` bytes at `at` of a section of bytes, or NULL. */
const uint8_t *mapped_bytes(const struct tree *tree, enum layout_section_id section,
			    uint64_t at, uint64_t length);

/*
 * Binary search in a section whose items begin with a node's number and are sorted by it:
 * 0, -ENOENT, -EIO.
 */
int mapped_find(const struct tree *tree, enum layout_section_id section,
		uint32_t node, void *out, size_t item_size);

int mapped_node(const struct tree *tree, uint32_t node, struct layout_node *out);

static inline enum tree_kind node_kind(const struct layout_node *node)
{
	return (enum tree_kind)(node->kind_nsec >> 30);
}

static inline uint32_t node_flags(const struct layout_node *node)
{
	return node->flags_attr >> 24;
}

static inline uint64_t node_location(const struct layout_node *node)
{
	return (uint64_t)node->where_high << 32 | node->where_low;
}

static inline uint64_t node_size(const struct layout_node *node)
{
	return (uint64_t)node->size_high << 32 | node->size_low;
}

static inline int64_t node_mtime(const struct layout_node *node)
{
	return (int64_t)((uint64_t)(int64_t)node->mtime_high << 32 | node->mtime_low);
}

#endif
