/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Page 0 and page 1 are meta pages, which transactions write by turns: the one with the
 * larger number of a transaction describes the newest snapshot. Behind a page's header
 * (16 bytes, in version 2 24) such a page holds magic, version, two numbers, the MDB_db
 * of free pages and that of the main database, the last page and the transaction.
 */
#include "format/lmdb/lmdb_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum {
	META_MAGIC = 0,
	META_VERSION = 4,
	META_FREE_DB = 24,
	META_MAIN_DB = 72,
	META_LAST_PAGE = 120,
	META_TRANSACTION = 128,
	META_BYTES = 136,
	META_HEAD = 24 + META_BYTES, /* with the header of a page */
	PAGE_IS_META = 8,
	PAGE_LEAST = 256,
	PAGE_MOST = 65536,
	ENCRYPTED = 0x2000, /* a flag of the database of free pages */
};

#define MAGIC UINT32_C(0xbeefc0de)

/* 16 TiB in pages of 4 KiB. */
#define PAGES_MOST (UINT64_C(1) << 32)

/* By data version. */
static const unsigned headers[] = {0, 16, 24};

struct meta {
	uint32_t page_size;
	struct lmdb_db free, main;
	uint64_t last_page, transaction;
};

int lmdb_damaged(const struct lmdb_file *file, uint64_t number, const char *what)
{
	return error_set(file->e, ERROR_DATASET, EBADMSG,
			 "'%s' is damaged: %s (page %" PRIu64
			 "); copy it again, or write "
			 "it anew with mdb_copy",
			 file->scan->label, what, number);
}

int lmdb_no_memory(const struct lmdb_file *file)
{
	return format_no_memory(file->scan->label, file->e);
}

struct lmdb_db lmdb_db_read(const unsigned char *bytes)
{
	return (struct lmdb_db){
		.item = (uint32_t)little_endian(bytes, 4),
		.flags = (uint16_t)little_endian(bytes + 4, 2),
		.depth = (uint16_t)little_endian(bytes + 6, 2),
		.entries = little_endian(bytes + 32, 8),
		.root = little_endian(bytes + 40, 8),
	};
}

/* The version that the meta page at `head` says; 0: it is none. */
static unsigned meta_version(const unsigned char *head, size_t n)
{
	for (unsigned version = 1; version <= 2; version++) {
		const unsigned char *meta = head + headers[version];

		if (n >= META_HEAD && little_endian(meta + META_MAGIC, 4) == MAGIC &&
		    little_endian(meta + META_VERSION, 4) == version &&
		    head[headers[version] - 6] & PAGE_IS_META)
			return version;
	}
	return 0;
}

int lmdb_probe(const unsigned char *head, size_t n)
{
	return meta_version(head, n) ? 100 : 0;
}

static int lmdb_read(const struct lmdb_file *file, void *out, size_t n, uint64_t at)
{
	int err = source_pread(file->scan->source, out, n, file->scan->base + at);

	return err ? format_unreadable(file->scan->label, err, file->e) : 0;
}

static int read_meta(const struct lmdb_file *file, uint64_t at, struct meta *out)
{
	unsigned char head[META_HEAD];
	const unsigned char *meta = head + file->header;
	int err = lmdb_read(file, head, sizeof(head), at);

	if (err)
		return err;
	if (meta_version(head, sizeof(head)) != file->version)
		return lmdb_damaged(file, at > 0, "a meta page that is none");
	*out = (struct meta){
		.page_size = (uint32_t)little_endian(meta + META_FREE_DB, 4),
		.free = lmdb_db_read(meta + META_FREE_DB),
		.main = lmdb_db_read(meta + META_MAIN_DB),
		.last_page = little_endian(meta + META_LAST_PAGE, 8),
		.transaction = little_endian(meta + META_TRANSACTION, 8),
	};
	return 0;
}

static int refuse_protected(const struct lmdb_file *file, const char *how)
{
	return error_set(file->e, ERROR_DATASET, EBADMSG,
			 "'%s' is an LMDB database %s, which is not read; write it "
			 "without (mdb_dump and mdb_load)",
			 file->scan->label, how);
}

/* In version 2 the last two bytes of page 0 say how long the checksum of a page is. */
static int refuse_checksums(const struct lmdb_file *file)
{
	unsigned char size[2] = {0};
	int err = file->version == 1 ? 0
				     : lmdb_read(file, size, sizeof(size),
						 file->page_size - sizeof(size));

	if (err)
		return err;
	return size[0] || size[1] ? refuse_protected(file, "with checksums of pages") : 0;
}

static int take_newer(struct lmdb_file *file, const struct meta metas[2])
{
	const struct meta *newest = &metas[metas[1].transaction > metas[0].transaction];

	file->main = newest->main;
	file->transaction = newest->transaction;
	file->pages = file->scan->length / file->page_size;
	if (newest->last_page < file->pages)
		file->pages = newest->last_page + 1;
	if (newest->free.flags & ENCRYPTED)
		return refuse_protected(file, "with encryption");
	if (file->pages > PAGES_MOST)
		return error_set(file->e, ERROR_DATASET, EBADMSG,
				 "'%s' is an LMDB database of more than %" PRIu64
				 " pages; split it",
				 file->scan->label, PAGES_MOST);
	file->seen = calloc((size_t)(file->pages / 8 + 1), 1);
	return file->seen ? 0 : lmdb_no_memory(file);
}

static bool is_page_size(uint32_t size)
{
	return size >= PAGE_LEAST && size <= PAGE_MOST && (size & (size - 1)) == 0;
}

int lmdb_file_open(struct scan *scan, struct lmdb_file *out, struct error *e)
{
	unsigned char head[META_HEAD];
	struct meta metas[2];
	int err;

	*out = (struct lmdb_file){.scan = scan, .e = e};
	if (scan->length < sizeof(head))
		return lmdb_damaged(out, 0, "it ends within its first page");
	err = lmdb_read(out, head, sizeof(head), 0);
	if (err)
		return err;
	out->version = meta_version(head, sizeof(head));
	out->header = headers[out->version];
	err = read_meta(out, 0, &metas[0]);
	if (err)
		return err;
	out->page_size = metas[0].page_size;
	if (!is_page_size(out->page_size) || scan->length < 2 * (uint64_t)out->page_size)
		return lmdb_damaged(out, 0,
				    "a page size that is none, or less than two pages");
	err = read_meta(out, out->page_size, &metas[1]);
	if (!err)
		err = refuse_checksums(out);
	return err ? err : take_newer(out, metas);
}

void lmdb_file_close(struct lmdb_file *file)
{
	free(file->seen);
	file->seen = NULL;
}

int lmdb_read_page(struct lmdb_file *file, uint64_t number, unsigned char *out)
{
	int err;

	if (number < 2 || number >= file->pages)
		return lmdb_damaged(file, number, "a page that the file does not have");
	err = lmdb_read(file, out, file->page_size, number * file->page_size);
	if (err)
		return err;
	if (little_endian(out, 8) != number)
		return lmdb_damaged(file, number, "a page that says another number");
	return 0;
}

int lmdb_claim_pages(struct lmdb_file *file, uint64_t first, uint64_t count)
{
	for (uint64_t page = first; page < first + count; page++) {
		if (file->seen[page / 8] >> page % 8 & 1)
			return lmdb_damaged(file, page, "a page that is used twice");
		file->seen[page / 8] |= (unsigned char)(1 << page % 8);
	}
	return 0;
}

int lmdb_check_snapshot(struct lmdb_file *file)
{
	struct meta metas[2];
	uint64_t newest;
	int err = read_meta(file, 0, &metas[0]);

	if (!err)
		err = read_meta(file, file->page_size, &metas[1]);
	if (err)
		return err;
	newest = metas[metas[1].transaction > metas[0].transaction].transaction;
	if (newest - file->transaction <= 1)
		return 0;
	return error_set(file->e, ERROR_DATASET, EBADMSG,
			 "'%s' was written while it was indexed (transaction %" PRIu64
			 ", and now %" PRIu64
			 "); mount it when its writer is done, or mount a "
			 "copy that mdb_copy makes",
			 file->scan->label, file->transaction, newest);
}

struct volume_snapshot lmdb_snapshot(const struct lmdb_file *file)
{
	if (file->scan->base || file->scan->source_number & VOLUME_ON_STREAM)
		return (struct volume_snapshot){0};
	return (struct volume_snapshot){file->transaction,
					file->header + META_TRANSACTION, file->page_size};
}

int lmdb_extent(struct lmdb_file *file, uint64_t at, uint64_t length,
		struct entry_extent *out)
{
	const struct scan *scan = file->scan;
	const struct volume_snapshot snapshot = lmdb_snapshot(file);
	int err;

	*out = (struct entry_extent){.length = 0};
	if (length == 0)
		return 0;
	err = entries_snapshot_extent(scan->entries, scan->source_number,
				      scan->base + scan->length, &snapshot,
				      scan->base + at, length, out);
	return err == -ENOMEM ? lmdb_no_memory(file)
	       : err ? lmdb_damaged(file, at / file->page_size, "a value beyond the file")
		     : 0;
}
