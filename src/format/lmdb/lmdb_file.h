/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lmdb_file.h: the pages of an LMDB file, each number in them checked.
 *
 * Data versions 1 (all of LMDB 0.9) and 2 (LMDB 1.0, npm's lmdb), of 64-bit little-endian
 * writers; others are refused by name. liblmdb maps its file and trusts it, and reads one
 * of the two versions. Facts: libraries/liblmdb/mdb.c of LMDB, branches 0.9 and 1.0.
 *
 * Offsets count from the start of the scan's window.
 *
 * Threads: a file belongs to one thread.
 */
#ifndef GRANARY_FORMAT_LMDB_FILE_H
#define GRANARY_FORMAT_LMDB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/format.h"

enum {
	LMDB_DEPTH = 32,       /* pages from a root to its leaves, at most */
	LMDB_DB_BYTES = 48,    /* of a struct lmdb_db as it is stored */
	LMDB_INTEGER_KEYS = 8, /* a flag of a database: keys are native integers */
};

#define LMDB_NO_PAGE UINT64_MAX

/* MDB_db: a tree of keys and values. */
struct lmdb_db {
	uint32_t item; /* bytes of a key where all have one size (LEAF2) */
	uint16_t flags;
	uint16_t depth;
	uint64_t entries;
	uint64_t root; /* LMDB_NO_PAGE: it is empty */
};

struct lmdb_file {
	struct scan *scan;
	struct error *e;
	unsigned version; /* 1 or 2 */
	unsigned header;  /* bytes before the contents of a page */
	uint32_t page_size;
	uint64_t pages;	      /* that are in the file, and in use */
	uint64_t transaction; /* the newest one, whose snapshot is shown */
	struct lmdb_db main;
	unsigned char *seen; /* a bit a page: see lmdb_claim_pages */
};

/* Does the file begin as one of LMDB's? */
int lmdb_probe(const unsigned char *head, size_t n);

/* Reads the newest snapshot's place. The caller closes *out in any case. */
int lmdb_file_open(struct scan *scan, struct lmdb_file *out, struct error *e);
void lmdb_file_close(struct lmdb_file *file);

/* A struct lmdb_db in the LMDB_DB_BYTES at `bytes`. */
struct lmdb_db lmdb_db_read(const unsigned char *bytes);

/* A page of a tree into `out`, which has room for it. */
int lmdb_read_page(struct lmdb_file *file, uint64_t number, unsigned char *out);

/* Notes that these pages are in use: a second use of one is damage, or an attack. */
int lmdb_claim_pages(struct lmdb_file *file, uint64_t first, uint64_t count);

/*
 * Has a writer committed so often since the file was opened that pages of the snapshot
 * may have been used again? Then that is the error.
 */
int lmdb_check_snapshot(struct lmdb_file *file);

/* An extent of the window, guarded by the snapshot's transaction (volume/guard.h). */
int lmdb_extent(struct lmdb_file *file, uint64_t at, uint64_t length,
		struct entry_extent *out);

/* The guard that such extents have; number 0: the bytes are in another file, or decoded.
 */
struct volume_snapshot lmdb_snapshot(const struct lmdb_file *file);

/* -EBADMSG and a sentence: page `number` is damaged, and how. */
int lmdb_damaged(const struct lmdb_file *file, uint64_t number, const char *what);
int lmdb_no_memory(const struct lmdb_file *file);

#endif
