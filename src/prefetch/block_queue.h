/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * block_queue.h: blocks that are read ahead of their turn, since a file of theirs was read.
 *
 * Private to prefetch/. Threads: one at a time.
 */
#ifndef GRANARY_PREFETCH_BLOCK_QUEUE_H
#define GRANARY_PREFETCH_BLOCK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { BLOCK_QUEUE_ROOM = 256 };

struct block_queue {
	uint32_t blocks[BLOCK_QUEUE_ROOM];
	unsigned first, count;
};

static inline bool block_queue_is_full(const struct block_queue *queue)
{
	return queue->count == BLOCK_QUEUE_ROOM;
}

/* The queue must not be full. */
static inline void block_queue_add(struct block_queue *queue, uint32_t block)
{
	queue->blocks[(queue->first + queue->count++) % BLOCK_QUEUE_ROOM] = block;
}

/* Takes the first block; false: the queue is empty. */
static inline bool block_queue_pop(struct block_queue *queue, uint32_t *block)
{
	if (queue->count == 0)
		return false;
	*block = queue->blocks[queue->first];
	queue->first = (queue->first + 1) % BLOCK_QUEUE_ROOM;
	queue->count--;
	return true;
}

#endif
