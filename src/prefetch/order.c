/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/order.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "index/tree.h"
#include "os/pages.h"

enum {
	GAP_MOST = 256 << 10, /* between files of one block */
	PLAIN_MOST = 8 << 20, /* decoded bytes of one block */
};

/* A file, and its first stored extent. */
struct order_place {
	struct volume_span stored;
	uint64_t size;
	uint32_t node;
	bool in_pieces;
};

/* Blocks so far. */
struct cutting {
	VEC(struct volume_span) blocks;
	VEC(struct block_files) files;
	int err;
};

/* False: not a file, a hard link's second name, or without stored bytes. */
static bool order_find_place(const struct dataset *dataset, uint32_t node,
			     struct order_place *out)
{
	struct tree_stat st;
	bool as_is;

	if (tree_stat(dataset_tree(dataset), node, &st) < 0 || st.kind != TREE_FILE ||
	    st.node != node || st.size == 0 ||
	    !dataset_stored(dataset, node, 0, st.size, &out->stored, &as_is))
		return false;
	out->node = node;
	out->size = st.size;
	out->in_pieces = as_is && st.size > ORDER_LARGE;
	return true;
}

static int order_by_place(const void *a, const void *b)
{
	const struct order_place *x = a, *y = b;

	if (x->stored.source != y->stored.source)
		return x->stored.source < y->stored.source ? -1 : 1;
	if (x->stored.start != y->stored.start)
		return x->stored.start < y->stored.start ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static uint32_t order_collect_places(const struct dataset *dataset,
				     struct order_place *places)
{
	uint32_t names = tree_count(dataset_tree(dataset)), count = 0;
	bool sorted = true;

	for (uint32_t node = 0; node < names; node++) {
		if (!order_find_place(dataset, node, &places[count]))
			continue;
		sorted &= count == 0 ||
			  order_by_place(&places[count - 1], &places[count]) < 0;
		count++;
	}
	if (!sorted)
		qsort(places, count, sizeof(*places), order_by_place);
	return count;
}

/* The end of the last block, if it is of this source. */
static uint64_t covered_to(const struct cutting *c, uint32_t source)
{
	const struct volume_span *last = c->blocks.count ?
						 &c->blocks.items[c->blocks.count - 1] : NULL;

	return last && last->source == source ? last->end : 0;
}

/* Appends a block, without the bytes of earlier blocks. */
static void order_add_block(struct cutting *c, const struct volume_span *span,
			    uint32_t first, uint32_t count)
{
	struct volume_span block = *span;
	uint64_t covered = covered_to(c, block.source);

	if (block.start < covered)
		block.start = covered;
	if (block.end < block.start)
		block.end = block.start;
	if (block.end - block.start > VOLUME_BLOCK_MOST)
		block.end = block.start + VOLUME_BLOCK_MOST;
	if (vec_push(&c->blocks, block) < 0 ||
	    vec_push(&c->files, ((struct block_files){ first, count })) < 0)
		c->err = -ENOMEM;
}

static void add_pieces(struct cutting *c, const struct order_place *place,
		       uint32_t position)
{
	struct volume_span piece = place->stored;

	for (; piece.start < place->stored.end; piece.start = piece.end) {
		piece.end = place->stored.end - piece.start < VOLUME_BLOCK ?
				    place->stored.end : piece.start + VOLUME_BLOCK;
		order_add_block(c, &piece, position, 0);
	}
}

/* Is the file part of this block? */
static bool fits_block(const struct volume_span *block, const struct order_place *place)
{
	const struct volume_span *stored = &place->stored;
	uint64_t end = stored->end > block->end ? stored->end : block->end;

	if (place->in_pieces || stored->source != block->source ||
	    stored->start > block->end + GAP_MOST || end - block->start > VOLUME_BLOCK_MOST)
		return false;
	return end - block->start <= VOLUME_BLOCK || stored->end <= block->end;
}

/*
 * A file that overlaps earlier blocks is not split: many overlapping files would need
 * more blocks than there is memory.
 */
static bool is_split(const struct cutting *c, const struct order_place *place)
{
	return place->in_pieces && place->stored.start >= covered_to(c, place->stored.source);
}

static void cut_blocks(struct cutting *c, const struct order_place *places,
		       uint32_t count)
{
	for (uint32_t first = 0, next; first < count && !c->err; first = next) {
		struct volume_span block = places[first].stored;
		uint64_t plain = places[first].size;

		next = first + 1;
		if (is_split(c, &places[first])) {
			add_pieces(c, &places[first], first);
			continue;
		}
		for (; next < count && fits_block(&block, &places[next]); next++) {
			plain += places[next].size;
			if (plain > PLAIN_MOST)
				break;
			if (places[next].stored.end > block.end)
				block.end = places[next].stored.end;
		}
		order_add_block(c, &block, first, next - first);
	}
}

static int fill_order(struct order *order, const struct order_place *places,
		      uint32_t count)
{
	struct cutting c = { .err = 0 };

	cut_blocks(&c, places, count);
	order->blocks = c.blocks.items;
	order->files = c.files.items;
	order->block_count = (uint32_t)c.blocks.count;
	order->nodes = malloc(((size_t)count + 1) * sizeof(*order->nodes));
	if (!order->nodes || c.err)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		order->nodes[i] = places[i].node;
		order->pages += pages_round_up(places[i].size);
	}
	order->count = count;
	return 0;
}

int order_make(const struct dataset *dataset, struct order *out)
{
	uint32_t names = tree_count(dataset_tree(dataset));
	struct order_place *places = malloc(((size_t)names + 1) * sizeof(*places));
	int err;

	*out = (struct order){ .count = 0 };
	if (!places)
		return -ENOMEM;
	err = fill_order(out, places, order_collect_places(dataset, places));
	free(places);
	if (err)
		order_free(out);
	return err;
}

void order_free(struct order *order)
{
	free(order->nodes);
	free(order->blocks);
	free(order->files);
	*order = (struct order){ .count = 0 };
}

uint64_t order_piece(const struct order *order, uint32_t block)
{
	uint32_t low = 0, high = block;

	/* binary search for the file's first block: a terabyte has a million pieces */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (order->files[middle].first < order->files[block].first)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint64_t)(block - low) * VOLUME_BLOCK;
}
