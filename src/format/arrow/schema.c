/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"
#include "format/arrow/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	DEPTH_MOST = 64,      /* children of children */
	FIELDS_MOST = 65536,  /* columns and their children */
	NAME_BYTES = 255,
	KEYS_MOST = 4096,     /* of metadata */
};

/* Fields of the tables Schema, Field, Int and KeyValue */
enum { SCHEMA_ENDIANNESS = 0, SCHEMA_FIELDS = 1, SCHEMA_METADATA = 2 };
enum { FIELD_NAME = 0, FIELD_TYPE = 2, FIELD_TYPE_TABLE = 3, FIELD_DICTIONARY = 4,
       FIELD_CHILDREN = 5 };
enum { INT_BITS = 0, INT_SIGNED = 1 };
enum { FLOAT_PRECISION = 0, FIXED_LIST_LENGTH = 0 };
enum { DICTIONARY_ID = 0, DICTIONARY_INDEX = 1 };
enum { UNION_MODE = 0 };
enum { KEY = 0, VALUE = 1 };

enum { TYPE_UNION = 14 };

/* Each value of the union Type. A union's buffers depend on its mode. */
static const struct {
	const char *name;
	unsigned char buffers; /* of its own, not its children's */
} types[] = {
	[1] = { "null", 0 },          [2] = { "int", 2 },
	[3] = { "float", 2 },         [4] = { "binary", 3 },
	[5] = { "utf8", 3 },          [6] = { "bool", 2 },
	[7] = { "decimal", 2 },       [8] = { "date", 2 },
	[9] = { "time", 2 },          [10] = { "timestamp", 2 },
	[11] = { "interval", 2 },     [12] = { "list", 2 },
	[13] = { "struct", 1 },       [14] = { "union", 1 },
	[15] = { "fixed_size_binary", 2 }, [16] = { "fixed_size_list", 1 },
	[17] = { "map", 2 },          [18] = { "duration", 2 },
	[19] = { "large_binary", 3 }, [20] = { "large_utf8", 3 },
	[21] = { "large_list", 2 },   [22] = { "run_end_encoded", 0 },
	[23] = { "binary_view", 2 },  [24] = { "utf8_view", 2 },
	[25] = { "list_view", 3 },    [26] = { "large_list_view", 3 },
};

enum { TYPES = sizeof(types) / sizeof(*types) };

static int schema_damaged(struct arrow_schema *schema, const char *problem)
{
	schema->problem = problem;
	return -EBADMSG;
}

static int read_int(struct arrow_schema *schema, const struct flat_table *type,
		    struct arrow_array *array)
{
	uint64_t bits = 0, is_signed = 0;

	if (!flat_number(type, INT_BITS, 4, &bits) ||
	    !flat_number(type, INT_SIGNED, 1, &is_signed) ||
	    (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return schema_damaged(schema,
				      "has an integer column of no width that there is");
	array->bits = (unsigned)bits;
	array->is_signed = is_signed;
	return 0;
}

static int read_float(struct arrow_schema *schema, const struct flat_table *type,
		      struct arrow_array *array)
{
	uint64_t precision = 0;

	if (!flat_number(type, FLOAT_PRECISION, 2, &precision) || precision > 2)
		return schema_damaged(schema,
				      "has a column of floats of no width that there is");
	array->bits = 16u << precision;
	return 0;
}

static int read_length(struct arrow_schema *schema, const struct flat_table *type,
		       struct arrow_array *array)
{
	uint64_t length = 0;

	if (!flat_number(type, FIXED_LIST_LENGTH, 4, &length) || length > INT32_MAX)
		return schema_damaged(schema,
				      "has a column of lists of no length that there is");
	array->length = (uint32_t)length;
	return 0;
}

/* The properties of a type besides its number. */
static int schema_read_type(struct arrow_schema *schema, const struct flat_table *type,
			    struct arrow_array *array)
{
	if (array->type == ARROW_INT)
		return read_int(schema, type, array);
	if (array->type == ARROW_FLOAT)
		return read_float(schema, type, array);
	if (array->type == ARROW_FIXED_LIST)
		return read_length(schema, type, array);
	array->bits = array->type == ARROW_BOOL;
	return 0;
}

/* A dense union has offsets, too; and in version 4 all had a validity bitmap. */
static int count_union(struct arrow_schema *schema, const struct flat_table *type)
{
	uint64_t mode = 0;

	if (!flat_number(type, UNION_MODE, 2, &mode) || mode > 1)
		return schema_damaged(schema, "has a union of no kind that there is");
	schema->buffers += (uint32_t)mode;
	schema->unions++;
	return 0;
}

/* Notes where an array is, and counts its nodes and buffers; not its children's. */
static int read_array(struct arrow_schema *schema, const struct flat_table *field,
		      struct arrow_array *array)
{
	struct flat_table type, dictionary;
	uint64_t number = 0;

	if (!flat_number(field, FIELD_TYPE, 1, &number) ||
	    !flat_table(field, FIELD_TYPE_TABLE, &type) ||
	    !flat_table(field, FIELD_DICTIONARY, &dictionary))
		return schema_damaged(schema,
				      "is damaged in the description of a column");
	if (number == 0 || number >= TYPES)
		return schema_damaged(schema,
				      "has a column of a type that is not known here");
	*array = (struct arrow_array){
		.type = (enum arrow_type)number, .dictionary = dictionary.at != 0,
		.node = schema->nodes, .buffer = schema->buffers,
		.views = schema->views, .unions = schema->unions,
	};
	if (schema->nodes++ >= FIELDS_MOST)
		return schema_damaged(schema,
				      "has more than 65,536 columns and children");
	schema->buffers += array->dictionary ? 2 : types[number].buffers;
	if (!array->dictionary)
		schema->views += arrow_is_view(array);
	if (number == TYPE_UNION && !array->dictionary)
		return count_union(schema, &type);
	return schema_read_type(schema, &type, array);
}

/* How the numbers of a dictionary's values are stored: as int32, if nothing is said. */
static int read_dictionary(struct arrow_schema *schema, const struct flat_table *field,
			   struct arrow_column *column)
{
	struct flat_table dictionary, index;
	uint64_t id = 0;

	if (!flat_table(field, FIELD_DICTIONARY, &dictionary) ||
	    !flat_number(&dictionary, DICTIONARY_ID, 8, &id) ||
	    !flat_table(&dictionary, DICTIONARY_INDEX, &index))
		return schema_damaged(schema,
				      "is damaged in the description of a dictionary");
	column->dictionary_id = (int64_t)id;
	column->index = column->self;
	column->index.type = ARROW_INT;
	column->index.dictionary = false;
	column->index.bits = 32;
	column->index.is_signed = true;
	return index.at ? read_int(schema, &index, &column->index) : 0;
}

static bool text_is(const struct flat_text *text, const char *word)
{
	return text->size == strlen(word) && memcmp(text->bytes, word, text->size) == 0;
}

static int schema_read_column(struct arrow_schema *schema, const struct flat_table *field,
			      uint32_t parent, unsigned depth);

/* Notes what Hugging Face's images are made of: the last column is a child of `parent`. */
static void note_part(struct arrow_schema *schema, const struct flat_table *field,
		      uint32_t parent)
{
	struct arrow_column *column = &schema->columns.items[parent - 1];
	struct arrow_column *child = &schema->columns.items[schema->columns.count - 1];
	struct flat_text name;

	if (child->self.dictionary || !flat_text(field, FIELD_NAME, &name) || !name.bytes)
		return;
	if (text_is(&name, "bytes") && arrow_is_binary(&child->self))
		column->bytes = child->self;
	else if (text_is(&name, "path") && arrow_is_text(&child->self))
		column->path = child->self;
}

/* `bytes` and `path` of a struct that has bytes are shown as one file, and as nothing else. */
static void mark_parts(struct arrow_schema *schema, uint32_t parent)
{
	const struct arrow_column *column = &schema->columns.items[parent - 1];

	for (size_t i = parent; column->bytes.type && i < schema->columns.count; i++) {
		struct arrow_column *child = &schema->columns.items[i];

		child->part |= child->parent == parent && !child->self.dictionary &&
			       (child->self.node == column->bytes.node ||
				(column->path.type && child->self.node == column->path.node));
	}
	if (!column->bytes.type)
		schema->columns.items[parent - 1].path = (struct arrow_array){ 0 };
}

/* A child of what is no struct: of a list of numbers it may hold labels. */
static int read_child(struct arrow_schema *schema, const struct flat_table *field,
		      uint32_t list, unsigned depth);

/* The children of `field`. Those of a struct that is a column are columns, too. */
static int read_children(struct arrow_schema *schema, const struct flat_table *field,
			 uint32_t column, unsigned depth)
{
	bool members = column && schema->columns.items[column - 1].self.type == ARROW_STRUCT;
	struct flat_vector children;
	int err = 0;

	if (depth > DEPTH_MOST)
		return schema_damaged(schema, "has children of children deeper than 64");
	if (!flat_vector(field, FIELD_CHILDREN, 4, &children))
		return schema_damaged(schema,
				      "is damaged in the list of a column's children");
	for (uint32_t i = 0; i < children.count && !err; i++) {
		struct flat_table child;

		if (!flat_item_table(&children, i, &child))
			return schema_damaged(schema, "is damaged in a column's child");
		err = members ? schema_read_column(schema, &child, column, depth) :
				read_child(schema, &child, column, depth);
	}
	if (!err && members)
		mark_parts(schema, column);
	return err;
}

static int read_child(struct arrow_schema *schema, const struct flat_table *field,
		      uint32_t list, unsigned depth)
{
	struct arrow_array array;
	int err = read_array(schema, field, &array);

	if (err)
		return err;
	if (list && arrow_is_list(&schema->columns.items[list - 1].self) &&
	    !array.dictionary && array.bits) {
		array.elements = true;
		schema->columns.items[list - 1].elements = array;
	}
	return array.dictionary ? 0 : read_children(schema, field, 0, depth + 1);
}

/* Names are limited, since many fields may share one; a member's is cut, if it has to be. */
static int schema_read_name(struct arrow_schema *schema, const struct flat_table *field,
			    uint32_t parent, const char **out)
{
	const char *above = parent ? schema->columns.items[parent - 1].name : "";
	char whole[NAME_BYTES + 1];
	struct flat_text name;

	if (!flat_text(field, FIELD_NAME, &name))
		return schema_damaged(schema, "is damaged in the name of a column");
	if (name.size > NAME_BYTES || (name.bytes && memchr(name.bytes, 0, name.size)))
		return schema_damaged(schema,
				      "has a column whose name is longer than 255 bytes, "
				      "or holds a NUL");
	snprintf(whole, sizeof(whole), "%s%s%.*s", above, parent ? "." : "",
		 name.bytes ? (int)name.size : 0, name.bytes ? name.bytes : "");
	*out = arena_copy(&schema->arena, whole, strlen(whole));
	return *out ? 0 : -ENOMEM;
}

static int schema_read_column(struct arrow_schema *schema, const struct flat_table *field,
			      uint32_t parent, unsigned depth)
{
	struct arrow_column column = { .parent = parent };
	uint32_t number;
	int err = schema_read_name(schema, field, parent, &column.name);

	if (!err)
		err = read_array(schema, field, &column.self);
	if (!err && column.self.dictionary)
		err = read_dictionary(schema, field, &column);
	if (err)
		return err;
	if (vec_push(&schema->columns, column) < 0)
		return -ENOMEM;
	number = (uint32_t)schema->columns.count;
	if (parent)
		note_part(schema, field, parent);
	return column.self.dictionary ? 0 : read_children(schema, field, number, depth + 1);
}

/* Finds what Hugging Face's library notes for itself. */
static int read_metadata(struct arrow_schema *schema, const struct flat_table *table)
{
	struct flat_vector pairs;

	if (!flat_vector(table, SCHEMA_METADATA, 4, &pairs) || pairs.count > KEYS_MOST)
		return schema_damaged(schema, "is damaged in its metadata");
	for (uint32_t i = 0; i < pairs.count; i++) {
		struct flat_table pair;
		struct flat_text key, value;

		if (!flat_item_table(&pairs, i, &pair) || !flat_text(&pair, KEY, &key) ||
		    !flat_text(&pair, VALUE, &value))
			return schema_damaged(schema, "is damaged in its metadata");
		if (!key.bytes || !value.bytes || schema->metadata ||
		    !text_is(&key, "huggingface"))
			continue;
		schema->metadata = arena_copy(&schema->arena, value.bytes, value.size);
		schema->metadata_size = value.size;
		if (!schema->metadata)
			return -ENOMEM;
	}
	return 0;
}

int arrow_schema_read(const struct flat_table *table, struct arrow_schema *out)
{
	struct flat_vector fields;
	uint64_t endianness = 0;
	int err = 0;

	*out = (struct arrow_schema){ .problem = NULL };
	if (!flat_number(table, SCHEMA_ENDIANNESS, 2, &endianness) ||
	    !flat_vector(table, SCHEMA_FIELDS, 4, &fields))
		return schema_damaged(out, "is damaged in its list of columns");
	out->big_endian = endianness != 0;
	for (uint32_t i = 0; i < fields.count && !err; i++) {
		struct flat_table field;

		if (!flat_item_table(&fields, i, &field))
			return schema_damaged(
				out, "is damaged in the description of a column");
		err = schema_read_column(out, &field, 0, 0);
	}
	return err ? err : read_metadata(out, table);
}

void arrow_schema_free(struct arrow_schema *schema)
{
	vec_free(&schema->columns);
	arena_free(&schema->arena);
}

bool arrow_is_text(const struct arrow_array *array)
{
	return array->type == ARROW_UTF8 || array->type == ARROW_LARGE_UTF8 ||
	       array->type == ARROW_UTF8_VIEW;
}

bool arrow_is_binary(const struct arrow_array *array)
{
	return array->type == ARROW_BINARY || array->type == ARROW_LARGE_BINARY ||
	       array->type == ARROW_BINARY_VIEW;
}

bool arrow_is_view(const struct arrow_array *array)
{
	return array->type == ARROW_BINARY_VIEW || array->type == ARROW_UTF8_VIEW;
}

bool arrow_is_large(const struct arrow_array *array)
{
	return array->type == ARROW_LARGE_UTF8 || array->type == ARROW_LARGE_BINARY ||
	       array->type == ARROW_LARGE_LIST;
}

bool arrow_is_list(const struct arrow_array *array)
{
	return array->type == ARROW_LIST || array->type == ARROW_LARGE_LIST ||
	       array->type == ARROW_FIXED_LIST;
}

bool arrow_has_offsets(const struct arrow_array *array)
{
	return ((arrow_is_text(array) || arrow_is_binary(array)) && !arrow_is_view(array)) ||
	       array->type == ARROW_LIST || array->type == ARROW_LARGE_LIST;
}

bool arrow_column_has_files(const struct arrow_column *column)
{
	return !column->self.dictionary && !column->part &&
	       (arrow_is_binary(&column->self) || column->bytes.type != 0);
}

bool arrow_column_can_label(const struct arrow_column *column)
{
	const struct arrow_array *self = &column->self;

	return !column->part &&
	       (self->type == ARROW_INT || self->type == ARROW_FLOAT ||
		self->type == ARROW_BOOL || arrow_is_text(self) ||
		(arrow_is_list(self) && column->elements.type));
}

void arrow_type_name(const struct arrow_column *column, char *text, size_t room)
{
	const struct arrow_array *array = &column->self;

	if (array->dictionary)
		snprintf(text, room, "dictionary of %s", types[array->type].name);
	else if (array->type == ARROW_INT)
		snprintf(text, room, "%sint%u", array->is_signed ? "" : "u", array->bits);
	else if (arrow_is_list(array) && column->elements.type)
		snprintf(text, room, "%s of %s", types[array->type].name,
			 types[column->elements.type].name);
	else if (column->bytes.type)
		snprintf(text, room, "struct<bytes%s>", column->path.type ? ", path" : "");
	else
		snprintf(text, room, "%s", types[array->type].name);
}

void arrow_schema_list(const struct arrow_schema *schema, char *text, size_t room)
{
	*text = '\0';
	for (size_t i = 0; i < schema->columns.count; i++) {
		char type[48];

		if (schema->columns.items[i].part)
			continue;
		arrow_type_name(&schema->columns.items[i], type, sizeof(type));
		buffer_print(text, room, "%s%s (%s)", *text ? ", " : "",
			     schema->columns.items[i].name, type);
	}
	if (!*text)
		snprintf(text, room, "none");
}
