/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/arrow/ipc.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "build/findings.h"

#define MAGIC "ARROW1"
#define CONTINUES UINT32_C(0xffffffff)

enum {
	MAGIC_BYTES = 6,
	HEAD_BYTES = 8,       /* of a file: its magic, padded */
	TAIL_BYTES = 10,      /* of a file: its footer's length, and its magic */
	BLOCK_BYTES = 24,     /* in the footer: a record batch */
	NODE_BYTES = 16,
	BUFFER_BYTES = 16,
	METADATA_MOST = 64 << 20, /* bytes, of one message */
	FOOTER_MOST = 512 << 20,
};

/* Fields of the tables Message, RecordBatch and Footer */
enum { MESSAGE_VERSION = 0, MESSAGE_KIND = 1, MESSAGE_HEADER = 2, MESSAGE_BODY = 3 };
enum { BATCH_ROWS = 0, BATCH_NODES = 1, BATCH_BUFFERS = 2, BATCH_COMPRESSION = 3,
       BATCH_VARIADIC = 4 };
enum { FOOTER_VERSION = 0, FOOTER_SCHEMA = 1, FOOTER_DICTIONARIES = 2, FOOTER_BATCHES = 3 };
enum { DICTIONARY_ID = 0, DICTIONARY_DATA = 1, DICTIONARY_MORE = 2 };
enum { COMPRESSION_CODEC = 0 };

enum message_kind {
	MESSAGE_END = 0, MESSAGE_SCHEMA = 1, MESSAGE_DICTIONARY = 2, MESSAGE_BATCH = 3,
};

struct ipc_message {
	uint64_t at, body, body_length; /* body: where the padded metadata end */
	enum message_kind kind;
	unsigned version;
	struct flat_table header;
};

int arrow_no_memory(struct arrow_file *file)
{
	return format_no_memory(file->scan->label, file->e);
}

int arrow_refuse_read(struct arrow_file *file, int err)
{
	if (file->reader.err)
		return format_unreadable(file->scan->label, file->reader.err, file->e);
	if (err == -ENOMEM)
		return arrow_no_memory(file);
	return arrow_refuse(file, "is damaged: it refers to bytes behind its end; copy it "
				  "again, or write it again");
}

/* Messages */

static int parse_message(struct ipc_message *message, const unsigned char *bytes,
			 size_t n)
{
	uint64_t version = 0, kind = 0, body = 0;
	struct flat_table root;

	if (!flat_root(bytes, n, &root) ||
	    !flat_number(&root, MESSAGE_VERSION, 2, &version) ||
	    !flat_number(&root, MESSAGE_KIND, 1, &kind) ||
	    !flat_table(&root, MESSAGE_HEADER, &message->header) ||
	    !flat_number(&root, MESSAGE_BODY, 8, &body))
		return -EBADMSG;
	message->version = (unsigned)version;
	message->kind = (enum message_kind)kind;
	message->body_length = body;
	return message->header.at && kind != MESSAGE_END ? 0 : -EBADMSG;
}

/* The length of the metadata of a message, and where they begin; 0 at the end. */
static int read_prefix(struct arrow_file *file, uint64_t at, uint64_t *begin,
		       uint32_t *length)
{
	unsigned char word[4];
	int err = leap_reader_read(&file->reader, word, sizeof(word), at);

	*begin = at + sizeof(word);
	*length = (uint32_t)little_endian(word, sizeof(word));
	if (!err && *length == CONTINUES) {
		err = leap_reader_read(&file->reader, word, sizeof(word), *begin);
		*begin += sizeof(word);
		*length = (uint32_t)little_endian(word, sizeof(word));
	}
	return err ? arrow_refuse_read(file, err) : 0;
}

static int refuse_version(struct arrow_file *file, unsigned version)
{
	return arrow_refuse(file, "has Arrow metadata of version V%u; V4 and V5 are "
				  "supported: write it again with Arrow 0.8 or later",
			    version + 1);
}

/* Everything of the message at `at` but its body, which need not be there. */
static int read_message(struct arrow_file *file, uint64_t at, struct ipc_message *message)
{
	uint32_t length;
	uint64_t begin;
	int err = read_prefix(file, at, &begin, &length);

	*message = (struct ipc_message){ .at = at, .body = begin + length };
	if (err || length == 0)
		return err;
	if (length > METADATA_MOST || !range_within(begin, length, file->limit))
		return arrow_refuse(file, "was cut, or is damaged: the message at byte "
					  "%" PRIu64 " claims metadata of %u bytes; copy "
					  "it again",
				    file->scan->base + at, length);
	file->metadata.count = 0;
	if (vec_reserve(&file->metadata, length) < 0)
		return arrow_no_memory(file);
	err = leap_reader_read(&file->reader, file->metadata.items, length, begin);
	if (err)
		return arrow_refuse_read(file, err);
	if (parse_message(message, file->metadata.items, length) < 0)
		return arrow_refuse(file, "is damaged: the message at byte %" PRIu64
					  " makes no sense; copy it again, or write it "
					  "again",
				    file->scan->base + at);
	if (message->version != ARROW_V4 && message->version != ARROW_V5)
		return refuse_version(file, message->version);
	return 0;
}

int arrow_file_probe(const unsigned char *head, size_t n)
{
	struct ipc_message message = { .at = 0 };
	size_t begin = 4;
	uint64_t length;

	if (n < 16)
		return 0;
	if (memcmp(head, MAGIC "\0\0", HEAD_BYTES) == 0)
		return 100;
	length = little_endian(head, 4);
	if (length == CONTINUES) {
		length = little_endian(head + 4, 4);
		begin = 8;
	}
	/* the fields of a message come first, so that a part of it is enough */
	if (length > METADATA_MOST || length < 16)
		return 0;
	if (length > n - begin)
		length = n - begin;
	if (parse_message(&message, head + begin, (size_t)length) < 0 ||
	    message.kind != MESSAGE_SCHEMA || message.body_length)
		return 0;
	return begin == 8 ? 90 : 70;
}

/* The schema */

static int read_schema(struct arrow_file *file, const struct flat_table *table)
{
	int err = arrow_schema_read(table, &file->schema);

	if (err == -ENOMEM)
		return arrow_no_memory(file);
	if (err)
		return arrow_refuse(file, "%s: it is damaged, or of a newer kind; copy it "
					  "again, or write it again",
				    file->schema.problem);
	if (file->schema.big_endian)
		return arrow_refuse(file, "is big-endian, which is not supported; write it "
					  "again on a little-endian machine");
	return 0;
}

static int open_stream(struct arrow_file *file)
{
	struct ipc_message message;
	int err = read_message(file, 0, &message);

	if (err)
		return err;
	if (message.kind != MESSAGE_SCHEMA)
		return arrow_refuse(file, "is an Arrow stream without a schema at its "
					  "beginning; copy it again, or write it again");
	file->behind_schema = message.body;
	return read_schema(file, &message.header);
}

/* The footer */

static void ipc_get_block(const struct flat_vector *blocks, uint32_t i, uint64_t *at,
			  uint64_t *metadata, uint64_t *body)
{
	const unsigned char *block = flat_item(blocks, i);

	*at = little_endian(block, 8);
	*metadata = little_endian(block + 8, 4);
	*body = little_endian(block + 16, 8);
}

static int ipc_by_place(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int refuse_block(struct arrow_file *file, uint32_t i, const char *what)
{
	struct arrow_batch batch = { .number = i };
	uint64_t metadata, body;

	ipc_get_block(&file->blocks, i, &batch.at, &metadata, &body);
	return arrow_refuse_batch(file, &batch, "%s", what);
}

/* Blocks that are not in the order of the file: do they overlap? */
static int check_order(struct arrow_file *file)
{
	VEC(uint64_t) ends = VEC_INIT; /* place and end of each */
	uint64_t *items;
	int err = 0;

	if (vec_reserve(&ends, 2 * (size_t)file->blocks.count) < 0)
		return arrow_no_memory(file);
	items = ends.items;
	for (uint32_t i = 0; i < file->blocks.count; i++) {
		uint64_t metadata, body;

		ipc_get_block(&file->blocks, i, &items[2 * (size_t)i], &metadata, &body);
		items[2 * (size_t)i + 1] = items[2 * (size_t)i] + metadata + body;
	}
	qsort(items, file->blocks.count, 2 * sizeof(*items), ipc_by_place);
	for (size_t i = 1; i < file->blocks.count && !err; i++)
		if (items[2 * i] < items[2 * i - 1])
			err = arrow_refuse(file, "is damaged: its footer has record "
						 "batches that overlap, at byte %" PRIu64
						 "; copy it again, or write it again",
					   file->scan->base + items[2 * i]);
	vec_free(&ends);
	return err;
}

static int check_blocks(struct arrow_file *file)
{
	uint64_t end = 0;
	bool ordered = true;

	for (uint32_t i = 0; i < file->blocks.count; i++) {
		uint64_t at, metadata, body;

		ipc_get_block(&file->blocks, i, &at, &metadata, &body);
		if (at < HEAD_BYTES || !range_within(at, metadata, file->limit) ||
		    !range_within(at + metadata, body, file->limit))
			return refuse_block(file, i, "lies outside the file, or in its "
						     "footer");
		if (metadata < 16)
			return refuse_block(file, i, "has no metadata");
		ordered = ordered && at >= end;
		end = at + metadata + body;
	}
	return ordered ? 0 : check_order(file);
}

static int parse_footer(struct arrow_file *file)
{
	struct flat_table root, schema;
	uint64_t version = 0;

	if (!flat_root(file->footer.items, file->footer.count, &root) ||
	    !flat_number(&root, FOOTER_VERSION, 2, &version) ||
	    !flat_table(&root, FOOTER_SCHEMA, &schema) || !schema.at ||
	    !flat_vector(&root, FOOTER_DICTIONARIES, BLOCK_BYTES, &file->dictionaries) ||
	    !flat_vector(&root, FOOTER_BATCHES, BLOCK_BYTES, &file->blocks))
		return arrow_refuse(file, "is damaged: its footer makes no sense; copy it "
					  "again, or write it again");
	if (version != ARROW_V4 && version != ARROW_V5)
		return refuse_version(file, (unsigned)version);
	return read_schema(file, &schema);
}

static int refuse_cut(struct arrow_file *file)
{
	return arrow_refuse(file, "is an Arrow file without a footer at its end: it was "
				  "cut, or its writer did not close it; copy it again, or "
				  "write it again");
}

static int open_footer(struct arrow_file *file)
{
	unsigned char tail[TAIL_BYTES];
	uint64_t total = file->reader.length, length;
	int err;

	if (total < HEAD_BYTES + TAIL_BYTES)
		return refuse_cut(file);
	err = leap_reader_read(&file->reader, tail, sizeof(tail), total - sizeof(tail));
	if (err)
		return arrow_refuse_read(file, err);
	length = little_endian(tail, 4);
	if (memcmp(tail + 4, MAGIC, MAGIC_BYTES) != 0 || length == 0 ||
	    length > total - HEAD_BYTES - TAIL_BYTES)
		return refuse_cut(file);
	if (length > FOOTER_MOST)
		return arrow_refuse(file, "has a footer of %" PRIu64 " bytes; at most %d "
					  "are supported: write it with more rows in each "
					  "record batch, or as several files",
				    length, FOOTER_MOST);
	if (vec_reserve(&file->footer, length) < 0)
		return arrow_no_memory(file);
	file->footer.count = (size_t)length;
	file->limit = total - TAIL_BYTES - length;
	err = leap_reader_read(&file->reader, file->footer.items, (size_t)length, file->limit);
	if (err)
		return arrow_refuse_read(file, err);
	err = parse_footer(file);
	return err ? err : check_blocks(file);
}

int arrow_file_open(struct arrow_file *file, struct scan *scan, struct error *e)
{
	unsigned char head[HEAD_BYTES];
	int err;

	*file = (struct arrow_file){ .scan = scan, .e = e, .limit = scan->length };
	if (!range_within(scan->base, scan->length, source_size(scan->source)))
		return format_unreadable(scan->label, -EIO, e);
	if (leap_reader_open(&file->reader, scan->source, scan->base, scan->length) < 0)
		return arrow_no_memory(file);
	err = leap_reader_read(&file->reader, head, sizeof(head), 0);
	if (err)
		return arrow_refuse_read(file, err);
	file->stream = memcmp(head, MAGIC, MAGIC_BYTES) != 0;
	err = file->stream ? open_stream(file) : open_footer(file);
	arrow_file_rewind(file);
	return err;
}

void arrow_file_close(struct arrow_file *file)
{
	arrow_schema_free(&file->schema);
	leap_reader_close(&file->reader);
	vec_free(&file->footer);
	vec_free(&file->metadata);
}

/* Record batches */

void arrow_file_rewind(struct arrow_file *file)
{
	file->next = 0;
	file->next_at = file->behind_schema;
}

static int refuse_compressed(struct arrow_file *file, const struct arrow_batch *batch,
			     const struct flat_table *compression)
{
	uint64_t codec = 0;

	(void)flat_number(compression, COMPRESSION_CODEC, 1, &codec);
	return arrow_refuse(file, "has compressed record batches (%s, from batch %" PRIu64
				  " on), which cannot be read in place; write it again "
				  "without compression (pyarrow: "
				  "IpcWriteOptions(compression=None), or "
				  "write_feather(..., compression='uncompressed'))",
			    codec == 0 ? "lz4" : codec == 1 ? "zstd" : "of an unknown kind",
			    batch->number);
}

static int refuse_metadata(struct arrow_file *file, const struct arrow_batch *batch)
{
	return arrow_refuse_batch(file, batch, "has metadata that make no sense");
}

static int parse_batch(struct arrow_file *file, const struct flat_table *header,
		       struct arrow_batch *batch)
{
	struct flat_table compression;

	if (!flat_number(header, BATCH_ROWS, 8, &batch->rows) ||
	    !flat_vector(header, BATCH_NODES, NODE_BYTES, &batch->nodes) ||
	    !flat_vector(header, BATCH_BUFFERS, BUFFER_BYTES, &batch->buffers) ||
	    !flat_table(header, BATCH_COMPRESSION, &compression) ||
	    !flat_vector(header, BATCH_VARIADIC, 8, &batch->variadic))
		return refuse_metadata(file, batch);
	return compression.at ? refuse_compressed(file, batch, &compression) : 0;
}

/* Has it the arrays and buffers that the columns ask for? */
static int check_batch(struct arrow_file *file, const struct arrow_batch *batch)
{
	const struct arrow_schema *schema = &file->schema;
	uint64_t buffers = schema->buffers;

	if (batch->version == ARROW_V4)
		buffers += schema->unions;
	if (batch->nodes.count != schema->nodes ||
	    (schema->views == 0 && batch->buffers.count != buffers))
		return arrow_refuse_batch(file, batch,
					  "has %u arrays in %u buffers where the columns "
					  "ask for %u in %" PRIu64,
					  batch->nodes.count, batch->buffers.count,
					  schema->nodes, buffers);
	return 0;
}

static int read_body(struct arrow_file *file, const struct ipc_message *message,
		     struct arrow_batch *batch)
{
	*batch = (struct arrow_batch){
		.number = file->next, .at = message->at, .body = message->body,
		.body_length = message->body_length, .version = message->version,
	};
	if (!range_within(batch->body, batch->body_length, file->limit))
		return arrow_refuse_batch(file, batch, "is cut: it has %" PRIu64
						       " bytes, and the file ends before",
					  batch->body_length);
	return 0;
}

static int ipc_read_batch(struct arrow_file *file, const struct ipc_message *message,
			  struct arrow_batch *batch)
{
	int err = read_body(file, message, batch);

	file->next++;
	if (!err)
		err = parse_batch(file, &message->header, batch);
	return err ? err : check_batch(file, batch);
}

static int ipc_read_dictionary(struct arrow_file *file, const struct ipc_message *message)
{
	struct arrow_batch batch;
	struct flat_table data;
	uint64_t id = 0, more = 0;
	int err = read_body(file, message, &batch);

	if (err)
		return err;
	if (!flat_number(&message->header, DICTIONARY_ID, 8, &id) ||
	    !flat_table(&message->header, DICTIONARY_DATA, &data) || !data.at ||
	    !flat_number(&message->header, DICTIONARY_MORE, 1, &more))
		return refuse_metadata(file, &batch);
	if (!file->visit_dictionary || (int64_t)id != file->dictionary_id)
		return 0;
	err = parse_batch(file, &data, &batch);
	if (!err && batch.nodes.count == 0)
		err = refuse_metadata(file, &batch);
	return err ? err : file->visit_dictionary(file, &batch, more != 0);
}

int arrow_file_visit_dictionaries(struct arrow_file *file)
{
	int err = 0;

	for (uint32_t i = 0; i < file->dictionaries.count && file->visit_dictionary && !err;
	     i++) {
		struct ipc_message message;
		uint64_t at, metadata, body;

		ipc_get_block(&file->dictionaries, i, &at, &metadata, &body);
		if (!range_within(at, metadata, file->limit) || metadata < 16)
			return arrow_refuse(file, "is damaged: its footer has a dictionary that "
						  "lies outside the file; copy it again");
		err = read_message(file, at, &message);
		if (!err && message.kind != MESSAGE_DICTIONARY)
			return arrow_refuse(file, "is damaged: at byte %" PRIu64 " is no "
						  "dictionary, as its footer says; copy it again",
					    file->scan->base + at);
		message.body = at + metadata;
		if (!err)
			err = ipc_read_dictionary(file, &message);
	}
	return err;
}

static int next_of_footer(struct arrow_file *file, struct arrow_batch *batch)
{
	struct ipc_message message;
	uint64_t at, metadata, body;
	uint32_t i = (uint32_t)file->next;
	int err;

	if (i >= file->blocks.count)
		return 0;
	ipc_get_block(&file->blocks, i, &at, &metadata, &body);
	err = read_message(file, at, &message);
	if (err)
		return err;
	if (message.kind != MESSAGE_BATCH || message.body > at + metadata ||
	    message.body_length != body)
		return refuse_block(file, i, "is another one than its footer says");
	message.body = at + metadata;
	err = ipc_read_batch(file, &message, batch);
	return err ? err : 1;
}

/* A stream may end by ending. */
static bool at_end(struct arrow_file *file)
{
	if (file->next_at < file->reader.length)
		return false;
	if (!file->warned)
		findings_add(file->scan->findings, FINDING_LEFT_OUT,
			     "it has no mark at its end: if it was cut, then between two "
			     "record batches; %" PRIu64 " are there", file->next);
	file->scan->unended = true;
	file->warned = true;
	return true;
}

/* As where two streams were put together with cat. */
static void warn_of_more(struct arrow_file *file, uint64_t end)
{
	if (end < file->reader.length && !file->warned)
		findings_add(file->scan->findings, FINDING_LEFT_OUT,
			     "it ends at byte %" PRIu64 ", as it says itself: the %"
			     PRIu64 " bytes behind that are not shown",
			     file->scan->base + end, file->reader.length - end);
	file->warned = true;
}

static int next_of_stream(struct arrow_file *file, struct arrow_batch *batch)
{
	struct ipc_message message;
	int err;

	do {
		if (at_end(file))
			return 0;
		err = read_message(file, file->next_at, &message);
		if (!err && message.kind == MESSAGE_END)
			warn_of_more(file, message.body);
		if (err || message.kind == MESSAGE_END)
			return err;
		if (message.kind != MESSAGE_BATCH && message.kind != MESSAGE_DICTIONARY)
			return arrow_refuse(file, "is an Arrow stream with something else "
						  "than record batches behind its schema, "
						  "at byte %" PRIu64 "; write it again",
					    file->scan->base + message.at);
		if (!checked_add(message.body, message.body_length, &file->next_at))
			file->next_at = UINT64_MAX;
		if (message.kind == MESSAGE_DICTIONARY && file->next_at > file->limit)
			return arrow_refuse(file, "was cut, within a dictionary at byte "
						  "%" PRIu64 "; copy it again",
					    file->scan->base + message.at);
		if (message.kind == MESSAGE_DICTIONARY)
			err = ipc_read_dictionary(file, &message);
		if (err)
			return err;
	} while (message.kind == MESSAGE_DICTIONARY);
	err = ipc_read_batch(file, &message, batch);
	return err ? err : 1;
}

int arrow_file_next(struct arrow_file *file, struct arrow_batch *batch)
{
	int there;

	do {
		there = file->stream ? next_of_stream(file, batch) :
				       next_of_footer(file, batch);
	} while (there == 1 && batch->rows == 0);
	return there;
}
