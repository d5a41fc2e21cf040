/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/mds/mds_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/pyjson.h"
#include "base/text.h"

enum { VERSION = 2 };

/* ---- Encodings ---- */

static const struct mds_encoding {
	const char *name;
	enum mds_kind kind;
	unsigned size; /* 0: each value has its own */
	bool is_signed;
	unsigned list_skips;
	const char *extension;
} encodings[] = {
	{ "jpeg", MDS_BYTES, 0, false, 0, "jpg" },
	{ "png", MDS_BYTES, 0, false, 0, "png" },
	{ "bytes", MDS_BYTES, 0, false, 0, NULL },
	{ "pil", MDS_PIXELS, 0, false, 0, NULL },
	{ "jpeg_array", MDS_IMAGES, 0, false, 0, "jpg" },
	{ "jpegarray", MDS_IMAGES, 0, false, 0, "jpg" },
	{ "list[jpeg]", MDS_IMAGES, 0, false, 4, "jpg" },
	{ "list[png]", MDS_IMAGES, 0, false, 4, "png" },
	{ "ndarray", MDS_ARRAY, 0, false, 0, NULL },
	{ "str", MDS_TEXT, 0, false, 0, "txt" },
	{ "str_int", MDS_DIGITS, 0, false, 0, "txt" },
	{ "str_float", MDS_DIGITS, 0, false, 0, "txt" },
	{ "str_decimal", MDS_DIGITS, 0, false, 0, "txt" },
	{ "int", MDS_INTEGER, 8, true, 0, NULL },
	{ "int8", MDS_INTEGER, 1, true, 0, NULL },
	{ "int16", MDS_INTEGER, 2, true, 0, NULL },
	{ "int32", MDS_INTEGER, 4, true, 0, NULL },
	{ "int64", MDS_INTEGER, 8, true, 0, NULL },
	{ "uint8", MDS_INTEGER, 1, false, 0, NULL },
	{ "uint16", MDS_INTEGER, 2, false, 0, NULL },
	{ "uint32", MDS_INTEGER, 4, false, 0, NULL },
	{ "uint64", MDS_INTEGER, 8, false, 0, NULL },
	{ "float16", MDS_FLOAT, 2, false, 0, NULL },
	{ "float32", MDS_FLOAT, 4, false, 0, NULL },
	{ "float64", MDS_FLOAT, 8, false, 0, NULL },
	{ "json", MDS_OBJECT, 0, false, 0, "json" },
	{ "pkl", MDS_OBJECT, 0, false, 0, "pkl" },
};

static const struct {
	unsigned number, bytes;
	const char *name, *type;
} elements[] = {
	{ 8, 1, "uint8", "|u1" },   { 9, 1, "int8", "|i1" },    { 16, 2, "uint16", "<u2" },
	{ 17, 2, "int16", "<i2" },  { 18, 2, "float16", "<f2" }, { 32, 4, "uint32", "<u4" },
	{ 33, 4, "int32", "<i4" },  { 34, 4, "float32", "<f4" }, { 64, 8, "uint64", "<u8" },
	{ 65, 8, "int64", "<i8" },  { 66, 8, "float64", "<f8" },
};

enum { ELEMENTS = sizeof(elements) / sizeof(*elements) };

const char *mds_element_type(unsigned number, unsigned *bytes)
{
	for (size_t i = 0; i < ELEMENTS; i++) {
		if (elements[i].number != number)
			continue;
		*bytes = elements[i].bytes;
		return elements[i].type;
	}
	return NULL;
}

static unsigned find_element(const char *name, size_t n)
{
	for (size_t i = 0; i < ELEMENTS; i++)
		if (strlen(elements[i].name) == n && memcmp(elements[i].name, name, n) == 0)
			return elements[i].number;
	return 0;
}

/* "32,32,3": the dimensions, in the arena. 0, -ENOMEM or -EBADMSG. */
static int parse_shape(struct arena *arena, const char *text, struct mds_column *column)
{
	uint64_t *dims = arena_alloc(arena, MDS_RANK_MOST * sizeof(*dims)), size;
	unsigned bytes;
	char *end;

	if (!dims)
		return -ENOMEM;
	if (!mds_element_type(column->element, &bytes))
		return -EBADMSG;
	size = bytes;
	for (;; text = end + 1) {
		if (column->rank == MDS_RANK_MOST || *text < '0' || *text > '9')
			return -EBADMSG;
		errno = 0;
		dims[column->rank] = strtoull(text, &end, 10);
		if (errno || dims[column->rank] == 0 ||
		    !checked_mul(size, dims[column->rank++], &size))
			return -EBADMSG;
		if (*end != ',')
			break;
	}
	column->dims = dims;
	column->size = size;
	return *end || size > UINT32_MAX ? -EBADMSG : 0;
}

/* "ndarray:uint8:32,32,3", where both, the type only, or neither is fixed. */
static int parse_array(struct arena *arena, struct mds_column *column)
{
	const char *type = strchr(column->encoding, ':'), *shape;

	if (!type || !type[1])
		return 0;
	type++;
	shape = type + strcspn(type, ":");
	column->element = find_element(type, (size_t)(shape - type));
	if (!column->element)
		return -EBADMSG;
	return *shape ? parse_shape(arena, shape + 1, column) : 0;
}

/* An encoding of a later version is bytes of which nothing is known. */
static int set_encoding(struct arena *arena, struct mds_column *column)
{
	size_t n = strcspn(column->encoding, ":");

	column->kind = MDS_OBJECT;
	for (size_t i = 0; i < sizeof(encodings) / sizeof(*encodings); i++) {
		const struct mds_encoding *encoding = &encodings[i];

		if (strlen(encoding->name) != n ||
		    memcmp(encoding->name, column->encoding, n) != 0)
			continue;
		column->kind = encoding->kind;
		column->size = encoding->size;
		column->width = encoding->size;
		column->is_signed = encoding->is_signed;
		column->list_skips = encoding->list_skips;
		column->extension = encoding->extension;
	}
	return column->kind == MDS_ARRAY ? parse_array(arena, column) : 0;
}

/* ---- The JSON ---- */

static int fail(const char **fault, const char *what)
{
	*fault = what;
	return -EBADMSG;
}

/* A string without NUL, in the arena; NULL: it is none, or no memory. */
static const char *copy_string(struct arena *arena, const struct pyjson_value *value)
{
	char *text;

	if (value->kind != PYJSON_STRING)
		return NULL;
	text = arena_alloc(arena, value->size + 1);
	if (!text)
		return NULL;
	text[pyjson_string(value, text)] = '\0';
	return text;
}

/* The size that the writer noted, null where each value has its own. */
static bool size_fits(const struct mds_column *column, const struct pyjson_value *noted,
		      uint64_t *size)
{
	char text[24];

	*size = 0;
	if (noted->kind == PYJSON_INTEGER && noted->size < sizeof(text)) {
		snprintf(text, sizeof(text), "%.*s", (int)noted->size, noted->text);
		*size = strtoull(text, NULL, 10);
		if (*text == '-' || *size == 0 || *size > UINT32_MAX)
			return false;
	} else if (noted->kind != PYJSON_NULL) {
		return false;
	}
	return *size == column->size || (column->kind == MDS_OBJECT && !column->extension);
}

static int add_column(struct mds_columns *columns, const struct pyjson_value *name,
		      const struct pyjson_value *encoding, const struct pyjson_value *size,
		      const char **fault)
{
	struct mds_column column = { .name = copy_string(&columns->arena, name),
				     .encoding = copy_string(&columns->arena, encoding) };
	uint64_t noted;
	int err;

	if (!column.name || !column.encoding)
		return fail(fault, "has a column without a name or an encoding");
	err = set_encoding(&columns->arena, &column);
	if (err)
		return err == -ENOMEM ? err :
					fail(fault, "has a column of arrays of no known type or shape");
	if (!size_fits(&column, size, &noted))
		return fail(fault, "has a column whose size is not that of its encoding");
	column.size = noted;
	columns->own_sizes += column.size == 0;
	return vec_push(&columns->items, column);
}

static int read_lists(struct mds_columns *columns, const struct pyjson_value *lists,
		      const char **fault)
{
	struct pyjson_walk names = pyjson_items(&lists[0]), kinds = pyjson_items(&lists[1]),
			   sizes = pyjson_items(&lists[2]);
	struct pyjson_value unused, name, kind, size;
	int err = 0;

	while (!err && pyjson_next(&names, &unused, &name)) {
		if (!pyjson_next(&kinds, &unused, &kind) || !pyjson_next(&sizes, &unused, &size))
			return fail(fault, "has more names of columns than encodings or sizes");
		if (columns->items.count == MDS_COLUMNS_MOST)
			return fail(fault, "has more than 1024 columns");
		err = add_column(columns, &name, &kind, &size, fault);
	}
	if (!err && columns->items.count == 0)
		return fail(fault, "has no columns");
	return err;
}

static bool is_version_2(const struct pyjson_value *root)
{
	struct pyjson_value version;

	return !pyjson_find(root, "version", strlen("version"), &version) ||
	       (version.kind == PYJSON_INTEGER && version.size == 1 &&
		*version.text == '0' + VERSION);
}

int mds_columns_read(struct mds_columns *columns, const void *json, size_t n,
		     const char **fault)
{
	static const char *const keys[] = { "column_names", "column_encodings", "column_sizes" };
	CLEANUP(pyjson_end) struct pyjson parsed = { .copy = NULL };
	struct pyjson_value lists[3];
	struct pyjson_fault unused;
	int err = pyjson_begin(&parsed, json, n, &unused);

	*columns = (struct mds_columns){ .own_sizes = 0 };
	if (err)
		return err == -ENOMEM ? err : fail(fault, "has no JSON behind its table");
	if (parsed.root.kind != PYJSON_OBJECT || !is_version_2(&parsed.root))
		return fail(fault, "is of a version other than 2");
	for (unsigned i = 0; i < 3; i++)
		if (!pyjson_find(&parsed.root, keys[i], strlen(keys[i]), &lists[i]) ||
		    lists[i].kind != PYJSON_ARRAY)
			return fail(fault, "has no lists of columns in its JSON");
	return read_lists(columns, lists, fault);
}

void mds_columns_free(struct mds_columns *columns)
{
	vec_free(&columns->items);
	arena_free(&columns->arena);
}

/* ---- Columns ---- */

const struct mds_column *mds_columns_find(const struct mds_columns *columns, const char *name)
{
	for (size_t i = 0; i < columns->items.count; i++)
		if (strcmp(columns->items.items[i].name, name) == 0)
			return &columns->items.items[i];
	return NULL;
}

void mds_columns_list(const struct mds_columns *columns, char *text, size_t room)
{
	*text = '\0';
	for (size_t i = 0; i < columns->items.count; i++)
		buffer_print(text, room, "%s%.100s (%.60s)", *text ? ", " : "",
			     columns->items.items[i].name, columns->items.items[i].encoding);
}
