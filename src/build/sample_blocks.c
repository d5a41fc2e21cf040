/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/sample_blocks.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK_BYTES = 256 * 1024 };

/* Data of one sample are places in its block; 0: none. */
struct stored_sample {
	uint64_t offset, length; /* of its body */
	int64_t label;
	uint32_t volume;
	uint32_t head, name, class_name;
};

_Static_assert(sizeof(struct stored_sample) == 40, "40 bytes a sample");

/* Samples grow from the front, data from the back, until they meet. */
struct sample_block {
	size_t first;   /* number of its first sample */
	uint32_t count;
	uint32_t size;  /* bytes of the block */
	uint32_t data;  /* place of the last data */
	struct stored_sample samples[];
};

static const void *data_at(const struct sample_block *block, uint32_t place)
{
	return place ? (const char *)block + place : NULL;
}

static size_t block_room(const struct sample_block *block)
{
	return block->data - sizeof(*block) - block->count * sizeof(*block->samples);
}

/* A block with room for a sample and data of n bytes. */
static struct sample_block *add_block(struct sample_blocks *blocks, size_t n)
{
	size_t size = sizeof(struct sample_block) + sizeof(struct stored_sample) + n;
	struct sample_block *block;

	if (size < BLOCK_BYTES)
		size = BLOCK_BYTES;
	if (size > UINT32_MAX)
		return NULL;
	block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (block == MAP_FAILED)
		return NULL;
	block->first = blocks->count;
	block->size = block->data = (uint32_t)size;
	if (vec_push(&blocks->items, block) == 0)
		return block;
	munmap(block, size);
	return NULL;
}

static uint32_t add_data(struct sample_block *block, const void *bytes, size_t n)
{
	block->data -= (uint32_t)n;
	memcpy((char *)block + block->data, bytes, n);
	return block->data;
}

static bool is_same(const struct sample_bytes *a, const struct sample_bytes *b)
{
	return a->offset == b->offset && a->length == b->length && a->volume == b->volume;
}

/* Parts that the sample before has as well are not stored again. */
static void share(const struct sample_block *block, const struct sample *sample,
		  struct stored_sample *out)
{
	const struct stored_sample *before;
	struct sample_bytes head;
	const char *class_name;

	if (block->count == 0)
		return;
	before = &block->samples[block->count - 1];
	class_name = data_at(block, before->class_name);
	if (class_name && sample->class_name && strcmp(class_name, sample->class_name) == 0)
		out->class_name = before->class_name;
	if (!before->head)
		return;
	memcpy(&head, data_at(block, before->head), sizeof(head));
	if (is_same(&head, &sample->head))
		out->head = before->head;
}

static size_t text_bytes(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

int sample_blocks_add(struct sample_blocks *blocks, const struct sample *sample)
{
	size_t name = text_bytes(sample->name), class_name = text_bytes(sample->class_name);
	size_t head = sample->head.length ? sizeof(sample->head) : 0;
	struct stored_sample stored = {
		.offset = sample->body.offset, .length = sample->body.length,
		.volume = sample->body.volume, .label = sample->label,
	};
	struct sample_block *block =
		blocks->items.count ? blocks->items.items[blocks->items.count - 1] : NULL;

	if (!block || block_room(block) < sizeof(stored) + name + class_name + head)
		block = add_block(blocks, name + class_name + head);
	if (!block)
		return -ENOMEM;
	share(block, sample, &stored);
	if (name)
		stored.name = add_data(block, sample->name, name);
	if (class_name && !stored.class_name)
		stored.class_name = add_data(block, sample->class_name, class_name);
	if (head && !stored.head)
		stored.head = add_data(block, &sample->head, head);
	block->samples[block->count++] = stored;
	blocks->count++;
	return 0;
}

/* The block that has sample i, mostly the recent one. */
static const struct sample_block *find_block(struct sample_blocks *blocks, size_t i)
{
	struct sample_block *const *items = blocks->items.items;
	const struct sample_block *block = items[blocks->recent];

	if (block && i >= block->first && i - block->first < block->count)
		return block;
	blocks->recent = vec_find_last(&blocks->items,
				       !items[middle] || items[middle]->first <= i);
	return items[blocks->recent];
}

void sample_blocks_get(struct sample_blocks *blocks, size_t i, struct sample *out)
{
	const struct sample_block *block = find_block(blocks, i);
	const struct stored_sample *stored = &block->samples[i - block->first];

	*out = (struct sample){
		.body = { stored->offset, stored->length, stored->volume },
		.label = stored->label,
		.name = data_at(block, stored->name),
		.class_name = data_at(block, stored->class_name),
	};
	if (stored->head)
		memcpy(&out->head, data_at(block, stored->head), sizeof(out->head));
}

static void free_block(struct sample_block **block)
{
	if (*block)
		munmap(*block, (*block)->size);
	*block = NULL;
}

void sample_blocks_release(struct sample_blocks *blocks, size_t i)
{
	struct sample_block **items = blocks->items.items;

	for (size_t k = blocks->recent; k-- > 0 && items[k];)
		if (items[k]->first + items[k]->count <= i)
			free_block(&items[k]);
}

void sample_blocks_free(struct sample_blocks *blocks)
{
	for (size_t k = 0; k < blocks->items.count; k++)
		free_block(&blocks->items.items[k]);
	vec_free(&blocks->items);
	*blocks = (struct sample_blocks){ .count = 0 };
}
