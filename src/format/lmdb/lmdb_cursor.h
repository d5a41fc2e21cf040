/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lmdb_cursor.h: the keys and values of one database of an LMDB file, in their order.
 *
 * Reads branch and leaf pages only: a large value lies in pages of its own, which its
 * node names. Of a key with several values (DUPSORT) each value is an item.
 *
 * Threads: a cursor belongs to one thread.
 */
#ifndef GRANARY_FORMAT_LMDB_CURSOR_H
#define GRANARY_FORMAT_LMDB_CURSOR_H

#include "format/lmdb/lmdb_file.h"

/* `key` and `value` are valid until the next call. */
struct lmdb_item {
	const unsigned char *key;
	size_t key_size;
	const unsigned char
		*value;	   /* NULL: it is in pages of its own, which were not read */
	uint64_t at, size; /* of the value */
	bool is_database;  /* the value is `db`, and the key its name */
	struct lmdb_db db;
	bool is_duplicate; /* one of several values of the key */
	uint64_t number;   /* of a duplicate, from 0 */
};

/* Nodes of a page, of a sub-page within one, or items of a page that has no nodes
 * (LEAF2). */
struct lmdb_page {
	unsigned char *buffer; /* owned; NULL of a sub-page */
	const unsigned char *bytes;
	uint64_t at;	 /* where it begins in the window */
	uint64_t number; /* for messages */
	size_t size;
	unsigned flags;
	size_t item; /* bytes of an item; 0: it has nodes */
	unsigned next, count;
	size_t used; /* bytes of nodes so far: they do not overlap */
};

struct lmdb_cursor {
	struct lmdb_file *file;
	struct lmdb_db db;
	bool claims; /* pages are claimed: each belongs to one database */
	bool inner;  /* it has the values of one key of another cursor */
	bool started;
	unsigned depth; /* pages from the root to the one at hand */
	struct lmdb_page pages[LMDB_DEPTH];

	/* The values of the key at hand, if it has several */
	struct lmdb_page duplicates; /* in a sub-page, */
	struct lmdb_cursor *sub;     /* or a tree of their own: their keys */
	const unsigned char *key;
	size_t key_size;
	uint64_t number;
};

/* A walk that is not the database's only one claims no pages. */
void lmdb_cursor_open(struct lmdb_cursor *cursor, struct lmdb_file *file,
		      const struct lmdb_db *db, bool claims);
void lmdb_cursor_close(struct lmdb_cursor *cursor);

/* The next item: 1; 0 at the end; or an error, with its sentence. */
int lmdb_cursor_next(struct lmdb_cursor *cursor, struct lmdb_item *out);

#endif
