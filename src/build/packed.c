/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/packed.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	BLOCK_BYTES = 256 * 1024,
	TEXT_MOST = 4096,     /* of a path; entries with longer ones are kept elsewhere */
	OWNERS_TRIED = 16,    /* searched for an equal one */
	ELSEWHERE = 15,       /* the kind of an entry kept elsewhere */
};

#define OFFSET_LIMIT VOLUME_OFFSET_LIMIT
#define SIZE_LIMIT (UINT64_C(1) << 48)
#define MTIME_LIMIT (INT64_C(1) << 39)
#define COUNT_LIMIT (UINT32_C(1) << 24) /* volumes, owners */

struct record {
	uint64_t where;     /* volume << 40 | offset; ELSEWHERE: index */
	uint64_t size : 48;
	uint64_t kind : 4;  /* enum entry_kind, or ELSEWHERE */
	uint32_t text;      /* offset of the path in the block */
	uint32_t mtime_low, mtime_ns;
	uint32_t owner : 24;
	int8_t mtime_high;
};

_Static_assert(sizeof(struct record) == 32, "32 bytes an entry");

/* Records grow from the front, texts from the back, until they meet. */
struct packed_block {
	size_t first;       /* number of its first entry */
	uint32_t count;
	uint32_t text;      /* offset of the last text */
	struct record records[];
};

static size_t room_of(const struct packed_block *block)
{
	return block->text - sizeof(*block) - block->count * sizeof(*block->records);
}

static int packed_add_block(struct packed *packed)
{
	struct packed_block *block = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		return -ENOMEM;
	block->first = packed->count;
	block->text = BLOCK_BYTES;
	if (vec_push(&packed->blocks, block) == 0)
		return 0;
	munmap(block, BLOCK_BYTES);
	return -ENOMEM;
}

/* Adds a record with room for a text of `length` bytes; NULL: out of memory. */
static struct record *packed_add_record(struct packed *packed, size_t length)
{
	struct packed_block *block = NULL;

	if (packed->blocks.count)
		block = packed->blocks.items[packed->blocks.count - 1];
	if (!block || room_of(block) < sizeof(*block->records) + length) {
		if (packed_add_block(packed) < 0)
			return NULL;
		block = packed->blocks.items[packed->blocks.count - 1];
	}
	block->text -= (uint32_t)length;
	block->records[block->count].text = block->text;
	packed->count++;
	return &block->records[block->count++];
}

static bool is_one_piece(const struct entry *entry)
{
	const struct entry_extent *x = entry->extents;

	if (entry->size == 0)
		return entry->extent_count == 0;
	return entry->size < SIZE_LIMIT && entry->extent_count == 1 &&
	       x->file_offset == 0 && x->length == entry->size &&
	       x->offset < OFFSET_LIMIT && x->volume < COUNT_LIMIT;
}

bool packed_fits(const struct entry *entry)
{
	return (entry->kind == ENTRY_FILE || entry->kind == ENTRY_DIRECTORY) &&
	       !entry->target && entry->xattr_count == 0 && !entry->nested &&
	       is_one_piece(entry) && entry->mtime < MTIME_LIMIT &&
	       entry->mtime >= -MTIME_LIMIT && strlen(entry->path) < TEXT_MOST;
}

/* The number of an owner and mode: a recent one, or a new one. */
static int find_owner(struct packed *packed, const struct entry *entry, uint32_t *out)
{
	const struct packed_owner want = { entry->mode, entry->uid, entry->gid };
	size_t count = packed->owners.count;

	for (size_t i = count; i-- > 0 && count - i <= OWNERS_TRIED;) {
		*out = (uint32_t)i;
		if (memcmp(&packed->owners.items[i], &want, sizeof(want)) == 0)
			return 0;
	}
	*out = (uint32_t)count;
	return count < COUNT_LIMIT ? vec_push(&packed->owners, want) : -ENOMEM;
}

int packed_add(struct packed *packed, const struct entry *entry)
{
	size_t length = strlen(entry->path) + 1;
	struct record *record;
	uint32_t owner;

	if (find_owner(packed, entry, &owner) < 0)
		return -ENOMEM;
	record = packed_add_record(packed, length);
	if (!record)
		return -ENOMEM;
	if (entry->size)
		record->where = (uint64_t)entry->extents->volume << 40 |
				entry->extents->offset;
	record->size = entry->size & (SIZE_LIMIT - 1);
	record->kind = entry->kind & 15;
	record->mtime_low = (uint32_t)(uint64_t)entry->mtime;
	record->mtime_high = (int8_t)(entry->mtime >> 32);
	record->mtime_ns = entry->mtime_ns;
	record->owner = owner & (COUNT_LIMIT - 1);
	memcpy((char *)packed->blocks.items[packed->blocks.count - 1] + record->text,
	       entry->path, length);
	return 0;
}

int packed_add_external(struct packed *packed, size_t where)
{
	struct record *record = packed_add_record(packed, 0);

	if (!record)
		return -ENOMEM;
	record->kind = ELSEWHERE;
	record->where = where;
	return 0;
}

/* The last block that begins at or before entry i, mostly the recent one. */
static const struct packed_block *packed_find_block(struct packed *packed, size_t i)
{
	const struct packed_block *const *blocks =
		(const struct packed_block *const *)packed->blocks.items;
	const struct packed_block *block = blocks[packed->recent];

	if (block && i >= block->first && i - block->first < block->count)
		return block;
	packed->recent = vec_find_last(&packed->blocks,
				       !blocks[middle] || blocks[middle]->first <= i);
	return blocks[packed->recent];
}

bool packed_get(struct packed *packed, size_t i, struct entry *out,
		struct entry_extent *extent, size_t *where)
{
	const struct packed_block *block = packed_find_block(packed, i);
	const struct record *record = &block->records[i - block->first];
	const struct packed_owner *owner;

	*where = (size_t)record->where;
	if (record->kind == ELSEWHERE)
		return false;
	owner = &packed->owners.items[record->owner];
	*extent = (struct entry_extent){
		.offset = record->where & (OFFSET_LIMIT - 1), .length = record->size,
		.volume = (uint32_t)(record->where >> 40),
	};
	*out = (struct entry){
		.kind = (enum entry_kind)record->kind,
		.path = (const char *)block + record->text,
		.mode = owner->mode, .uid = owner->uid, .gid = owner->gid,
		.mtime = (int64_t)((uint64_t)(int64_t)record->mtime_high << 32 |
				   record->mtime_low),
		.mtime_ns = record->mtime_ns, .size = record->size,
		.extents = record->size ? extent : NULL, .extent_count = record->size > 0,
	};
	return true;
}

void packed_release(struct packed *packed, size_t i)
{
	for (size_t k = packed->recent; k-- > 0 && packed->blocks.items[k];) {
		if (packed->blocks.items[k]->first + packed->blocks.items[k]->count > i)
			continue;
		munmap(packed->blocks.items[k], BLOCK_BYTES);
		packed->blocks.items[k] = NULL;
	}
}

void packed_free(struct packed *packed)
{
	for (size_t k = 0; k < packed->blocks.count; k++)
		if (packed->blocks.items[k])
			munmap(packed->blocks.items[k], BLOCK_BYTES);
	vec_free(&packed->blocks);
	vec_free(&packed->owners);
	*packed = (struct packed){ 0 };
}
