/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "index/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "index/array_tiles.h"
#include "index/card.h"
#include "index/check.h"
#include "index/mapped.h"
#include "os/sealed.h"

struct index {
	uint64_t magic; /* HANDLE_INDEX */
	struct tree tree;
	int fd;
	void *map;
	size_t size;
	struct card *card;
};

static int read_memory(const void *context, void *buffer, size_t length, uint64_t offset)
{
	const struct index *index = context;

	memcpy(buffer, (const uint8_t *)index->map + offset, length);
	return 0;
}

static int index_read_card(struct index *index, uid_t owner, struct error *e)
{
	const struct card_reader reader = { read_memory, index, index->size, owner };

	return card_read(&reader, &index->card, e);
}

static const uint8_t *section_bytes(const struct index *index,
				    const struct layout_section *section)
{
	return (const uint8_t *)index->map + section->offset;
}

static void map_sections(struct index *index)
{
	const struct layout_section *s;

	for (uint32_t i = 0; (s = card_section(index->card, i)); i++)
		index->tree.sections[i] = (struct section){
			.base = section_bytes(index, s), .count = s->length / s->item_size };
}

static int map_memory(struct index *index, struct error *e)
{
	/* MAP_PRIVATE: before Linux 6.7 a sealed memfd cannot be mapped as MAP_SHARED */
	index->map = mmap(NULL, index->size, PROT_READ, MAP_PRIVATE, index->fd, 0);
	if (index->map != MAP_FAILED)
		return 0;
	index->map = NULL;
	return error_set(e, ERROR_SYSTEM, errno, "it cannot be mapped: %s", strerror(errno));
}

/* Are the bytes between the section and the next one zero? No checksum covers them. */
static bool is_padded(const struct index *index, const struct layout_section *s)
{
	const uint8_t *bytes = index->map;

	for (uint64_t at = s->offset + s->length; at % 8 != 0 && at < index->size; at++)
		if (bytes[at] != 0)
			return false;
	return true;
}

/* Checked once: the memfd is sealed. */
static int check_sums(const struct index *index, struct error *e)
{
	const struct layout_section *s;
	int err = 0;

	for (uint32_t i = 0; !err && (s = card_section(index->card, i)); i++) {
		err = card_check_section(index->card, i, section_bytes(index, s), e);
		if (!err && !is_padded(index, s))
			err = error_set(e, ERROR_DATASET, EBADMSG,
					"the bytes behind its section %u are damaged", i);
	}
	return err;
}

enum { LARGE_BYTES = 64 << 20 };

/*
 * A page of a hole is made for the process that reads it, and counts there. The process
 * that filled the memory, maybe a parser that was taken over, has paid for all its pages.
 */
static bool is_filled(const struct stat *st)
{
	return st->st_size <= LARGE_BYTES || st->st_blocks >= st->st_size / 512;
}

int index_open_memory(int fd_taken, uid_t owner, const char *label, struct index **out,
		      struct error *e)
{
	CLEANUP(cleanup_close) int fd = fd_taken;
	struct index *index = calloc(1, sizeof(*index));
	struct stat st;
	int err;

	if (!index)
		return error_no_memory(e, NULL);
	if (!sealed_is(fd) || fstat(fd, &st) < 0 || st.st_size == 0 || !is_filled(&st)) {
		free(index);
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "%s: it is empty, has holes, or may be changed", label);
	}
	*index = (struct index){ .magic = HANDLE_INDEX, .fd = steal_fd(&fd), .size = (size_t)st.st_size };
	err = map_memory(index, e);
	if (!err)
		err = index_read_card(index, owner, e);
	if (!err)
		err = check_sums(index, e);
	if (err) {
		error_prefix(e, "%s", label);
		index_close(index);
		return err;
	}
	map_sections(index);
	*out = index;
	return 0;
}

void index_close(struct index *index)
{
	if (!index)
		return;
	HANDLE_CHECK(index, HANDLE_INDEX);
	if (index->map)
		munmap(index->map, index->size);
	card_free(index->card);
	close(index->fd);
	index->magic = HANDLE_DEAD;
	free(index);
}

const struct card *index_card(const struct index *index)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	return index->card;
}

int index_descriptor(const struct index *index)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	return index->fd;
}

uint64_t index_size(const struct index *index)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	return index->size;
}

const struct tree *index_tree(const struct index *index)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	return &index->tree;
}

int index_summary(const struct index *index, struct index_summary *out)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	*out = *card_summary(index->card);
	return 0;
}

void index_for_each_note(const struct index *index,
			 void (*visit)(const char *line, void *context), void *context)
{
	const struct section *s;
	char *notes, *rest, *line;

	HANDLE_CHECK(index, HANDLE_INDEX);
	s = &index->tree.sections[SECTION_NOTES];
	notes = rest = s->count ? strndup((const char *)s->base, s->count)
				: strdup(card_summary(index->card)->notes);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			visit(line, context);
	free(notes);
}

int index_check(const struct index *index, struct error *e)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	return tree_check(&index->tree, e);
}

uint32_t index_volume_count(const struct index *index)
{
	uint64_t count = index->tree.sections[SECTION_VOLUMES].count;

	HANDLE_CHECK(index, HANDLE_INDEX);
	return count < LAYOUT_VOLUME_LIMIT ? (uint32_t)count : LAYOUT_VOLUME_LIMIT;
}

int index_volume(const struct index *index, uint32_t i, struct volume_desc *out)
{
	struct layout_volume v;
	int err = mapped_item(&index->tree, SECTION_VOLUMES, i, &v, sizeof(v));

	HANDLE_CHECK(index, HANDLE_INDEX);
	if (err)
		return err;
	*out = (struct volume_desc){
		.kind = (enum volume_kind)v.kind, .source = v.source, .base = v.base,
		.length = v.length, .guard = (enum volume_guard)v.guard,
		.first_chunk = v.first_chunk, .chunk_count = v.chunk_count,
	};
	if (out->guard == GUARD_LMDB)
		memcpy(&out->snapshot, v.codecs, sizeof(out->snapshot));
	else
		memcpy(out->codecs, v.codecs, sizeof(v.codecs));
	return 0;
}

/* The last chunk that begins at or before `offset`. */
static int index_find_chunk(const struct index *index, const struct volume_desc *volume,
			    uint64_t offset, uint64_t *out)
{
	uint64_t low = volume->first_chunk, high;

	if (!checked_add(low, volume->chunk_count, &high) || low == high)
		return -EIO;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;
		struct volume_chunk chunk;

		if (mapped_item(&index->tree, SECTION_CHUNKS, middle, &chunk,
				sizeof(chunk)) < 0)
			return -EIO;
		if (chunk.start <= offset)
			low = middle;
		else
			high = middle;
	}
	*out = low;
	return 0;
}

int index_chunk(const struct index *index, const struct volume_desc *volume,
		uint64_t offset, uint64_t *number, struct volume_chunk *out,
		uint64_t *plain)
{
	struct volume_chunk next = { .start = volume->length };
	uint64_t last = volume->first_chunk + volume->chunk_count - 1;

	HANDLE_CHECK(index, HANDLE_INDEX);
	if (index_find_chunk(index, volume, offset, number) < 0 ||
	    mapped_item(&index->tree, SECTION_CHUNKS, *number, out, sizeof(*out)) < 0)
		return -EIO;
	if (*number < last &&
	    mapped_item(&index->tree, SECTION_CHUNKS, *number + 1, &next,
					  sizeof(next)) < 0)
		return -EIO;
	if (out->start > offset || next.start <= offset ||
	    next.start - out->start > VOLUME_CHUNK_LIMIT)
		return -EIO;
	*plain = next.start - out->start;
	return 0;
}

int index_array(const struct index *index, const struct volume_desc *volume,
		struct volume_array *out, struct array_measure *measure)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	if (mapped_item(&index->tree, SECTION_ARRAYS, volume->base, out,
			sizeof(*out)) < 0 ||
	    array_measure(out, measure) < 0 || measure->bytes != volume->length ||
	    measure->tiles != volume->chunk_count)
		return -EIO;
	return 0;
}

int index_tile(const struct index *index, const struct volume_desc *volume, uint64_t tile,
	       uint64_t *number, struct volume_chunk *out)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	if (tile >= volume->chunk_count || !checked_add(volume->first_chunk, tile, number))
		return -EIO;
	return mapped_item(&index->tree, SECTION_CHUNKS, *number, out, sizeof(*out));
}

int index_point(const struct index *index, const struct volume_desc *volume,
		uint64_t number, struct volume_point *out)
{
	uint64_t at;

	HANDLE_CHECK(index, HANDLE_INDEX);
	if (number < volume->first_chunk ||
	    number - volume->first_chunk >= volume->chunk_count ||
	    !checked_add(volume->base, number - volume->first_chunk, &at))
		return -EIO;
	return mapped_item(&index->tree, SECTION_POINTS, at, out, sizeof(*out));
}

const void *index_window(const struct index *index, const struct volume_point *point)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	return mapped_bytes(&index->tree, SECTION_WINDOWS, point->window,
			    point->window_length);
}

uint64_t index_literals_size(const struct index *index)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	return index->tree.sections[SECTION_LITERALS].count;
}

int index_read_literals(const struct index *index, void *buffer, size_t length,
			uint64_t offset)
{
	const uint8_t *bytes = mapped_bytes(&index->tree, SECTION_LITERALS, offset,
					    length);

	HANDLE_CHECK(index, HANDLE_INDEX);
	if (!bytes)
		return -EIO;
	memcpy(buffer, bytes, length);
	return 0;
}

bool index_has_sums(const struct index *index)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	return card_has_sums(index->card);
}

int index_sum(const struct index *index, uint32_t node, uint64_t *out)
{
	HANDLE_CHECK(index, HANDLE_INDEX);
	if (!index_has_sums(index))
		return -ENOENT;
	if (mapped_item(&index->tree, SECTION_SUMS, node, out, sizeof(*out)) < 0)
		return -EIO;
	return *out ? 0 : -ENOENT;
}

const void *index_section(const struct index *index, uint32_t i, uint64_t *length)
{
	const struct layout_section *s = card_section(index->card, i);

	HANDLE_CHECK(index, HANDLE_INDEX);
	if (!s)
		return NULL;
	*length = s->length;
	return section_bytes(index, s);
}
