/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/parquet/pq_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/text.h"
#include "format/parquet/thrift.h"

#define MAGIC "PAR1"
#define MAGIC_ENCRYPTED "PARE"

enum {
	MAGIC_BYTES = 4,
	TAIL_BYTES = 8,
	FOOTER_MOST = 512 << 20,
	COLUMNS_MOST = 65536,
	NAME_BYTES = 255,
	NESTING_MOST = 64,
};

/* Fields of FileMetaData, SchemaElement, RowGroup, ColumnChunk, ColumnMetaData, KeyValue. */
enum { FILE_SCHEMA = 2, FILE_ROWS = 3, FILE_GROUPS = 4, FILE_NOTES = 5 };
enum { ELEMENT_TYPE = 1, ELEMENT_REPETITION = 3, ELEMENT_NAME = 4, ELEMENT_CHILDREN = 5,
       ELEMENT_CONVERTED = 6, ELEMENT_LOGICAL = 10 };
enum { GROUP_COLUMNS = 1, GROUP_ROWS = 3 };
enum { CHUNK_PATH = 1, CHUNK_METADATA = 3, CHUNK_CRYPTO = 8 };
enum { COLUMN_TYPE = 1, COLUMN_CODEC = 4, COLUMN_VALUES = 5, COLUMN_COMPRESSED = 7,
       COLUMN_DATA = 9, COLUMN_DICTIONARY = 11 };
enum { NOTE_KEY = 1, NOTE_VALUE = 2 };

enum { REPETITION_OPTIONAL = 1, REPETITION_REPEATED = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_UINT_8 = 11, CONVERTED_UINT_64 = 14, LOGICAL_STRING = 1 };

/* ---- Errors ---- */

int pq_no_memory(struct pq_file *file)
{
	return format_no_memory(file->scan->label, file->e);
}

int pq_refuse_read(struct pq_file *file, int err)
{
	if (file->reader.err)
		return format_unreadable(file->scan->label, file->reader.err, file->e);
	if (err == -ENOMEM)
		return pq_no_memory(file);
	return pq_refuse_damaged(file, "it refers to bytes that it does not have");
}

/* ---- The schema ---- */

/* An element of the schema: they come as a tree in preorder. */
struct element {
	bool leaf;
	enum pq_type type;
	unsigned repetition;
	const char *name;
	size_t name_length;
	uint64_t children;
	int converted;
	bool is_string;
};

struct schema_walk {
	struct pq_file *file;
	struct element element;
	struct {
		uint64_t children; /* that are still to come */
		unsigned definition, repetition;
		size_t name; /* length of the text */
	} above[NESTING_MOST];
	unsigned depth;
	bool begun;
	char name[NAME_BYTES + 1];
};

static int visit_logical(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct element *element = context;

	(void)thrift;
	element->is_string |= field->id == LOGICAL_STRING;
	return 0;
}

static int visit_element(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct element *element = context;

	if (field->id == ELEMENT_NAME && field->type == THRIFT_BINARY) {
		element->name = field->bytes;
		element->name_length = field->length;
	} else if (field->id == ELEMENT_LOGICAL && field->type == THRIFT_STRUCT) {
		int err = thrift_read_struct(thrift, visit_logical, element);

		return err ? err : 1;
	} else if (thrift_is_number(field) && field->id == ELEMENT_TYPE) {
		if (field->number < 0 || field->number >= PQ_TYPES)
			return -EBADMSG;
		element->leaf = true;
		element->type = (enum pq_type)field->number;
	} else if (thrift_is_number(field) && field->id == ELEMENT_REPETITION) {
		element->repetition = (unsigned)field->number;
	} else if (thrift_is_number(field) && field->id == ELEMENT_CHILDREN) {
		element->children = (uint64_t)field->number;
	} else if (thrift_is_number(field) && field->id == ELEMENT_CONVERTED) {
		element->converted = (int)field->number;
	}
	return 0;
}

/* The levels and the name of an element below those that are open. */
static int push_element(struct schema_walk *walk)
{
	const struct element *element = &walk->element;
	unsigned up = walk->depth - 1;
	size_t n = walk->above[up].name;

	if (walk->depth == NESTING_MOST || element->name_length > NAME_BYTES ||
	    memchr(element->name, '\0', element->name_length))
		return -EBADMSG;
	walk->name[n] = '\0';
	buffer_print(walk->name, sizeof(walk->name), "%s%.*s", n ? "." : "",
		     (int)element->name_length, element->name);
	walk->above[up].children--;
	walk->above[walk->depth].children = element->leaf ? 0 : element->children;
	walk->above[walk->depth].definition =
		walk->above[up].definition + (element->repetition != 0);
	walk->above[walk->depth].repetition =
		walk->above[up].repetition + (element->repetition == REPETITION_REPEATED);
	walk->above[walk->depth].name = strlen(walk->name);
	walk->depth++;
	return 0;
}

static int add_leaf(struct schema_walk *walk)
{
	const struct element *element = &walk->element;
	struct pq_file *file = walk->file;
	struct pq_column column = {
		.type = element->type,
		.name = arena_copy(&file->arena, walk->name, strlen(walk->name)),
		.text = element->is_string || element->converted == CONVERTED_UTF8,
		.is_unsigned = element->converted >= CONVERTED_UINT_8 &&
			       element->converted <= CONVERTED_UINT_64,
		.definition = walk->above[walk->depth - 1].definition,
		.repetition = walk->above[walk->depth - 1].repetition,
	};

	if (!column.name || vec_push(&file->columns, column) < 0)
		return -ENOMEM;
	return file->columns.count > COLUMNS_MOST ? -EBADMSG : 0;
}

/* The first element is the root, whose name does not count. */
static int visit_schema(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct schema_walk *walk = context;
	int err;

	walk->element = (struct element){ .converted = -1, .name = "" };
	if (field->type != THRIFT_STRUCT)
		return -EBADMSG;
	err = thrift_read_struct(thrift, visit_element, &walk->element);
	if (err)
		return err;
	if (!walk->begun) {
		walk->begun = true;
		walk->depth = walk->element.children != 0;
		walk->above[0].children = walk->element.children;
		return 1;
	}
	if (walk->depth == 0)
		return -EBADMSG; /* more elements than children */
	err = push_element(walk);
	if (!err && walk->element.leaf)
		err = add_leaf(walk);
	while (walk->depth && walk->above[walk->depth - 1].children == 0)
		walk->depth--;
	return err ? err : 1;
}

/* ---- Row groups ---- */

static int visit_column(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct pq_chunk *chunk = context;
	uint64_t number = (uint64_t)field->number;

	(void)thrift;
	if (!thrift_is_number(field))
		return 0;
	if (field->number < 0)
		return -EBADMSG;
	if (field->id == COLUMN_CODEC)
		chunk->codec = number < PQ_CODECS ? (enum pq_codec)number : PQ_CODECS;
	else if (field->id == COLUMN_VALUES)
		chunk->values = number;
	else if (field->id == COLUMN_COMPRESSED)
		chunk->length = number;
	else if (field->id == COLUMN_DATA && (chunk->at == 0 || number < chunk->at))
		chunk->at = number;
	else if (field->id == COLUMN_DICTIONARY && number &&
		 (chunk->at == 0 || number < chunk->at))
		chunk->at = number;
	return 0;
}

static int visit_chunk(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct pq_chunk *chunk = context;
	int err;

	chunk->elsewhere |= field->id == CHUNK_PATH;
	chunk->encrypted |= field->id == CHUNK_CRYPTO;
	if (field->id != CHUNK_METADATA || field->type != THRIFT_STRUCT)
		return 0;
	err = thrift_read_struct(thrift, visit_column, chunk);
	return err ? err : 1;
}

static int visit_chunks(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct pq_file *file = context;
	struct pq_chunk chunk = { .codec = PQ_PLAIN };
	int err;

	if (field->type != THRIFT_STRUCT)
		return -EBADMSG;
	err = thrift_read_struct(thrift, visit_chunk, &chunk);
	if (!err)
		err = vec_push(&file->chunks, chunk);
	return err ? err : 1;
}

static int visit_group(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct pq_file *file = context;
	struct pq_group *group = &file->groups.items[file->groups.count - 1];

	if (field->id == GROUP_ROWS && thrift_is_number(field)) {
		group->rows = (uint64_t)field->number;
	} else if (field->id == GROUP_COLUMNS && field->type == THRIFT_LIST) {
		int err = thrift_read_list(thrift, field, visit_chunks, file);

		return err ? err : 1;
	}
	return 0;
}

static int visit_groups(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct pq_file *file = context;
	struct pq_group group = { .first = file->chunks.count };
	int err;

	if (field->type != THRIFT_STRUCT || vec_push(&file->groups, group) < 0)
		return field->type != THRIFT_STRUCT ? -EBADMSG : -ENOMEM;
	err = thrift_read_struct(thrift, visit_group, file);
	if (!err && file->chunks.count - group.first != file->columns.count)
		err = -EBADMSG;
	return err ? err : 1;
}

/* ---- The footer ---- */

struct note {
	struct thrift_field key, value;
};

static int visit_note(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct note *note = context;

	(void)thrift;
	if (field->type != THRIFT_BINARY)
		return 0;
	if (field->id == NOTE_KEY)
		note->key = *field;
	else if (field->id == NOTE_VALUE)
		note->value = *field;
	return 0;
}

static int visit_notes(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	static const char key[] = "huggingface";
	struct pq_file *file = context;
	struct note note = { .key.length = 0 };
	int err;

	if (field->type != THRIFT_STRUCT)
		return -EBADMSG;
	err = thrift_read_struct(thrift, visit_note, &note);
	if (!err && note.key.length == strlen(key) && note.value.bytes &&
	    memcmp(note.key.bytes, key, strlen(key)) == 0) {
		file->notes = note.value.bytes;
		file->notes_size = note.value.length;
	}
	return err ? err : 1;
}

static int visit_footer(struct thrift *thrift, const struct thrift_field *field, void *context)
{
	struct pq_file *file = context;
	struct schema_walk walk = { .file = file };
	int err;

	if (field->id == FILE_ROWS && thrift_is_number(field)) {
		file->rows = (uint64_t)field->number;
		return 0;
	}
	if (field->type != THRIFT_LIST)
		return 0;
	if (field->id == FILE_SCHEMA) {
		err = file->columns.count ? -EBADMSG :
					    thrift_read_list(thrift, field, visit_schema, &walk);
		if (!err && walk.depth)
			err = -EBADMSG; /* fewer elements than children */
	} else if (field->id == FILE_GROUPS) {
		err = thrift_read_list(thrift, field, visit_groups, file);
	} else if (field->id == FILE_NOTES) {
		err = thrift_read_list(thrift, field, visit_notes, file);
	} else {
		return 0;
	}
	return err ? err : 1;
}

static int check_tail(struct pq_file *file, const unsigned char *tail, uint64_t *length)
{
	if (memcmp(tail + 4, MAGIC_ENCRYPTED, MAGIC_BYTES) == 0)
		return pq_refuse(file, "has an encrypted footer, which is not read; write it again "
				       "without encryption (pyarrow.parquet, with its key)");
	if (memcmp(tail + 4, MAGIC, MAGIC_BYTES) != 0)
		return pq_refuse(file, "is truncated: it does not end as a Parquet file does, with a "
				       "footer and " MAGIC "; copy it again");
	*length = little_endian(tail, 4);
	if (*length > FOOTER_MOST || *length + MAGIC_BYTES + TAIL_BYTES > file->reader.length)
		return pq_refuse_damaged(file, "its footer has a length of %" PRIu64 " bytes",
					 *length);
	return 0;
}

static int read_footer(struct pq_file *file)
{
	unsigned char tail[TAIL_BYTES];
	uint64_t size = file->reader.length, length = 0;
	int err = size < MAGIC_BYTES + TAIL_BYTES ? -EBADMSG :
		  leap_reader_read(&file->reader, tail, sizeof(tail), size - TAIL_BYTES);

	if (err && !file->reader.err)
		return pq_refuse(file, "is truncated: it has %" PRIu64 " bytes; copy it again",
				 size);
	if (!err)
		err = check_tail(file, tail, &length);
	else
		err = pq_refuse_read(file, err);
	if (err)
		return err;
	file->footer_at = size - TAIL_BYTES - length;
	file->footer = malloc(length ? (size_t)length : 1);
	if (!file->footer)
		return pq_no_memory(file);
	err = leap_reader_read(&file->reader, file->footer, (size_t)length, file->footer_at);
	if (err)
		return pq_refuse_read(file, err);
	err = thrift_read_struct(&(struct thrift){ file->footer, file->footer + length, 0 },
				 visit_footer, file);
	if (err == -ENOMEM)
		return pq_no_memory(file);
	return err ? pq_refuse_damaged(file, "its footer at byte %" PRIu64 " makes no sense",
				       file->scan->base + file->footer_at) : 0;
}

int pq_file_probe(const unsigned char *head, size_t n)
{
	return n >= MAGIC_BYTES && (memcmp(head, MAGIC, MAGIC_BYTES) == 0 ||
				    memcmp(head, MAGIC_ENCRYPTED, MAGIC_BYTES) == 0) ? 90 : 0;
}

int pq_file_open(struct pq_file *file, struct scan *scan, struct error *e)
{
	*file = (struct pq_file){ .scan = scan, .e = e };
	if (leap_reader_open(&file->reader, scan->source, scan->base, scan->length) < 0)
		return pq_no_memory(file);
	return read_footer(file);
}

void pq_file_close(struct pq_file *file)
{
	leap_reader_close(&file->reader);
	arena_free(&file->arena);
	vec_free(&file->columns);
	vec_free(&file->chunks);
	vec_free(&file->groups);
	free(file->footer);
}

/* ---- What there is ---- */

const struct pq_column *pq_file_find(const struct pq_file *file, const char *name)
{
	for (size_t i = 0; i < file->columns.count; i++)
		if (strcmp(file->columns.items[i].name, name) == 0)
			return &file->columns.items[i];
	return NULL;
}

const struct pq_chunk *pq_file_chunk(const struct pq_file *file, const struct pq_group *group,
				     const struct pq_column *column)
{
	return &file->chunks.items[group->first + (size_t)(column - file->columns.items)];
}

const char *pq_type_name(const struct pq_column *column)
{
	static const char *const names[] = { "bool", "int32", "int64", "int96", "float",
					     "double", "binary", "fixed_size_binary" };

	return column->text ? "string" : names[column->type];
}

const char *pq_codec_name(enum pq_codec codec)
{
	static const char *const names[] = { "no codec", "snappy", "gzip", "lzo", "brotli",
					     "lz4 (Hadoop's)", "zstd", "lz4_raw",
					     "an unknown codec" };

	return names[codec];
}

void pq_file_list(const struct pq_file *file, char *text, size_t room)
{
	*text = '\0';
	for (size_t i = 0; i < file->columns.count; i++)
		buffer_print(text, room, "%s%.100s (%s%s)", *text ? ", " : "",
			     file->columns.items[i].name,
			     file->columns.items[i].repetition ? "list of " : "",
			     pq_type_name(&file->columns.items[i]));
	if (!*text)
		snprintf(text, room, "none");
}
