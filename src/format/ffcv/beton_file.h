/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * beton_file.h: the fields and samples of one FFCV file, by their numbers. Private to
 * format/ffcv/.
 *
 * The file is a header, a description of each field, a record of one size for each sample,
 * pages of data, and a table of all pieces of data: u64 sample, u64 place, u64 size, in no
 * order. A record has each field's numbers, or where its data are. Facts: ffcv, version 1.0.2,
 * ffcv/types.py, ffcv/writer.py, ffcv/memory_allocator.py and ffcv/fields/.
 *
 * Positions are bytes from the window's start. Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_FFCV_BETON_FILE_H
#define GRANARY_FORMAT_FFCV_BETON_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "format/format.h"
#include "format/leap_reader.h"

enum { BETON_NAME_BYTES = 16, BETON_FIELDS_MOST = 1024 };

enum beton_type { BETON_FLOAT, BETON_INT, BETON_IMAGE, BETON_BYTES, BETON_NDARRAY, BETON_JSON,
		  BETON_TENSOR };

struct beton_field {
	char name[BETON_NAME_BYTES + 1];
	enum beton_type type;
	uint32_t at; /* in each record */
};

/* A piece of data. */
struct beton_piece {
	uint64_t sample, at, size;
};

struct beton_file {
	struct scan *scan;
	struct error *e;
	struct leap_reader reader;
	VEC(struct beton_field) fields;
	uint64_t samples, record_bytes, records_at;
	uint64_t pieces_at; /* the table, which ends with the file */
	uint64_t page_bytes;
	VEC(struct beton_piece) pieces; /* by their places */
};

/* How sure, by a file's first bytes: as format.probe. */
int beton_probe(const unsigned char *head, size_t n);

/* Reads the header and the fields. To be closed in any case: 0, or an error that was told. */
int beton_open(struct beton_file *file, struct scan *scan, struct error *e);
void beton_close(struct beton_file *file);

/* n bytes of a field in the record of a sample: 0, or an error that was told. */
int beton_read(struct beton_file *file, uint64_t sample, const struct beton_field *field,
	       void *out, size_t n);

/* Reads the table of pieces, once. 0, or an error that was told. */
int beton_read_pieces(struct beton_file *file);

/* The size of a sample's piece of data; 0: there is none at that place. */
uint64_t beton_piece_size(const struct beton_file *file, uint64_t sample, uint64_t at);

/* "image", "int": of a field's type. */
const char *beton_type_name(enum beton_type type);

/* "'x' WHAT". -EBADMSG. */
#define beton_refuse(file, ...) format_refuse((file)->scan, (file)->e, __VA_ARGS__)
int beton_no_memory(struct beton_file *file);

#endif
