/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schema.h: the columns of an Arrow file, and where in a record batch they are.
 *
 * A record batch is a list of nodes (length, nulls) and a list of buffers, which the
 * columns and their children take from in order. Facts: Schema.fbs and Message.fbs of
 * apache/arrow, "Arrow Columnar Format".
 *
 * Threads: a schema that has been read does not change.
 */
#ifndef GRANARY_FORMAT_ARROW_SCHEMA_H
#define GRANARY_FORMAT_ARROW_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "format/arrow/flatbuffer.h"

/* Of the union Type: those that something here depends on. */
enum arrow_type {
	ARROW_NULL = 1, ARROW_INT = 2, ARROW_FLOAT = 3, ARROW_BINARY = 4, ARROW_UTF8 = 5,
	ARROW_BOOL = 6, ARROW_LIST = 12, ARROW_STRUCT = 13, ARROW_FIXED_LIST = 16,
	ARROW_LARGE_BINARY = 19, ARROW_LARGE_UTF8 = 20, ARROW_LARGE_LIST = 21,
	ARROW_BINARY_VIEW = 23, ARROW_UTF8_VIEW = 24,
};

/* The nodes and buffers of a record batch that are a column's, or its child's. */
struct arrow_array {
	enum arrow_type type;
	unsigned bits;      /* ARROW_INT, ARROW_FLOAT; ARROW_BOOL: 1 */
	bool is_signed;
	bool dictionary;    /* its values are elsewhere, and here are their numbers */
	bool elements;      /* of lists: it has as many rows as its node says */
	uint32_t length;    /* ARROW_FIXED_LIST: elements of each */
	uint32_t node, buffer;
	uint32_t views;     /* arrays before it that have any number of buffers */
	uint32_t unions;    /* arrays before it that had one buffer more in version 4 */
};

struct arrow_column {
	const char *name;         /* of a struct's member "STRUCT.MEMBER" */
	struct arrow_array self;
	struct arrow_array bytes, path; /* struct<bytes, path>: type 0 where it is none */
	struct arrow_array index; /* of a dictionary: the numbers in each batch; or type 0 */
	struct arrow_array elements; /* of a list of numbers; or type 0 */
	int64_t dictionary_id;
	uint32_t parent;          /* the struct that it is a member of: its number + 1; or 0 */
	bool part;                /* `bytes` or `path` of its parent */
};

struct arrow_schema {
	struct arena arena;
	VEC(struct arrow_column) columns;
	uint32_t nodes, buffers, views, unions; /* of all */
	bool big_endian;
	const char *metadata; /* the JSON of Hugging Face, or NULL */
	size_t metadata_size;
	const char *problem;  /* what is wrong with it, if reading fails */
};

/* 0, -EBADMSG with a problem, or -ENOMEM. To be freed in any case. */
int arrow_schema_read(const struct flat_table *table, struct arrow_schema *out);
void arrow_schema_free(struct arrow_schema *schema);

/* Rows of bytes, or of files as Hugging Face has them: what becomes samples. */
bool arrow_column_has_files(const struct arrow_column *column);

/* Numbers or words, one a row, or one-hot rows: what can be labels. */
bool arrow_column_can_label(const struct arrow_column *column);

/* Text, or any bytes: with offsets of 32 or 64 bits, or as views. */
bool arrow_is_text(const struct arrow_array *array);
bool arrow_is_binary(const struct arrow_array *array);

/* Does each row say by itself where its bytes are, or hold them? */
bool arrow_is_view(const struct arrow_array *array);

/* A list a row, of any or of a fixed length? */
bool arrow_is_list(const struct arrow_array *array);

/* Has each row an offset, and one more the end? */
bool arrow_has_offsets(const struct arrow_array *array);

/* Are its offsets 64 bits wide? */
bool arrow_is_large(const struct arrow_array *array);

/* "uint16", "struct<bytes, path>", "dictionary of utf8" */
void arrow_type_name(const struct arrow_column *column, char *text, size_t room);

/* "image_data (binary), label (uint16)", as far as there is room. */
void arrow_schema_list(const struct arrow_schema *schema, char *text, size_t room);

#endif
