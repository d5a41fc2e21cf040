/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sums.c: compares bytes with their checksums before they are returned to a reader.
 *
 * A file is compared in blocks. Blocks that are read whole are compared in the reader's
 * buffer. A block that is read in part is first read whole into the cache, once for all
 * readers, and this and the next parts come from there. A block that the cache has
 * dropped is read and compared again: storage may rot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "cache/key.h"
#include "dataset/assembly.h"
#include "dataset/read_ahead.h"
#include "index/block_sums.h"
#include "index/checksum.h"
#include "stats/stats.h"

enum { PATIENCE_MS = 500, BLOCK_NUMBER_BITS = 31 };

const char *dataset_compared_word(enum dataset_compared compared)
{
	static const char *const words[] = {
		[COMPARED_NONE] = "none", [COMPARED_OFF] = "off",
		[COMPARED_FILES] = "files", [COMPARED_BLOCKS] = "blocks",
	};

	return words[compared];
}

const char *dataset_compared_note(enum dataset_compared compared)
{
	if (compared == COMPARED_OFF)
		return "what is read is not compared with the checksums of the index "
		       "(checksums=off)";
	if (compared == COMPARED_FILES)
		return "files of more than 4 MiB are not compared with their checksums when they "
		       "are read: the index has none of blocks; granary index --checksums adds "
		       "them";
	return NULL;
}

bool dataset_has_sums(const struct dataset *ds)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	return index_has_sums(ds->index);
}

int dataset_sum(const struct dataset *ds, uint32_t node, uint64_t *out)
{
	HANDLE_CHECK(ds, HANDLE_DATASET);
	return index_sum(ds->index, node, out);
}

void dataset_set_mismatch(const struct dataset *ds, uint32_t node, uint64_t offset,
			  struct read_fault *out)
{
	struct tree_piece piece = { .hole = true };
	struct tree_stat st;

	HANDLE_CHECK(ds, HANDLE_DATASET);
	*out = (struct read_fault){ .err = -EBADMSG, .mismatch = true, .offset = offset,
				    .source = "the index" };
	if (tree_stat(dataset_tree(ds), node, &st) < 0)
		return;
	/* the first that is no hole */
	for (; offset < st.size && piece.hole; offset += piece.length) {
		if (tree_piece(dataset_tree(ds), node, offset, &piece) < 0)
			return;
	}
	if (!piece.hole)
		out->source = volume_locate(&ds->volumes, piece.volume, piece.offset,
					    &out->at);
}

/* A file whose checksums are known. */
struct checked_file {
	const struct dataset *dataset;
	uint32_t node;
	uint64_t size;
	uint64_t block; /* bytes of each of its blocks, but for the last */
	uint64_t first; /* the number of its first block's checksum; */
	uint64_t sum;   /* of a file of one block, its checksum */
	struct read_context *context;
};

/* An index of an older version has no checksums of blocks: then the file is one block. */
static int find_sums(struct checked_file *file)
{
	const struct index *index = file->dataset->index;
	int err;

	file->block = file->size;
	if (file->size > BLOCK_BYTES && block_sums_exist(index)) {
		file->block = BLOCK_BYTES;
		err = block_sums_first(index, file->node, &file->first);
	} else if (file->size == 0 || file->size > DATASET_CHECK_MOST) {
		err = -ENOENT;
	} else {
		err = index_sum(index, file->node, &file->sum);
	}
	return err;
}

/* 0; -ENOENT: no checksum to compare with; -EIO. */
static int sums_find_file(const struct dataset *ds, uint32_t node,
			  struct read_context *context, struct checked_file *out)
{
	struct tree_stat st;
	int err;

	if (tree_stat(dataset_tree(ds), node, &st) < 0 || st.kind != TREE_FILE)
		return -ENOENT; /* the read returns the error */
	*out = (struct checked_file){ .dataset = ds, .node = st.node, .size = st.size,
				      .context = context };
	err = find_sums(out);
	if (err == -EIO)
		dataset_set_mismatch(ds, st.node, 0, &context->fault);
	return err;
}

static uint64_t begin_of_block(const struct checked_file *file, uint64_t offset)
{
	return offset - offset % file->block;
}

/* The end of the block that holds the byte at `offset`. */
static uint64_t end_of_block(const struct checked_file *file, uint64_t offset)
{
	uint64_t begin = begin_of_block(file, offset);

	return file->size - begin < file->block ? file->size : begin + file->block;
}

/* The block that begins at `offset`. */
static bool is_right(const struct checked_file *file, uint64_t offset, const void *bytes)
{
	uint64_t wanted = file->sum;

	stats_add(COUNTER_blocks_checked, 1);
	stats_add(COUNTER_files_checked, offset == 0);
	if (file->block < file->size &&
	    block_sums_get(file->dataset->index, file->first + offset / file->block,
			   &wanted) < 0)
		return false;
	return sum_of(bytes, (size_t)(end_of_block(file, offset) - offset)) == wanted;
}

/* Reads and compares whole blocks: 0 or -EIO and the fault. */
static int read_and_compare(const struct checked_file *file, char *buffer, size_t length,
			    uint64_t offset, uint64_t *wrong)
{
	ssize_t n = dataset_read_plain(file->dataset, file->node, buffer, length, offset,
				       file->context);
	uint64_t end = offset + length;

	if (n < 0)
		return (int)n;
	for (uint64_t at = offset; at < end; at = end_of_block(file, at)) {
		if ((size_t)n == length && is_right(file, at, buffer + (at - offset)))
			continue;
		dataset_set_mismatch(file->dataset, file->node, at, &file->context->fault);
		*wrong = at;
		return -EIO;
	}
	return 0;
}

/* The same, once more from storage if the bytes in memory are wrong. */
static int read_compared(const struct checked_file *file, char *buffer, size_t length,
			 uint64_t offset)
{
	struct read_context *context = file->context;
	enum read_hint hint = context->hint;
	uint64_t wrong = offset;
	int err = read_and_compare(file, buffer, length, offset, &wrong);

	if (!err || !context->fault.mismatch)
		return err;
	context->hint = READ_DIRECT;
	length -= (size_t)(wrong - offset);
	err = read_and_compare(file, buffer + (wrong - offset), length, wrong, &wrong);
	context->hint = hint;
	if (err && context->fault.mismatch)
		stats_add(COUNTER_checksum_errors, 1);
	return err;
}

/* A block that is being read into the cache. */
struct file_block {
	const struct checked_file *file;
	uint64_t offset;
};

static ssize_t fill_file_block(void *context, void *buffer, size_t room)
{
	const struct file_block *block = context;
	int err = read_compared(block->file, buffer, room, block->offset);

	return err ? err : (ssize_t)room;
}

/* For a block that another thread reads for long: storage may hang there. */
static int read_one_block(const struct file_block *block, char *buffer, size_t length,
			  uint64_t offset)
{
	size_t room = (size_t)(end_of_block(block->file, block->offset) - block->offset);
	char *bytes = malloc(room);
	int err = bytes ? read_compared(block->file, bytes, room, block->offset) : -EIO;

	if (!err)
		memcpy(buffer, bytes + (offset - block->offset), length);
	free(bytes);
	return err;
}

/* Another thread has read the block and reported its fault, or no memory is left. */
static void set_others_fault(const struct file_block *block)
{
	const struct checked_file *file = block->file;
	struct read_fault *fault = &file->context->fault;

	dataset_set_mismatch(file->dataset, file->node, block->offset, fault);
	fault->mismatch = false;
	fault->err = -EIO;
}

/* Reads a part of one block by way of the cache. */
static int sums_read_part(const struct checked_file *file, char *buffer, size_t length,
			  uint64_t offset)
{
	struct file_block block = { file, begin_of_block(file, offset) };
	struct cache *cache = file->dataset->volumes.cache;
	uint64_t number = (uint64_t)file->node << BLOCK_NUMBER_BITS |
			  block.offset / file->block;
	struct cache_pin *pin;
	int err;

	file->context->fault = (struct read_fault){ .err = 0 };
	err = cache_get_within(cache, cache_key(CACHE_FILE_BLOCK, number),
			       (size_t)(end_of_block(file, offset) - block.offset),
			       PATIENCE_MS, fill_file_block, &block, &pin);
	if (err == -ETIMEDOUT || err == -ENOMEM) {
		err = read_one_block(&block, buffer, length, offset);
	} else if (!err) {
		memcpy(buffer, (const char *)cache_data(pin) + (offset - block.offset), length);
		cache_put_read(cache, pin, length, false);
	} else {
		err = -EIO;
	}
	if (err && !file->context->fault.err)
		set_others_fault(&block);
	return err;
}

/* The number of bytes to read as one: whole blocks, or a part of one. */
static size_t run_at(const struct checked_file *file, uint64_t offset, uint64_t end,
		     bool *whole)
{
	uint64_t last = end < file->size ? begin_of_block(file, end) : end;
	uint64_t next = end_of_block(file, offset);

	*whole = offset == begin_of_block(file, offset) && last > offset;
	if (!*whole)
		last = next < end ? next : end;
	return (size_t)(last - offset);
}

ssize_t dataset_read_checked(const struct dataset *ds, uint32_t node, void *buffer,
			     size_t length, uint64_t offset, struct read_context *context)
{
	struct checked_file file;
	int err = length ? sums_find_file(ds, node, context, &file) : -ENOENT;
	size_t done = 0;

	HANDLE_CHECK(ds, HANDLE_DATASET);
	if (err == -ENOENT || (!err && offset >= file.size))
		return dataset_read_plain(ds, node, buffer, length, offset, context);
	if (!err && length > file.size - offset)
		length = (size_t)(file.size - offset);
	while (!err && done < length) {
		uint64_t at = offset + done;
		bool whole;
		size_t n = run_at(&file, at, offset + length, &whole);

		err = whole ? read_compared(&file, (char *)buffer + done, n, at) :
			      sums_read_part(&file, (char *)buffer + done, n, at);
		done += n;
	}
	return err ? err : (ssize_t)length;
}

bool dataset_compare(const struct dataset *ds, uint32_t node, const void *bytes,
		     size_t length, uint64_t offset, uint64_t *wrong)
{
	struct checked_file file;
	struct read_context context = { .hint = READ_EXACT };
	int err = sums_find_file(ds, node, &context, &file);
	uint64_t end = offset + length;

	HANDLE_CHECK(ds, HANDLE_DATASET);
	*wrong = offset;
	if (err)
		return err == -ENOENT;
	for (; *wrong < end; *wrong = end_of_block(&file, *wrong)) {
		if (*wrong != begin_of_block(&file, *wrong) ||
		    end_of_block(&file, *wrong) > end ||
		    !is_right(&file, *wrong, (const char *)bytes + (*wrong - offset)))
			return false;
	}
	return true;
}

bool dataset_sum_matches(const struct dataset *ds, uint32_t node, const void *bytes,
			 size_t length, uint64_t offset)
{
	uint64_t wrong;

	HANDLE_CHECK(ds, HANDLE_DATASET);
	return !ds->compares || dataset_compare(ds, node, bytes, length, offset, &wrong);
}
