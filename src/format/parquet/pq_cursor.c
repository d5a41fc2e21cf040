/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/parquet/pq_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

enum { LENGTH_BYTES = 4, DICTIONARY_MOST = 1 << 24, PREFIX_MOST = 1 << 20,
       DELTA_BYTES_EACH = 12, DELTA_BYTES_FREE = 4096 };

int pq_cursor_open(struct pq_cursor *cursor, struct pq_file *file, const struct pq_column *column)
{
	*cursor = (struct pq_cursor){ .left = 0 };
	return pq_pages_open(&cursor->pages, file, column);
}

static void cursor_reset(struct pq_cursor *cursor)
{
	pq_page_free(&cursor->dictionary);
	cursor->entries.count = 0;
	cursor->left = 0;
	cursor->dictionary_known = cursor->page_known = false;
}

void pq_cursor_close(struct pq_cursor *cursor)
{
	cursor_reset(cursor);
	pq_pages_close(&cursor->pages);
	vec_free(&cursor->entries);
	vec_free(&cursor->prefixes);
	vec_free(&cursor->lengths);
	free(cursor->before);
	cursor->before = NULL;
}

int pq_cursor_begin(struct pq_cursor *cursor, const struct pq_group *group)
{
	cursor_reset(cursor);
	return pq_pages_begin(&cursor->pages, group);
}

/* ---- Plain values ---- */

/* Bytes of a number; 0: they are of any length. */
static unsigned width_of(enum pq_type type)
{
	if (type == PQ_INT32 || type == PQ_FLOAT)
		return 4;
	return type == PQ_INT64 || type == PQ_DOUBLE ? 8 : 0;
}

/* The plain value at *at of a page. */
static int read_plain(struct pq_cursor *cursor, const struct pq_page *page, uint64_t *at,
		      struct pq_place *out)
{
	unsigned width = width_of(cursor->pages.column->type);
	unsigned char bytes[8];
	int err = pq_pages_read(&cursor->pages, page, bytes, width ? width : LENGTH_BYTES, *at);

	if (err)
		return err;
	*out = (struct pq_place){ .page = page };
	if (width) {
		out->number = little_endian(bytes, width);
		*at += width;
		return 0;
	}
	out->at = *at + LENGTH_BYTES;
	out->length = little_endian(bytes, LENGTH_BYTES);
	if (!range_within(out->at, out->length, page->length))
		return pq_pages_refuse(&cursor->pages, "has a value that leaves it");
	*at = out->at + out->length;
	return 0;
}

/* ---- Dictionaries ---- */

static int take_dictionary(struct pq_cursor *cursor)
{
	struct pq_page *page = &cursor->pages.page;
	struct pq_place place;
	uint64_t at = 0;

	if (cursor->entries.count || cursor->dictionary.length)
		return pq_pages_refuse(&cursor->pages, "is a second dictionary");
	if ((page->encoding != PQ_ENCODING_PLAIN &&
	     page->encoding != PQ_ENCODING_PLAIN_DICTIONARY) || page->values > DICTIONARY_MOST)
		return pq_pages_refuse(&cursor->pages, "is a dictionary that makes no sense");
	cursor->dictionary = *page;
	*page = (struct pq_page){ .at = page->at };
	for (uint64_t i = 0; i < cursor->dictionary.values; i++) {
		int err = read_plain(cursor, &cursor->dictionary, &at, &place);

		if (err)
			return err;
		if (vec_push(&cursor->entries, place) < 0)
			return pq_no_memory(cursor->pages.file);
	}
	return 0;
}

/* ---- Pages of data ---- */

/* Levels of the first kind lie before the values, behind their length. */
static int begin_levels(struct pq_cursor *cursor)
{
	struct pq_pages *pages = &cursor->pages;
	struct pq_page *page = &pages->page;
	unsigned width = pq_bits_of(pages->column->definition);
	uint64_t length;
	int err;

	cursor->all_there = width == 0;
	cursor->at = 0;
	if (width == 0)
		return 0;
	if (page->kind == PQ_PAGE_DATA_2) {
		pq_runs_begin(&cursor->levels, page->levels, page->levels_length, width);
		return 0;
	}
	err = pq_pages_need(pages, LENGTH_BYTES);
	if (err)
		return err;
	length = little_endian(page->memory, LENGTH_BYTES);
	err = pq_pages_need(pages, LENGTH_BYTES + length);
	cursor->at = LENGTH_BYTES + length;
	return err;
}

/* Of a page whose memory may have moved since. */
static void place_levels(struct pq_cursor *cursor)
{
	const struct pq_page *page = &cursor->pages.page;

	if (!cursor->all_there && page->kind == PQ_PAGE_DATA)
		pq_runs_begin(&cursor->levels, page->memory + LENGTH_BYTES,
			      (size_t)cursor->at - LENGTH_BYTES,
			      pq_bits_of(cursor->pages.column->definition));
}

static int begin_indexes(struct pq_cursor *cursor)
{
	struct pq_page *page = &cursor->pages.page;
	int err = pq_pages_need(&cursor->pages, page->length);

	if (err)
		return err;
	cursor->decoder = PQ_INDEXES;
	place_levels(cursor);
	if (cursor->at == page->length) { /* all are null */
		pq_runs_begin(&cursor->indexes, page->memory, 0, 0);
		return 0;
	}
	pq_runs_begin(&cursor->indexes, page->memory + cursor->at + 1,
		      (size_t)(page->length - cursor->at - 1), page->memory[cursor->at]);
	return 0;
}

static int begin_bools(struct pq_cursor *cursor)
{
	struct pq_page *page = &cursor->pages.page;
	int err = pq_pages_need(&cursor->pages, page->length);

	if (err)
		return err;
	place_levels(cursor);
	if (page->encoding == PQ_ENCODING_PLAIN) {
		cursor->decoder = PQ_BITS;
		cursor->at *= 8;
		return 0;
	}
	cursor->decoder = PQ_BOOL_RUNS;
	if (!range_within(cursor->at, LENGTH_BYTES, page->length))
		return pq_pages_refuse(&cursor->pages, "ends before its values do");
	pq_runs_begin(&cursor->indexes, page->memory + cursor->at + LENGTH_BYTES,
		      (size_t)(page->length - cursor->at - LENGTH_BYTES), 1);
	return 0;
}

/* Lengths at cursor->at, which moves behind them. */
static int read_lengths(struct pq_cursor *cursor, struct pq_numbers *out)
{
	struct pq_pages *pages = &cursor->pages;
	struct pq_page *page = &pages->page;
	uint64_t need = page->length, most;
	size_t used;
	int err;

	if (checked_mul(page->values, DELTA_BYTES_EACH, &most) &&
	    checked_add(most, cursor->at + DELTA_BYTES_FREE, &most) && most < need)
		need = most;
	err = pq_pages_need(pages, need);
	if (err)
		return err;
	out->count = 0;
	err = pq_deltas_read(page->memory + cursor->at, (size_t)(need - cursor->at), page->values,
			     out, &used);
	cursor->at += used;
	if (err == -ENOMEM)
		return pq_no_memory(pages->file);
	return err ? pq_pages_refuse(pages, "has lengths that make no sense") : 0;
}

static int begin_lengths(struct pq_cursor *cursor)
{
	const struct pq_page *page = &cursor->pages.page;
	uint64_t levels = cursor->at, values;
	int err = 0;

	cursor->decoder = PQ_LENGTHS;
	cursor->prefixes.count = cursor->next = 0;
	cursor->before_length = 0;
	if (page->encoding == PQ_ENCODING_DELTA_BYTES)
		err = read_lengths(cursor, &cursor->prefixes);
	if (!err)
		err = read_lengths(cursor, &cursor->lengths);
	if (err)
		return err;
	if (page->encoding == PQ_ENCODING_DELTA_BYTES &&
	    cursor->prefixes.count != cursor->lengths.count)
		return pq_pages_refuse(&cursor->pages, "has other numbers of lengths");
	values = cursor->at;
	cursor->at = levels;
	place_levels(cursor);
	cursor->at = values;
	return 0;
}

static int begin_values(struct pq_cursor *cursor)
{
	enum pq_type type = cursor->pages.column->type;

	switch (cursor->pages.page.encoding) {
	case PQ_ENCODING_DICTIONARY:
	case PQ_ENCODING_PLAIN_DICTIONARY:
		return begin_indexes(cursor);
	case PQ_ENCODING_PLAIN:
		if (type == PQ_BOOLEAN)
			return begin_bools(cursor);
		cursor->decoder = type == PQ_BYTES ? PQ_PLAIN_BYTES : PQ_FIXED_WIDTH;
		place_levels(cursor);
		return 0;
	case PQ_ENCODING_RLE:
		if (type == PQ_BOOLEAN)
			return begin_bools(cursor);
		break;
	case PQ_ENCODING_DELTA_LENGTH:
	case PQ_ENCODING_DELTA_BYTES:
		if (type == PQ_BYTES)
			return begin_lengths(cursor);
		break;
	default:
		break;
	}
	return pq_refuse(cursor->pages.file, "has '%.100s' in an encoding that is not read (%d); write "
					     "it again with pyarrow.parquet, which writes PLAIN and "
					     "dictionaries", cursor->pages.column->name,
			 (int)cursor->pages.page.encoding);
}

static int next_page(struct pq_cursor *cursor)
{
	int r;

	while (cursor->left == 0) {
		r = pq_pages_next(&cursor->pages);
		cursor->page_known = false;
		if (r == 0)
			return pq_pages_refuse(&cursor->pages, "is missing: there are fewer values "
							       "than rows");
		if (r < 0)
			return r;
		if (cursor->pages.page.kind == PQ_PAGE_DICTIONARY) {
			r = take_dictionary(cursor);
		} else {
			cursor->left = cursor->pages.page.values;
			r = begin_levels(cursor);
			if (!r)
				r = begin_values(cursor);
		}
		if (r)
			return r;
	}
	return 0;
}

/* ---- Values ---- */

static int next_index(struct pq_cursor *cursor, struct pq_value *out)
{
	uint32_t i;

	if (pq_runs_next(&cursor->indexes, &i) < 0 || i >= cursor->entries.count)
		return pq_pages_refuse(&cursor->pages, "has a value that its dictionary lacks");
	out->place = cursor->entries.items[i];
	out->in_dictionary = true;
	out->number = out->place.number;
	return 0;
}

static int next_bool(struct pq_cursor *cursor, struct pq_value *out)
{
	const struct pq_page *page = &cursor->pages.page;
	uint32_t value;

	if (cursor->decoder == PQ_BOOL_RUNS) {
		if (pq_runs_next(&cursor->indexes, &value) < 0)
			return pq_pages_refuse(&cursor->pages, "ends before its values do");
		out->number = value;
		return 0;
	}
	if (cursor->at / 8 >= page->length)
		return pq_pages_refuse(&cursor->pages, "ends before its values do");
	out->number = page->memory[cursor->at / 8] >> cursor->at % 8 & 1;
	cursor->at++;
	return 0;
}

/* Keeps a value whose beginning may be that of the next one. */
static int keep_before(struct pq_cursor *cursor, const struct pq_value *value)
{
	size_t n = value->prefix_length;
	uint64_t more = value->place.length;
	unsigned char *grown;

	/* more than a prefix may have is of no use */
	if (more > PREFIX_MOST - n)
		more = PREFIX_MOST - n;
	grown = realloc(cursor->before, n + (size_t)more + 1);
	if (!grown)
		return pq_no_memory(cursor->pages.file);
	cursor->before = grown;
	cursor->before_length = n + (size_t)more;
	return pq_pages_read(&cursor->pages, value->place.page, grown + n, (size_t)more,
			     value->place.at);
}

static int next_length(struct pq_cursor *cursor, struct pq_value *out)
{
	const struct pq_page *page = &cursor->pages.page;
	size_t i = cursor->next++;
	bool prefixed = page->encoding == PQ_ENCODING_DELTA_BYTES;
	int64_t length, prefix;
	int err;

	if (i >= cursor->lengths.count)
		return pq_pages_refuse(&cursor->pages, "has fewer lengths than values");
	length = cursor->lengths.items[i];
	prefix = prefixed ? cursor->prefixes.items[i] : 0;
	if (length < 0 || !range_within(cursor->at, (uint64_t)length, page->length) || prefix < 0 ||
	    (uint64_t)prefix > cursor->before_length)
		return pq_pages_refuse(&cursor->pages, "has a value that leaves it");
	out->place = (struct pq_place){ .page = page, .at = cursor->at, .length = (uint64_t)length };
	cursor->at += (uint64_t)length;
	if (!prefixed)
		return 0;
	out->prefix_length = (size_t)prefix;
	err = keep_before(cursor, out);
	out->prefix = cursor->before;
	return err;
}

/* Takes the level of a value: is it null? */
static int next_level(struct pq_cursor *cursor, bool *null)
{
	uint32_t level;

	*null = false;
	if (cursor->all_there)
		return 0;
	if (pq_runs_next(&cursor->levels, &level) < 0)
		return pq_pages_refuse(&cursor->pages, "has fewer levels than values");
	*null = level != cursor->pages.column->definition;
	return 0;
}

int pq_cursor_next(struct pq_cursor *cursor, struct pq_value *out)
{
	int err = next_page(cursor);

	*out = (struct pq_value){ .null = true };
	if (!err)
		err = next_level(cursor, &out->null);
	if (err)
		return err;
	cursor->left--;
	if (out->null)
		return 0;
	switch (cursor->decoder) {
	case PQ_INDEXES:
		return next_index(cursor, out);
	case PQ_BITS:
	case PQ_BOOL_RUNS:
		return next_bool(cursor, out);
	case PQ_LENGTHS:
		return next_length(cursor, out);
	case PQ_FIXED_WIDTH:
	case PQ_PLAIN_BYTES:
	default:
		err = read_plain(cursor, &cursor->pages.page, &cursor->at, &out->place);
		out->number = out->place.number;
		return err;
	}
}

/* ---- Bytes ---- */

int pq_cursor_read(struct pq_cursor *cursor, const struct pq_value *value, void *out, size_t n)
{
	size_t before = value->prefix_length < n ? value->prefix_length : n;

	if (before)
		memcpy(out, value->prefix, before);
	return n > before ? pq_pages_read(&cursor->pages, value->place.page,
					  (unsigned char *)out + before, n - before,
					  value->place.at) : 0;
}

int pq_cursor_extent(struct pq_cursor *cursor, const struct pq_value *value,
		     struct entry_extent *out)
{
	bool *known = value->in_dictionary ? &cursor->dictionary_known : &cursor->page_known;
	struct entry_extent *page = value->in_dictionary ? &cursor->dictionary_extent :
							   &cursor->page_extent;
	int err = *known ? 0 : pq_pages_extent(&cursor->pages, value->place.page, page);

	if (err)
		return err;
	*known = true;
	*out = (struct entry_extent){ .offset = page->offset + value->place.at,
				      .length = value->place.length, .volume = page->volume };
	return 0;
}
