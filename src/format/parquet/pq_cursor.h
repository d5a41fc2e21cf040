/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pq_cursor.h: the values of a column, row after row. Private to format/parquet/.
 *
 * Columns without repetition: a value or a null for each row. Bytes are not copied: a value
 * says where they lie, in a page or in the dictionary of its row group.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_PARQUET_PQ_CURSOR_H
#define GRANARY_FORMAT_PARQUET_PQ_CURSOR_H

#include "format/parquet/pq_page.h"
#include "format/parquet/pq_runs.h"

/* Where bytes lie in the body of a page. */
struct pq_place {
	const struct pq_page *page; /* until the next row group, or page */
	uint64_t at, length;
	uint64_t number;            /* of a number: its bits */
};

struct pq_value {
	bool null;
	bool in_dictionary;
	uint64_t number;      /* the bits of a number; a bool is 0 or 1 */
	struct pq_place place; /* of bytes */
	const unsigned char *prefix; /* of bytes with a beginning that is not there, but in the */
	size_t prefix_length;        /* value before; or 0. Until the next value */
};

enum pq_decoder { PQ_FIXED_WIDTH, PQ_PLAIN_BYTES, PQ_BITS, PQ_BOOL_RUNS, PQ_INDEXES, PQ_LENGTHS };

struct pq_cursor {
	struct pq_pages pages;
	struct pq_page dictionary;
	VEC(struct pq_place) entries;  /* of the dictionary */
	struct entry_extent page_extent, dictionary_extent;
	bool page_known, dictionary_known; /* are these extents made? */

	uint64_t left;                 /* values of the page */
	bool all_there;                /* it has no levels: no value is null */
	struct pq_runs levels, indexes;
	enum pq_decoder decoder;
	uint64_t at;                   /* of the next value in the body; of bits, bits */
	struct pq_numbers prefixes, lengths;
	size_t next;                   /* of these */
	unsigned char *before;         /* the value before, of those with prefixes; owned */
	size_t before_length;
};

/* 0, or an error that was told. To be closed in any case. */
int pq_cursor_open(struct pq_cursor *cursor, struct pq_file *file, const struct pq_column *column);
void pq_cursor_close(struct pq_cursor *cursor);

/* Begins with a row group, and then each of its rows: 0, or an error that was told. */
int pq_cursor_begin(struct pq_cursor *cursor, const struct pq_group *group);
int pq_cursor_next(struct pq_cursor *cursor, struct pq_value *out);

/* Reads the first n bytes of a value, its prefix included. */
int pq_cursor_read(struct pq_cursor *cursor, const struct pq_value *value, void *out, size_t n);

/* The bytes of a value, but for its prefix, as an extent. */
int pq_cursor_extent(struct pq_cursor *cursor, const struct pq_value *value,
		     struct entry_extent *out);

#endif
