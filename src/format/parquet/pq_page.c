/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/parquet/pq_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "codec/codec.h"
#include "format/parquet/thrift.h"

/* Fields of PageHeader and what it holds. */
enum { PAGE_TYPE = 1, PAGE_PLAIN = 2, PAGE_STORED = 3, PAGE_DATA = 5, PAGE_DICTIONARY = 7,
       PAGE_DATA_2 = 8 };
enum { DATA_VALUES = 1, DATA_ENCODING = 2 };
enum { DATA_2_VALUES = 1, DATA_2_ENCODING = 4, DATA_2_DEFINITION = 5, DATA_2_REPETITION = 6,
       DATA_2_COMPRESSED = 7 };

enum {
	HEADER_BYTES = 128,          /* mostly */
	HEADER_MOST = 4 << 20,       /* with the least and the largest value */
	PLAIN_MOST = 512 << 20,
	RATIO_MOST = 1024, RATIO_FREE = 1 << 20,
	GZIP_HEAD = 10,
};

struct page_header {
	int64_t type, plain, stored, values, encoding, definition, repetition;
	bool compressed; /* of the second kind */
	bool second;
};

/* ---- Headers ---- */

static int visit_data(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct page_header *header = context;

	(void)thrift;
	if (field->id == DATA_VALUES)
		header->values = field->number;
	else if (field->id == DATA_ENCODING)
		header->encoding = field->number;
	return 0;
}

static int visit_data_2(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct page_header *header = context;

	(void)thrift;
	if (field->id == DATA_2_VALUES)
		header->values = field->number;
	else if (field->id == DATA_2_ENCODING)
		header->encoding = field->number;
	else if (field->id == DATA_2_DEFINITION)
		header->definition = field->number;
	else if (field->id == DATA_2_REPETITION)
		header->repetition = field->number;
	else if (field->id == DATA_2_COMPRESSED)
		header->compressed = field->number;
	return 0;
}

static int visit_header(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct page_header *header = context;
	int err;

	if (field->type != THRIFT_STRUCT) {
		if (field->id == PAGE_TYPE)
			header->type = field->number;
		else if (field->id == PAGE_PLAIN)
			header->plain = field->number;
		else if (field->id == PAGE_STORED)
			header->stored = field->number;
		return 0;
	}
	if (field->id != PAGE_DATA && field->id != PAGE_DICTIONARY && field->id != PAGE_DATA_2)
		return 0;
	header->second = field->id == PAGE_DATA_2;
	err = thrift_read_struct(thrift, header->second ? visit_data_2 : visit_data, header);
	return err ? err : 1;
}

/* A header within the n bytes at pages->at: its length, 0 where it makes no sense, or an
   error of the reader. */
static ssize_t try_header(struct pq_pages *pages, size_t n, struct page_header *header)
{
	CLEANUP(cleanup_free) unsigned char *bytes = malloc(n);
	struct thrift thrift;
	int err = bytes ? leap_reader_read(&pages->reader, bytes, n, pages->at) : -ENOMEM;

	if (err)
		return err;
	thrift = (struct thrift){ bytes, bytes + n, 0 };
	*header = (struct page_header){ .type = -1, .encoding = -1, .compressed = true };
	err = thrift_read_struct(&thrift, visit_header, header);
	return err ? 0 : thrift.at - bytes;
}

/* Reads the header at pages->at: its length, or an error that was told. */
static ssize_t read_header(struct pq_pages *pages, struct page_header *header)
{
	uint64_t left = pages->end - pages->at;

	for (uint64_t room = HEADER_BYTES;; room *= 8) {
		ssize_t used = try_header(pages, (size_t)(left < room ? left : room), header);

		pages->file->reader.err = pages->reader.err;
		if (used)
			return used > 0 ? used : pq_refuse_read(pages->file, (int)used);
		if (left <= room || room >= HEADER_MOST)
			return pq_pages_refuse(pages, "has a header that makes no sense");
	}
}

int pq_pages_refuse(struct pq_pages *pages, const char *what)
{
	return pq_refuse_damaged(pages->file, "the page of '%.100s' at byte %" PRIu64 " %s",
				 pages->column->name,
				 pages->file->scan->base + pages->page.at, what);
}

/* ---- Chunks ---- */

int pq_pages_open(struct pq_pages *pages, struct pq_file *file, const struct pq_column *column)
{
	*pages = (struct pq_pages){ .file = file, .column = column };
	return leap_reader_open(&pages->reader, file->scan->source, file->scan->base,
				file->scan->length) < 0 ? pq_no_memory(file) : 0;
}

void pq_page_free(struct pq_page *page)
{
	free(page->memory);
	free(page->levels);
	*page = (struct pq_page){ .kind = PQ_PAGE_DATA };
}

void pq_pages_close(struct pq_pages *pages)
{
	pq_page_free(&pages->page);
	leap_reader_close(&pages->reader);
}

/* The codecs of a page's bytes; NULL: there are none for it. */
static const uint32_t *steps_of(enum pq_codec codec)
{
	static const uint32_t steps[][CODEC_CHAIN_MOST] = {
		[PQ_SNAPPY] = { CODEC_STEP(CODEC_SNAPPY, 0) },
		[PQ_GZIP] = { CODEC_STEP(CODEC_DEFLATE, 0) },
		[PQ_ZSTD] = { CODEC_STEP(CODEC_ZSTD, 0) },
		[PQ_LZ4_RAW] = { CODEC_STEP(CODEC_LZ4, 0) },
		[PQ_CODECS] = { 0 },
	};

	return steps[codec][0] ? steps[codec] : NULL;
}

static int check_codec(struct pq_pages *pages)
{
	enum pq_codec codec = pages->chunk->codec;
	const uint32_t *steps = steps_of(codec);
	const char *needs;

	if (codec == PQ_PLAIN)
		return 0;
	if (!steps)
		return pq_refuse(pages->file, "has '%.100s' compressed with %s, which is not read: write "
					      "it again with pyarrow.parquet, compression='zstd', or "
					      "'none'", pages->column->name, pq_codec_name(codec));
	needs = codec_chain_needs(steps);
	return needs ? pq_refuse(pages->file, "cannot be read (%s): this granaryfs was built without "
					      "%s", pq_codec_name(codec), needs) : 0;
}

int pq_pages_begin(struct pq_pages *pages, const struct pq_group *group)
{
	const struct pq_chunk *chunk = pq_file_chunk(pages->file, group, pages->column);

	pages->chunk = chunk;
	pages->at = chunk->at;
	if (chunk->encrypted)
		return pq_refuse(pages->file, "has '%.100s' encrypted, which is not read; write it "
					      "again without encryption (pyarrow.parquet, with its "
					      "key)", pages->column->name);
	if (chunk->elsewhere)
		return pq_refuse(pages->file, "has '%.100s' in another file, which is not read; write "
					      "it again as one file", pages->column->name);
	if (!checked_add(chunk->at, chunk->length, &pages->end) || chunk->at < 4 ||
	    pages->end > pages->file->footer_at)
		return pq_refuse_damaged(pages->file, "'%.100s' has pages outside of it",
					 pages->column->name);
	return check_codec(pages);
}

/* ---- Bodies ---- */

int pq_pages_read(struct pq_pages *pages, const struct pq_page *page, void *out, size_t n,
		  uint64_t at)
{
	int err;

	if (!range_within(at, n, page->length))
		return pq_pages_refuse(pages, "has values outside of it");
	if (at + n <= page->held) {
		memcpy(out, page->memory + at, n);
		return 0;
	}
	err = leap_reader_read(&pages->reader, out, n, page->stored + at);
	pages->file->reader.err = pages->reader.err;
	return err ? pq_refuse_read(pages->file, err) : 0;
}

int pq_pages_need(struct pq_pages *pages, uint64_t n)
{
	struct pq_page *page = &pages->page;
	unsigned char *grown;
	int err;

	if (n > page->length || n > PLAIN_MOST)
		return pq_pages_refuse(pages, "ends before its levels or numbers do");
	if (n <= page->held)
		return 0;
	grown = realloc(page->memory, (size_t)n);
	if (!grown)
		return pq_no_memory(pages->file);
	page->memory = grown;
	err = leap_reader_read(&pages->reader, grown, (size_t)n, page->stored);
	pages->file->reader.err = pages->reader.err;
	if (err)
		return pq_refuse_read(pages->file, err);
	page->held = (size_t)n;
	return 0;
}

/* Decodes a compressed body. */
static int decode_body(struct pq_pages *pages)
{
	struct pq_page *page = &pages->page;
	unsigned char *stored = malloc((size_t)page->stored_length);
	ssize_t n = -ENOMEM;
	int err;

	page->memory = malloc(page->length ? (size_t)page->length : 1);
	err = !stored || !page->memory ? -ENOMEM :
	      leap_reader_read(&pages->reader, stored, (size_t)page->stored_length, page->stored);
	if (!err)
		n = codec_chain_decode(steps_of(pages->chunk->codec), 0, stored,
				       (size_t)page->stored_length, page->memory,
				       (size_t)page->length);
	free(stored);
	pages->file->reader.err = pages->reader.err;
	if (err || n == -ENOMEM)
		return pq_refuse_read(pages->file, err ? err : -ENOMEM);
	if (n < 0 || (uint64_t)n != page->length)
		return pq_pages_refuse(pages, "cannot be decoded");
	page->held = (size_t)page->length;
	return 0;
}

/* A page of gzip is a member of it: raw deflate behind its head. */
static int strip_gzip(struct pq_pages *pages)
{
	struct pq_page *page = &pages->page;
	unsigned char head[GZIP_HEAD];
	int err = page->stored_length <= GZIP_HEAD ? -EBADMSG :
		  leap_reader_read(&pages->reader, head, sizeof(head), page->stored);

	pages->file->reader.err = pages->reader.err;
	if (err && err != -EBADMSG)
		return pq_refuse_read(pages->file, err);
	if (err || head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 || head[3] != 0)
		return pq_pages_refuse(pages, "is no plain member of gzip");
	page->stored += GZIP_HEAD;
	page->stored_length -= GZIP_HEAD;
	return 0;
}

/* Levels of the second kind are not compressed, and before the values. */
static int take_levels(struct pq_pages *pages, const struct page_header *header)
{
	struct pq_page *page = &pages->page;
	uint64_t levels = (uint64_t)header->definition + (uint64_t)header->repetition;
	int err;

	if (header->definition < 0 || header->repetition < 0 || levels > page->stored_length ||
	    levels > page->length)
		return pq_pages_refuse(pages, "has levels that are longer than it is");
	page->levels_length = (size_t)header->definition;
	page->levels = malloc(page->levels_length + 1);
	if (!page->levels)
		return pq_no_memory(pages->file);
	err = leap_reader_read(&pages->reader, page->levels, page->levels_length,
			       page->stored + (uint64_t)header->repetition);
	pages->file->reader.err = pages->reader.err;
	if (err)
		return pq_refuse_read(pages->file, err);
	page->stored += levels;
	page->stored_length -= levels;
	page->length -= levels;
	return 0;
}

/* The sizes of a body: an uncompressed one has one, a bomb is much smaller than it says. */
static int check_sizes(struct pq_pages *pages, const struct page_header *header)
{
	uint64_t left = pages->end - pages->at;
	uint64_t plain = (uint64_t)header->plain, stored = (uint64_t)header->stored;

	if (header->plain < 0 || header->stored < 0 || header->values < 0 || stored > left)
		return pq_pages_refuse(pages, "has a size or a number of values that cannot be");
	if (pages->chunk->codec != PQ_PLAIN &&
	    (plain > PLAIN_MOST || plain > stored * RATIO_MOST + RATIO_FREE))
		return pq_pages_refuse(pages, "says that it unpacks to more than it may");
	return 0;
}

static int load_body(struct pq_pages *pages, const struct page_header *header)
{
	struct pq_page *page = &pages->page;
	int err = check_sizes(pages, header);

	if (err)
		return err;
	page->stored = pages->at;
	page->stored_length = (uint64_t)header->stored;
	pages->at += page->stored_length;
	page->length = (uint64_t)header->plain;
	page->coded = pages->chunk->codec != PQ_PLAIN && (!header->second || header->compressed);
	if (!page->coded)
		page->length = page->stored_length;
	if (header->second)
		err = take_levels(pages, header);
	if (err)
		return err;
	if (page->coded && page->length == 0)
		page->coded = false;
	if (page->coded && pages->chunk->codec == PQ_GZIP)
		err = strip_gzip(pages);
	return err || !page->coded ? err : decode_body(pages);
}

int pq_pages_next(struct pq_pages *pages)
{
	struct page_header header;
	ssize_t n;
	int err;

	for (;;) {
		pq_page_free(&pages->page);
		pages->page.at = pages->at;
		if (pages->at >= pages->end)
			return 0;
		n = read_header(pages, &header);
		if (n < 0)
			return (int)n;
		pages->at += (uint64_t)n;
		if (header.type != PQ_PAGE_INDEX)
			break;
		if (header.stored < 0 || (uint64_t)header.stored > pages->end - pages->at)
			return pq_pages_refuse(pages, "has a size that cannot be");
		pages->at += (uint64_t)header.stored;
	}
	if (header.type != PQ_PAGE_DATA && header.type != PQ_PAGE_DICTIONARY &&
	    header.type != PQ_PAGE_DATA_2)
		return pq_pages_refuse(pages, "is of no kind that is known");
	pages->page.kind = (enum pq_page_kind)header.type;
	pages->page.encoding = header.encoding;
	pages->page.values = (uint64_t)header.values;
	header.second = header.type == PQ_PAGE_DATA_2;
	err = load_body(pages, &header);
	return err ? err : 1;
}

int pq_pages_extent(struct pq_pages *pages, const struct pq_page *page, struct entry_extent *out)
{
	struct scan *scan = pages->file->scan;
	struct entry_chunk chunk = {
		.source = scan->source_number, .source_size = scan->base + scan->length,
		.codecs = page->coded ? steps_of(pages->chunk->codec) : NULL,
		.stored_at = scan->base + page->stored, .stored_length = page->stored_length,
		.plain = page->length,
	};
	int err;

	*out = (struct entry_extent){ 0 };
	if (page->length == 0)
		return 0;
	err = page->coded ? entries_coded_extent(scan->entries, &chunk, out) :
			    entries_raw_extent(scan->entries, scan->source_number,
					       chunk.source_size, chunk.stored_at, page->length,
					       out);
	if (err == -EBADMSG)
		return pq_pages_refuse(pages, "is larger than a chunk may be");
	return err ? pq_no_memory(pages->file) : 0;
}
