/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tar/sparse.h"

#include <errno.h>
#include <string.h>

#include "format/tar/header.h"

enum {
	PIECES_MOST = 1 << 24,
	PIECE_BYTES = 2 * TAR_LONG_BYTES,
	BLOCK_PIECES = 21, /* in a block that is all map */
	BLOCK_MORE = 504,  /* is there another one? */
};

/* Where the header block has its part of the map. */
struct sparse_place {
	unsigned pieces, count, more, size;
};

static const struct sparse_place gnu_place = { 386, 4, 482, 483 };
static const struct sparse_place star_place = { 356, 4, 355, 452 };

static int sparse_add_piece(struct tar_map *map, int64_t offset, int64_t length)
{
	struct tar_piece piece = { (uint64_t)offset, (uint64_t)length };

	if (offset < 0 || length < 0 || map->pieces.count == PIECES_MOST)
		return -EBADMSG;
	if (length == 0)
		return 0; /* how a hole at the end is written */
	return vec_push(&map->pieces, piece);
}

/* The map ends at the first piece that is not filled in. */
static int parse_sparse_fields(struct tar_map *map, const unsigned char *fields,
			       unsigned count)
{
	for (unsigned i = 0; i < count && fields[0]; i++, fields += PIECE_BYTES) {
		int64_t offset, length;
		int err;

		if (!tar_number(fields, TAR_LONG_BYTES, &offset) ||
		    !tar_number(fields + TAR_LONG_BYTES, TAR_LONG_BYTES, &length))
			return -EBADMSG;
		err = sparse_add_piece(map, offset, length);
		if (err)
			return err;
	}
	return 0;
}

int tar_map_header(struct tar_map *map, struct tar_window *window,
		   const unsigned char *block, uint64_t *data)
{
	const struct sparse_place *place = tar_header_dialect(block) == TAR_STAR ?
		&star_place :
									    &gnu_place;
	bool more = block[place->more];
	int64_t size;
	int err;

	if (!tar_number(block + place->size, TAR_LONG_BYTES, &size) || size < 0)
		return -EBADMSG;
	map->size = (uint64_t)size;
	err = parse_sparse_fields(map, block + place->pieces, place->count);
	while (!err && more) {
		block = tar_window_header(window, *data);
		if (!block)
			return window->err ? window->err : -ENODATA;
		*data += TAR_BLOCK;
		more = block[BLOCK_MORE];
		err = parse_sparse_fields(map, block, BLOCK_PIECES);
	}
	return err;
}

bool tar_map_is_in_data(const struct tar_records *records)
{
	const struct tar_record *major = tar_records_find(records, "GNU.sparse.major");

	return major && strcmp(major->value, "1") == 0;
}

bool tar_map_is_in_records(const struct tar_records *records)
{
	return !tar_map_is_in_data(records) && tar_records_find(records, "GNU.sparse.size");
}

/* The size of the file: 0 or -EBADMSG. */
static int sparse_parse_size(struct tar_map *map, const struct tar_records *records,
			     const char *key)
{
	const struct tar_record *record = tar_records_find(records, key);
	int64_t size;

	if (!record || !tar_record_number(record, &size) || size < 0)
		return -EBADMSG;
	map->size = (uint64_t)size;
	return 0;
}

/* A number of the text and the one byte behind it, `behind` or, at the end, a NUL. */
static bool sparse_parse_number(const char **at, char behind, int64_t *out)
{
	const char *text = *at;

	*out = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, *text - '0', out))
			return false;
	if (text == *at || (*text != behind && *text))
		return false;
	*at = text + (*text != '\0');
	return true;
}

/* 0.1: "offset,length,offset,length" */
static int sparse_parse_list(struct tar_map *map, const char *text)
{
	while (*text) {
		int64_t offset, length;
		int err;

		if (!sparse_parse_number(&text, ',', &offset) ||
		    !sparse_parse_number(&text, ',', &length))
			return -EBADMSG;
		err = sparse_add_piece(map, offset, length);
		if (err)
			return err;
	}
	return 0;
}

/* 0.0: a record for each number */
static int parse_sparse_pairs(struct tar_map *map, const struct tar_records *records)
{
	int64_t offset = -1, length;
	int err = 0;

	for (size_t i = 0; !err && i < records->items.count; i++) {
		const struct tar_record *record = &records->items.items[i];

		if (strcmp(record->key, "GNU.sparse.offset") == 0) {
			if (offset >= 0 || !tar_record_number(record, &offset))
				return -EBADMSG;
		} else if (strcmp(record->key, "GNU.sparse.numbytes") == 0) {
			if (!tar_record_number(record, &length))
				return -EBADMSG;
			err = sparse_add_piece(map, offset, length);
			offset = -1;
		}
	}
	return offset >= 0 ? -EBADMSG : err;
}

int tar_map_records(struct tar_map *map, const struct tar_records *records)
{
	const struct tar_record *list = tar_records_find(records, "GNU.sparse.map");
	int err = sparse_parse_size(map, records, "GNU.sparse.size");

	if (err)
		return err;
	return list ? sparse_parse_list(map, list->value) :
		parse_sparse_pairs(map, records);
}

/* Reads the map before the data, block by block. */
struct sparse_reader {
	struct tar_window *window;
	const unsigned char *block;
	uint64_t next, end; /* of the blocks */
	unsigned at;
};

/* The next decimal number, which a newline ends. */
static int next_number(struct sparse_reader *reader, int64_t *out)
{
	for (*out = 0;; reader->at++) {
		unsigned char byte;

		if (reader->at % TAR_BLOCK == 0) {
			if (reader->next >= reader->end)
				return -EBADMSG;
			reader->block = tar_window_header(reader->window, reader->next);
			if (!reader->block)
				return reader->window->err ? reader->window->err : -ENODATA;
			reader->next += TAR_BLOCK;
			reader->at = 0;
		}
		byte = reader->block[reader->at];
		if (byte == '\n')
			break;
		if (byte < '0' || byte > '9' || __builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, byte - '0', out))
			return -EBADMSG;
	}
	reader->at++;
	return 0;
}

int tar_map_data(struct tar_map *map, struct tar_window *window,
		 const struct tar_records *records, uint64_t *data, uint64_t *stored)
{
	struct sparse_reader reader = { .window = window, .next = *data, .end = *data +
					*stored };
	int64_t count = 0, offset, length;
	int err = sparse_parse_size(map, records, "GNU.sparse.realsize");

	if (!err)
		err = next_number(&reader, &count);
	while (!err && count-- > 0) {
		err = next_number(&reader, &offset);
		if (!err)
			err = next_number(&reader, &length);
		if (!err)
			err = sparse_add_piece(map, offset, length);
	}
	if (!err && reader.next > reader.end)
		err = -EBADMSG;
	if (err)
		return err;
	*stored = reader.end - reader.next;
	*data = reader.next;
	return 0;
}
