/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_sums.c: BLOCKS has a number for each GROUP nodes, and then the checksums. The
 * number counts the checksums before the group, so files need no numbers: a file's first
 * checksum follows from the sizes of the few nodes before it.
 */
#include "index/block_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checked.h"
#include "index/check.h"
#include "index/mapped.h"

enum { GROUP = 64 };

static uint64_t group_count(const struct tree *tree)
{
	return ((uint64_t)tree_count(tree) + GROUP - 1) / GROUP;
}

/* The number of checksums of a node: 0 for a file of one block, or no file. */
static int block_sums_count_of(const struct tree *tree, uint32_t node, uint64_t *out)
{
	struct layout_node n;
	uint64_t size;

	*out = 0;
	if (mapped_node(tree, node, &n) < 0)
		return -EIO;
	size = node_size(&n);
	if (node_kind(&n) == TREE_FILE && size > BLOCK_BYTES)
		*out = (size - 1) / BLOCK_BYTES + 1;
	return 0;
}

/* The checksums of the group's nodes before this one. */
static int count_before(const struct tree *tree, uint32_t node, uint64_t *out)
{
	uint64_t count;

	*out = 0;
	for (uint32_t other = node - node % GROUP; other < node; other++) {
		if (block_sums_count_of(tree, other, &count) < 0)
			return -EIO;
		*out += count; /* no overflow: 64 nodes of less than 2^48 bytes */
	}
	return 0;
}

bool block_sums_exist(const struct index *index)
{
	return index_tree(index)->sections[SECTION_BLOCKS].count > 0;
}

/* The position in BLOCKS of a node's first checksum. */
static int block_sums_find_first(const struct tree *tree, uint64_t before_group,
				 uint32_t node, uint64_t *out)
{
	uint64_t before;

	if (count_before(tree, node, &before) < 0 ||
	    !checked_add(before_group, group_count(tree) + before, out))
		return -EIO;
	return 0;
}

int block_sums_first(const struct index *index, uint32_t node, uint64_t *out)
{
	const struct tree *tree = index_tree(index);
	uint64_t before_group;

	if (mapped_item(tree, SECTION_BLOCKS, node / GROUP, &before_group,
			sizeof(before_group)) < 0)
		return -EIO;
	return block_sums_find_first(tree, before_group, node, out);
}

int block_sums_get(const struct index *index, uint64_t number, uint64_t *out)
{
	return mapped_item(index_tree(index), SECTION_BLOCKS, number, out, sizeof(*out));
}

/* Counts all checksums; `groups`, if not NULL, gets the number before each group. */
static int block_sums_count_all(const struct tree *tree, uint64_t *groups,
				uint64_t *total)
{
	uint64_t count;

	*total = 0;
	for (uint32_t node = 0; node < tree_count(tree); node++) {
		if (groups && node % GROUP == 0)
			groups[node / GROUP] = *total;
		if (block_sums_count_of(tree, node, &count) < 0)
			return -EIO;
		*total += count; /* no overflow: 2^31 nodes of less than 2^48 bytes */
	}
	return 0;
}

int block_sums_allocate(const struct index *index, struct block_sums *out)
{
	const struct tree *tree = index_tree(index);
	uint64_t total;

	*out = (struct block_sums){ 0 };
	if (block_sums_count_all(tree, NULL, &total) < 0)
		return -EIO;
	out->count = group_count(tree) + total;
	out->items = calloc(out->count, sizeof(*out->items));
	return out->items ? block_sums_count_all(tree, out->items, &total) : -ENOMEM;
}

void block_sums_free(struct block_sums *blocks)
{
	free(blocks->items);
	*blocks = (struct block_sums){ 0 };
}

uint64_t *block_sums_of_file(const struct index *index, const struct block_sums *blocks,
			     uint32_t node)
{
	const struct tree *tree = index_tree(index);
	uint64_t count, first;

	if (block_sums_count_of(tree, node, &count) < 0 || count == 0 ||
	    block_sums_find_first(tree, blocks->items[node / GROUP], node, &first) < 0)
		return NULL;
	return blocks->items + first;
}

bool block_sums_are_valid(const struct tree *tree)
{
	uint64_t there = tree->sections[SECTION_BLOCKS].count, total = 0, count, before;

	for (uint32_t node = 0; there && node < tree_count(tree); node++) {
		if (node % GROUP == 0 &&
		    (mapped_item(tree, SECTION_BLOCKS, node / GROUP, &before,
				 sizeof(before)) < 0 || before != total))
			return false;
		if (block_sums_count_of(tree, node, &count) < 0)
			return false;
		total += count;
	}
	return !there || there == group_count(tree) + total;
}
