/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/ffcv/beton_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

enum {
	VERSION = 2,
	HEADER_BYTES = 24,
	FIELD_BYTES = 1041, /* type, name, 1024 of arguments */
	PIECE_BYTES = 24,
	PAGE_LEAST = 1 << 21,
	TABLE_READ = 1024, /* pieces at a time */
};

/* As NumPy lays out a record of such fields with align=True. */
static const struct {
	const char *name;
	uint8_t bytes, alignment;
} types[] = {
	[BETON_FLOAT] = { "float", 8, 8 },    [BETON_INT] = { "int", 8, 8 },
	[BETON_IMAGE] = { "image", 13, 1 },   [BETON_BYTES] = { "bytes", 16, 1 },
	[BETON_NDARRAY] = { "array", 8, 8 },  [BETON_JSON] = { "JSON", 16, 1 },
	[BETON_TENSOR] = { "tensor", 8, 8 },
};

const char *beton_type_name(enum beton_type type)
{
	return types[type].name;
}

/* ---- Errors ---- */

int beton_no_memory(struct beton_file *file)
{
	return format_no_memory(file->scan->label, file->e);
}

static int beton_refuse_read(struct beton_file *file)
{
	if (file->reader.err)
		return format_unreadable(file->scan->label, file->reader.err, file->e);
	return beton_refuse(file, "is truncated: it ends at byte %" PRIu64 ", before what its header "
				  "says; copy it again", file->scan->base + file->reader.length);
}

static int beton_read_at(struct beton_file *file, void *out, size_t n, uint64_t at)
{
	return leap_reader_read(&file->reader, out, n, at) ? beton_refuse_read(file) : 0;
}

/* ---- The header ---- */

int beton_probe(const unsigned char *head, size_t n)
{
	uint64_t page;

	if (n < HEADER_BYTES || little_endian(head, 2) != VERSION)
		return 0;
	page = little_endian(head + 4, 4);
	return little_endian(head + 2, 2) > 0 && page >= PAGE_LEAST && (page & (page - 1)) == 0 &&
	       little_endian(head + 16, 8) > HEADER_BYTES ? 80 : 0;
}

static int read_header(struct beton_file *file, uint64_t *fields)
{
	unsigned char head[HEADER_BYTES];
	int err = beton_read_at(file, head, sizeof(head), 0);

	if (err)
		return err;
	*fields = little_endian(head + 2, 2);
	file->page_bytes = little_endian(head + 4, 4);
	file->samples = little_endian(head + 8, 8);
	file->pieces_at = little_endian(head + 16, 8);
	file->records_at = HEADER_BYTES + *fields * FIELD_BYTES;
	if (*fields > BETON_FIELDS_MOST)
		return beton_refuse(file, "has %" PRIu64 " fields, more than the %d that are read",
				    *fields, BETON_FIELDS_MOST);
	return 0;
}

static int read_field(struct beton_file *file, uint64_t number)
{
	unsigned char bytes[1 + BETON_NAME_BYTES];
	struct beton_field field = { .name = "" };
	uint64_t alignment;
	int err = beton_read_at(file, bytes, sizeof(bytes), HEADER_BYTES + number * FIELD_BYTES);

	if (err)
		return err;
	memcpy(field.name, bytes + 1, BETON_NAME_BYTES);
	if (bytes[0] >= sizeof(types) / sizeof(*types))
		return beton_refuse(file, "has a field '%s' of FFCV's type %u, whose size only the "
					  "program knows that wrote it: Python's ffcv reads it",
				    field.name, bytes[0]);
	field.type = (enum beton_type)bytes[0];
	alignment = types[field.type].alignment;
	field.at = (uint32_t)((file->record_bytes + alignment - 1) / alignment * alignment);
	file->record_bytes = field.at + types[field.type].bytes;
	return vec_push(&file->fields, field) < 0 ? beton_no_memory(file) : 0;
}

/* A record ends where the next may begin. */
static void align_record(struct beton_file *file)
{
	uint64_t most = 1;

	for (size_t i = 0; i < file->fields.count; i++)
		if (types[file->fields.items[i].type].alignment > most)
			most = types[file->fields.items[i].type].alignment;
	file->record_bytes = (file->record_bytes + most - 1) / most * most;
}

/* Do the records lie before the table, and that within the file? */
static int check_layout(struct beton_file *file)
{
	uint64_t bytes, end;

	if (file->pieces_at > file->reader.length)
		return beton_refuse_read(file);
	if (!checked_mul(file->samples, file->record_bytes, &bytes) ||
	    !checked_add(bytes, file->records_at, &end) || end > file->pieces_at)
		return beton_refuse(file, "is damaged: its %" PRIu64 " samples have no room before "
					  "byte %" PRIu64 "; copy the file again, or write it again",
				    file->samples, file->pieces_at);
	return 0;
}

int beton_open(struct beton_file *file, struct scan *scan, struct error *e)
{
	uint64_t fields = 0;
	int err = 0;

	*file = (struct beton_file){ .scan = scan, .e = e };
	if (leap_reader_open(&file->reader, scan->source, scan->base, scan->length) < 0)
		return beton_no_memory(file);
	err = read_header(file, &fields);
	for (uint64_t i = 0; i < fields && !err; i++)
		err = read_field(file, i);
	if (err)
		return err;
	align_record(file);
	return check_layout(file);
}

void beton_close(struct beton_file *file)
{
	leap_reader_close(&file->reader);
	vec_free(&file->fields);
	vec_free(&file->pieces);
}

int beton_read(struct beton_file *file, uint64_t sample, const struct beton_field *field,
	       void *out, size_t n)
{
	return beton_read_at(file, out, n,
			     file->records_at + sample * file->record_bytes + field->at);
}

/* ---- The table of pieces ---- */

static int by_place(const void *left, const void *right)
{
	const struct beton_piece *a = left, *b = right;

	return (a->at > b->at) - (a->at < b->at);
}

/* Of pieces without bytes there is nothing to find, and the next piece has the same place. */
static void add_piece(struct beton_file *file, const unsigned char *row)
{
	const struct beton_piece piece = { little_endian(row, 8), little_endian(row + 8, 8),
					   little_endian(row + 16, 8) };

	if (piece.size)
		file->pieces.items[file->pieces.count++] = piece;
}

static int read_table(struct beton_file *file, uint64_t count)
{
	unsigned char bytes[TABLE_READ * PIECE_BYTES];
	int err = 0;

	for (uint64_t done = 0; done < count && !err; done += TABLE_READ) {
		size_t n = count - done < TABLE_READ ? (size_t)(count - done) : TABLE_READ;

		err = beton_read_at(file, bytes, n * PIECE_BYTES,
				    file->pieces_at + done * PIECE_BYTES);
		for (size_t i = 0; i < n && !err; i++)
			add_piece(file, bytes + i * PIECE_BYTES);
	}
	return err;
}

int beton_read_pieces(struct beton_file *file)
{
	uint64_t bytes = file->reader.length - file->pieces_at, count = bytes / PIECE_BYTES;
	int err;

	if (file->pieces.items)
		return 0;
	if (bytes % PIECE_BYTES || count / file->fields.count > file->samples)
		return beton_refuse(file, "is damaged: its table of pieces has %" PRIu64 " bytes for %"
					  PRIu64 " samples; copy the file again, or write it again",
				    bytes, file->samples);
	if (vec_reserve(&file->pieces, count + 1) < 0)
		return beton_no_memory(file);
	err = read_table(file, count);
	if (!err)
		qsort(file->pieces.items, file->pieces.count, sizeof(*file->pieces.items),
		      by_place);
	return err;
}

uint64_t beton_piece_size(const struct beton_file *file, uint64_t sample, uint64_t at)
{
	const struct beton_piece key = { .at = at };
	const struct beton_piece *found = bsearch(&key, file->pieces.items, file->pieces.count,
						  sizeof(key), by_place);

	return found && found->sample == sample ? found->size : 0;
}
