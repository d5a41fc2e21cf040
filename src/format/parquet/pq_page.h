/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pq_page.h: the pages of a column in a row group, one after the other. Private to
 * format/parquet/.
 *
 * A compressed page is decoded into memory. Of one without a codec only what is asked for is
 * read, for it may hold images.
 *
 * Threads: one at a time.
 */
#ifndef GRANARY_FORMAT_PARQUET_PQ_PAGE_H
#define GRANARY_FORMAT_PARQUET_PQ_PAGE_H

#include "format/parquet/pq_file.h"

enum pq_page_kind { PQ_PAGE_DATA = 0, PQ_PAGE_INDEX = 1, PQ_PAGE_DICTIONARY = 2, PQ_PAGE_DATA_2 = 3 };

enum pq_encoding {
	PQ_ENCODING_PLAIN = 0, PQ_ENCODING_PLAIN_DICTIONARY = 2, PQ_ENCODING_RLE = 3,
	PQ_ENCODING_DELTA_LENGTH = 6, PQ_ENCODING_DELTA_BYTES = 7, PQ_ENCODING_DICTIONARY = 8,
};

/* The body of a page, without the levels that the second kind has before it. */
struct pq_page {
	enum pq_page_kind kind;
	int64_t encoding;
	uint64_t values;          /* nulls included */
	uint64_t at;              /* of the header */
	uint64_t length;          /* of the body, decoded */
	uint64_t stored, stored_length; /* where it is */
	bool coded;
	unsigned char *levels;    /* of the second kind: of definition; owned */
	size_t levels_length;
	unsigned char *memory;    /* the first `held` bytes; owned */
	size_t held;
};

/* Where the pages of a column chunk are gone through. */
struct pq_pages {
	struct pq_file *file;
	const struct pq_column *column;
	const struct pq_chunk *chunk;
	struct leap_reader reader; /* its own: columns are read side by side */
	uint64_t at, end;
	struct pq_page page;      /* the one at hand */
};

/* 0 or an error that was told. To be closed in any case. */
int pq_pages_open(struct pq_pages *pages, struct pq_file *file, const struct pq_column *column);
void pq_pages_close(struct pq_pages *pages);

/* Begins with a row group. 0, or an error that was told, of a page that is not read. */
int pq_pages_begin(struct pq_pages *pages, const struct pq_group *group);

/* The next page: 1, 0 behind the last, or an error that was told. */
int pq_pages_next(struct pq_pages *pages);

/* Has the first n bytes of the page's body in page.memory. 0, or an error that was told. */
int pq_pages_need(struct pq_pages *pages, uint64_t n);

/* Bytes of the body, in memory or not: 0, or an error that was told. */
int pq_pages_read(struct pq_pages *pages, const struct pq_page *page, void *out, size_t n,
		  uint64_t at);

/* The bytes of a page's body as an extent: 0, or an error that was told. */
int pq_pages_extent(struct pq_pages *pages, const struct pq_page *page,
		    struct entry_extent *out);

/* "page at byte AT of 'COLUMN' WHAT". */
int pq_pages_refuse(struct pq_pages *pages, const char *what);

void pq_page_free(struct pq_page *page);

#endif
