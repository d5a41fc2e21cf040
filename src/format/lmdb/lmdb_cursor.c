/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A page has a header (16 bytes; in version 2 24, and what follows counts from its end),
 * of which the last 8 are: u16 size of a LEAF2 item, u16 flags, u16 lower, u16 upper. u16
 * offsets of nodes follow, up to `lower`. A node is u16 low, u16 high, u16 flags, u16
 * size of the key, the key, and in a leaf the value, whose size the first two are; in a
 * branch these three are the number of a page.
 */
#include "format/lmdb/lmdb_cursor.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/checked.h"

enum {
	PAGE_BRANCH = 1,
	PAGE_LEAF = 2,
	PAGE_LEAF2 = 0x20,
	PAGE_SUB = 0x40,
	NODE_BYTES = 8,
	NODE_BIG = 1,
	NODE_DATABASE = 2,
	NODE_DUPLICATES = 4,
};

struct lmdb_node {
	uint64_t child; /* of a branch */
	uint64_t size;	/* of a leaf's value */
	unsigned flags;
	const unsigned char *key, *value;
	size_t key_size;
};

void lmdb_cursor_open(struct lmdb_cursor *cursor, struct lmdb_file *file,
		      const struct lmdb_db *db, bool claims)
{
	*cursor = (struct lmdb_cursor){.file = file, .db = *db, .claims = claims};
}

static void close_duplicates(struct lmdb_cursor *cursor)
{
	if (cursor->sub) {
		lmdb_cursor_close(cursor->sub);
		free(cursor->sub);
		cursor->sub = NULL;
	}
	cursor->duplicates.count = cursor->duplicates.next = 0;
}

void lmdb_cursor_close(struct lmdb_cursor *cursor)
{
	close_duplicates(cursor);
	for (unsigned i = 0; i < LMDB_DEPTH; i++)
		free(cursor->pages[i].buffer);
}

/* ---- Pages ---- */

/* Finds the nodes of a page whose bytes, size and place are set. */
static int page_open(const struct lmdb_file *file, struct lmdb_page *page)
{
	unsigned header = file->header, lower;
	size_t base = file->version == 1 ? 0 : header;

	if (page->size < header)
		return lmdb_damaged(file, page->number,
				    "a page within one that is too short");
	page->flags = (unsigned)little_endian(page->bytes + header - 6, 2);
	lower = (unsigned)little_endian(page->bytes + header - 4, 2);
	page->item = page->flags & PAGE_LEAF2
			     ? (size_t)little_endian(page->bytes + header - 8, 2)
			     : 0;
	page->next = 0;
	page->used = 0;
	if (base + lower < header || base + lower > page->size)
		return lmdb_damaged(file, page->number, "nodes that leave their page");
	page->count = (unsigned)(base + lower - header) / 2;
	if (page->flags & PAGE_LEAF2 &&
	    (page->item == 0 || page->count > (page->size - header) / page->item))
		return lmdb_damaged(file, page->number, "items that leave their page");
	return 0;
}

/* The node at hand. */
static int page_read_node(const struct lmdb_file *file, struct lmdb_page *page,
			  struct lmdb_node *out)
{
	size_t base = file->version == 1 ? 0 : file->header;
	size_t first = file->header + 2 * (size_t)page->count;
	size_t at =
		base + (size_t)little_endian(
			       page->bytes + file->header + 2 * (size_t)page->next, 2);
	const unsigned char *node = page->bytes + at;
	uint64_t low, inside;

	if (at < first || !range_within(at, NODE_BYTES, page->size))
		return lmdb_damaged(file, page->number, "a node outside its page");
	low = little_endian(node, 4);
	out->flags = (unsigned)little_endian(node + 4, 2);
	out->key_size = (size_t)little_endian(node + 6, 2);
	out->key = node + NODE_BYTES;
	out->value = out->key + out->key_size;
	out->size = low;
	out->child = low | (uint64_t)out->flags << 32;
	inside = page->flags & PAGE_BRANCH ? 0 : out->size;
	if (!(page->flags & PAGE_BRANCH) && out->flags & NODE_BIG)
		inside = file->version == 1 ? 8 : 24;
	inside += NODE_BYTES + out->key_size;
	page->used += inside;
	if (!range_within(at, inside, page->size) || page->used > page->size)
		return lmdb_damaged(file, page->number,
				    "a node that leaves its page, or "
				    "lies over another");
	page->next++;
	return 0;
}

/* Goes down to a page: of a tree of n levels only the last ones are leaves. */
static int cursor_push(struct lmdb_cursor *cursor, uint64_t number)
{
	struct lmdb_file *file = cursor->file;
	struct lmdb_page *page = &cursor->pages[cursor->depth];
	bool leaf = cursor->depth + 1 == cursor->db.depth;
	int err;

	if (!page->buffer)
		page->buffer = malloc(file->page_size);
	if (!page->buffer)
		return lmdb_no_memory(file);
	page->bytes = page->buffer;
	page->size = file->page_size;
	page->number = number;
	page->at = number * file->page_size;
	err = lmdb_read_page(file, number, page->buffer);
	if (!err && cursor->claims)
		err = lmdb_claim_pages(file, number, 1);
	if (!err)
		err = page_open(file, page);
	if (err)
		return err;
	if (page->count == 0 || !(page->flags & PAGE_LEAF) != !leaf ||
	    !(page->flags & PAGE_BRANCH) != leaf)
		return lmdb_damaged(file, number, "a page of the wrong kind in its tree");
	cursor->depth++;
	return 0;
}

static int cursor_start(struct lmdb_cursor *cursor)
{
	cursor->started = true;
	if (cursor->db.root == LMDB_NO_PAGE)
		return 0;
	if (cursor->db.depth == 0 || cursor->db.depth > LMDB_DEPTH)
		return lmdb_damaged(cursor->file, cursor->db.root,
				    "a tree without levels, or with too many");
	return cursor_push(cursor, cursor->db.root);
}

/* ---- Values ---- */

/* A value in pages of its own, of which only the first has a header. */
static int find_big_value(struct lmdb_cursor *cursor, const struct lmdb_node *node,
			  struct lmdb_item *out)
{
	struct lmdb_file *file = cursor->file;
	uint64_t first = little_endian(node->value, 8);
	uint64_t count =
		(file->header + node->size + file->page_size - 1) / file->page_size;

	if (first < 2 || !range_within(first, count, file->pages))
		return lmdb_damaged(file, first, "a value beyond the end of the file");
	out->value = NULL;
	out->at = first * file->page_size + file->header;
	return cursor->claims ? lmdb_claim_pages(file, first, count) : 0;
}

/* Each leaf has an item, so that a walk that claims no pages has an end, too. */
static int refuse_no_values(const struct lmdb_cursor *cursor,
			    const struct lmdb_page *page)
{
	return lmdb_damaged(cursor->file, page->number, "a key without a value");
}

static int open_duplicates(struct lmdb_cursor *cursor, const struct lmdb_page *page,
			   const struct lmdb_node *node)
{
	struct lmdb_page *inner = &cursor->duplicates;
	struct lmdb_db db;
	int err;

	cursor->key = node->key;
	cursor->key_size = node->key_size;
	cursor->number = 0;
	if (cursor->inner)
		return lmdb_damaged(cursor->file, page->number, "values within a value");
	if (!(node->flags & NODE_DATABASE)) {
		*inner = (struct lmdb_page){
			.bytes = node->value,
			.size = node->size,
			.number = page->number,
			.at = page->at + (uint64_t)(node->value - page->bytes),
		};
		err = page_open(cursor->file, inner);
		return err || inner->count ? err : refuse_no_values(cursor, page);
	}
	if (node->size != LMDB_DB_BYTES)
		return lmdb_damaged(cursor->file, page->number,
				    "a tree of values that is none");
	cursor->sub = malloc(sizeof(*cursor->sub));
	if (!cursor->sub)
		return lmdb_no_memory(cursor->file);
	db = lmdb_db_read(node->value);
	lmdb_cursor_open(cursor->sub, cursor->file, &db, cursor->claims);
	cursor->sub->inner = true;
	return db.root == LMDB_NO_PAGE ? refuse_no_values(cursor, page) : 0;
}

/* The items of a LEAF2 page, or the keys of nodes. */
static int page_next_key(const struct lmdb_file *file, struct lmdb_page *page,
			 const unsigned char **key, size_t *size)
{
	struct lmdb_node node;
	int err;

	if (page->item) {
		*key = page->bytes + file->header + page->item * page->next++;
		*size = page->item;
		return 0;
	}
	err = page_read_node(file, page, &node);
	*key = node.key;
	*size = node.key_size;
	return err;
}

/* The next value of the key at hand: 1; 0: there are no more. */
static int next_duplicate(struct lmdb_cursor *cursor, struct lmdb_item *out)
{
	struct lmdb_page *inner = &cursor->duplicates;
	int more = 1;

	if (cursor->sub) {
		more = lmdb_cursor_next(cursor->sub, out);
		out->value = out->key;
		out->size = out->key_size;
		out->is_database = false;
		if (more > 0)
			inner = &cursor->sub->pages[cursor->sub->depth - 1];
	} else if (inner->next < inner->count) {
		size_t size = 0;
		int err;

		*out = (struct lmdb_item){0};
		err = page_next_key(cursor->file, inner, &out->value, &size);
		out->size = size;
		if (err)
			return err;
	} else {
		more = 0;
	}
	if (more <= 0) {
		close_duplicates(cursor);
		return more;
	}
	out->at = inner->at + (uint64_t)(out->value - inner->bytes);
	out->key = cursor->key;
	out->key_size = cursor->key_size;
	out->is_duplicate = true;
	out->number = cursor->number++;
	return 1;
}

/* An item of a leaf: 1; 0: its values are to be visited one by one. */
static int visit_node(struct lmdb_cursor *cursor, struct lmdb_page *page,
		      struct lmdb_item *out)
{
	struct lmdb_node node;
	int err = page_read_node(cursor->file, page, &node);

	if (err)
		return err;
	/* the bytes of a large value are not in the page */
	if (node.flags & NODE_BIG && node.flags & (NODE_DUPLICATES | NODE_DATABASE))
		return lmdb_damaged(cursor->file, page->number,
				    "a large value that is a tree");
	if (node.flags & NODE_DUPLICATES)
		return open_duplicates(cursor, page, &node);
	*out = (struct lmdb_item){
		.key = node.key,
		.key_size = node.key_size,
		.value = node.value,
		.at = page->at + (uint64_t)(node.value - page->bytes),
		.size = node.size,
		.is_database = node.flags & NODE_DATABASE,
	};
	if (node.flags & NODE_BIG)
		err = find_big_value(cursor, &node, out);
	else if (out->is_database && node.size != LMDB_DB_BYTES)
		err = lmdb_damaged(cursor->file, page->number,
				   "a named database that is none");
	else if (out->is_database)
		out->db = lmdb_db_read(node.value);
	return err ? err : 1;
}

/* An item of a page of a tree of duplicates: a key without a value. */
static int visit_key(struct lmdb_cursor *cursor, struct lmdb_page *page,
		     struct lmdb_item *out)
{
	int err;

	*out = (struct lmdb_item){0};
	err = page_next_key(cursor->file, page, &out->key, &out->key_size);
	return err ? err : 1;
}

/* One step: 1 and an item, 0 without one, or an error. */
static int cursor_step(struct lmdb_cursor *cursor, struct lmdb_item *out)
{
	struct lmdb_page *page = &cursor->pages[cursor->depth - 1];
	struct lmdb_node node;
	int err;

	if (page->next == page->count) {
		cursor->depth--;
		return 0;
	}
	if (page->item)
		return visit_key(cursor, page, out);
	if (page->flags & PAGE_LEAF)
		return visit_node(cursor, page, out);
	err = page_read_node(cursor->file, page, &node);
	return err ? err : cursor_push(cursor, node.child);
}

int lmdb_cursor_next(struct lmdb_cursor *cursor, struct lmdb_item *out)
{
	int more = cursor->started ? 0 : cursor_start(cursor);

	while (!more) {
		if (cursor->sub || cursor->duplicates.next < cursor->duplicates.count) {
			more = next_duplicate(cursor, out);
			continue;
		}
		if (cursor->depth == 0)
			return 0;
		more = cursor_step(cursor, out);
	}
	return more;
}
