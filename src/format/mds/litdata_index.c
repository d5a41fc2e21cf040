/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/mds/litdata_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pyjson.h"
#include "format/format.h"

enum {
	TAIL_MOST = 1 << 20, /* the config stands behind the list of chunks */
	TRIES_MOST = 64,
	DEPTH_MOST = 32,
	NAME_MOST = 255, /* of a leaf: the keys above it are in each */
};

static int fail(const char **fault, const char *what)
{
	*fault = what;
	return -EBADMSG;
}

static bool find(const struct pyjson_value *object, const char *key, struct pyjson_value *out)
{
	return object->kind == PYJSON_OBJECT && pyjson_find(object, key, strlen(key), out);
}

/* A string's text, or NULL: no string, or no memory. */
static char *copy_string(struct arena *arena, const struct pyjson_value *value)
{
	char *text = value->kind == PYJSON_STRING ? arena_alloc(arena, value->size + 1) : NULL;

	if (text)
		text[pyjson_string(value, text)] = '\0';
	return text;
}

/* ---- Formats ---- */

static const struct litdata_format {
	const char *name;
	enum mds_kind kind;
	unsigned width;
	const char *extension;
} formats[] = {
	{ "jpeg", MDS_BYTES, 0, "jpg" },
	{ "image", MDS_BYTES, 0, "jpg" },
	{ "bytes", MDS_BYTES, 0, NULL },
	{ "file", MDS_BYTES, 0, NULL },
	{ "pil", MDS_PIXELS, 0, NULL },
	{ "jpeg_array", MDS_IMAGES, 0, "jpg" },
	{ "int", MDS_INTEGER, 0, NULL }, /* mds_shard.c finds how it is written */
	{ "bool", MDS_INTEGER, 1, NULL },
	{ "float", MDS_FLOAT, 8, NULL },
	{ "str", MDS_TEXT, 0, "txt" },
	{ "pickle", MDS_OBJECT, 0, "pkl" },
	{ "json", MDS_OBJECT, 0, "json" },
};

/* "image:png" has its type behind the colon. */
static int add_leaf(struct mds_columns *columns, const char *name,
		    const struct pyjson_value *format, const char **fault)
{
	struct mds_column column = { .name = name, .kind = MDS_OBJECT, .is_signed = true,
				     .encoding = copy_string(&columns->arena, format) };
	size_t n;

	if (!name)
		return -ENOMEM;
	if (!column.encoding)
		return fail(fault, "has a data_format that is no list of names");
	if (columns->items.count == MDS_COLUMNS_MOST)
		return fail(fault, "has more than 1024 leaves in an item");
	n = strcspn(column.encoding, ":");
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (strlen(formats[i].name) != n ||
		    memcmp(formats[i].name, column.encoding, n) != 0)
			continue;
		column.kind = formats[i].kind;
		column.width = formats[i].width;
		column.extension = formats[i].extension;
	}
	columns->own_sizes++;
	return vec_push(&columns->items, column);
}

/* ---- The tree of an item ---- */

struct spec_walk {
	struct mds_columns *columns;
	struct pyjson_walk formats;
	const char **fault;
};

static int walk_spec(struct spec_walk *walk, const struct pyjson_value *node, const char *name,
		     unsigned depth);

/* The children of a dict are called by its keys, others by their numbers. */
static int walk_children(struct spec_walk *walk, const struct pyjson_value *children,
			 const struct pyjson_value *keys, const char *name, unsigned depth)
{
	struct pyjson_walk nodes = pyjson_items(children), words = pyjson_items(keys);
	struct arena *arena = &walk->columns->arena;
	struct pyjson_value unused, node, key;
	int err = 0;

	for (unsigned i = 0; !err && pyjson_next(&nodes, &unused, &node); i++) {
		bool called = pyjson_next(&words, &unused, &key) && key.kind == PYJSON_STRING;
		const char *word = called ? copy_string(arena, &key) : arena_print(arena, "%u", i);

		if (word && *name)
			word = arena_print(arena, "%s.%s", name, word);
		if (!word)
			return -ENOMEM;
		if (strlen(word) > NAME_MOST)
			return fail(walk->fault, "has keys that make a name beyond 255 bytes");
		walk->columns->unnamed &= !called;
		err = walk_spec(walk, &node, word, depth + 1);
	}
	return err;
}

/* The context of a dict is the JSON of its keys, in a string. */
static int walk_spec(struct spec_walk *walk, const struct pyjson_value *node, const char *name,
		     unsigned depth)
{
	CLEANUP(pyjson_end) struct pyjson keys = { .copy = NULL };
	struct pyjson_value children, type, context, unused, format;
	struct pyjson_fault fault;
	char *text = NULL;

	if (depth > DEPTH_MOST || !find(node, "children_spec", &children) ||
	    !find(node, "type", &type) || children.kind != PYJSON_ARRAY)
		return fail(walk->fault, "has a data_spec of another form");
	if (type.kind == PYJSON_NULL) {
		if (!pyjson_next(&walk->formats, &unused, &format))
			return fail(walk->fault, "has a data_spec of more leaves than data_format");
		return add_leaf(walk->columns, *name ? name : "item", &format, walk->fault);
	}
	if (find(node, "context", &context))
		text = copy_string(&walk->columns->arena, &context);
	if (!text || pyjson_begin(&keys, text, strlen(text), &fault) < 0 ||
	    keys.root.kind != PYJSON_ARRAY)
		keys.root = (struct pyjson_value){ PYJSON_NULL, "", 0 };
	return walk_children(walk, &children, &keys.root, name, depth);
}

/* [1, the root's node] */
static int read_spec(struct mds_columns *columns, const struct pyjson_value *spec,
		     const struct pyjson_value *data_format, const char **fault)
{
	struct spec_walk walk = { columns, pyjson_items(data_format), fault };
	CLEANUP(pyjson_end) struct pyjson parsed = { .copy = NULL };
	struct pyjson_value unused, version, root;
	struct pyjson_walk items;
	struct pyjson_fault where;
	char *text = copy_string(&columns->arena, spec);
	int err;

	if (!text || pyjson_begin(&parsed, text, strlen(text), &where) < 0)
		return fail(fault, "has a data_spec that is no JSON");
	items = pyjson_items(&parsed.root);
	if (items.keys || !pyjson_next(&items, &unused, &version) ||
	    !pyjson_next(&items, &unused, &root))
		return fail(fault, "has a data_spec of another form");
	err = walk_spec(&walk, &root, "", 0);
	if (!err && pyjson_next(&walk.formats, &unused, &version))
		return fail(fault, "has a data_spec of fewer leaves than data_format");
	if (!err && columns->items.count == 0)
		return fail(fault, "says that items have no leaves");
	return err;
}

/* ---- The config ---- */

static bool is_null(const struct pyjson_value *config, const char *key)
{
	struct pyjson_value value;

	return !find(config, key, &value) || value.kind == PYJSON_NULL;
}

static bool is_word(const struct pyjson_value *config, const char *key, const char *word)
{
	struct pyjson_value value;

	return find(config, key, &value) && value.kind == PYJSON_STRING &&
	       pyjson_equals(&value, word, strlen(word));
}

static int read_config(struct mds_columns *columns, const struct pyjson_value *config,
		       const char **fault)
{
	struct pyjson_value data_format, spec;

	if (!is_null(config, "encryption"))
		return fail(fault, "says that its chunks are encrypted");
	if (!is_null(config, "compression_level") && !is_word(config, "compression_level", "chunk"))
		return fail(fault, "says that its items are compressed within the chunks "
				   "(compression_level='chunk' compresses whole chunks)");
	if (!is_null(config, "item_loader") && !is_word(config, "item_loader", "PyTreeLoader"))
		return fail(fault, "is of another loader than PyTreeLoader, such as one of tokens");
	if (!find(config, "data_format", &data_format) || data_format.kind != PYJSON_ARRAY ||
	    !find(config, "data_spec", &spec))
		return fail(fault, "has no data_format and data_spec in its config");
	columns->unnamed = true;
	return read_spec(columns, &spec, &data_format, fault);
}

/*
 * The last member "config" of the text from which on it is JSON: its value, and what is behind
 * it. Columns may be called so, too.
 */
static int find_config(char *text, size_t n, struct pyjson *json, struct pyjson_value *config)
{
	static const char member[] = "\"config\"";
	struct pyjson_fault unused;
	unsigned tries = 0;

	for (size_t at = n; at-- > 1 && tries < TRIES_MOST;) {
		char before = text[at - 1];

		if (n - at < strlen(member) || memcmp(text + at, member, strlen(member)) != 0)
			continue;
		tries++;
		text[at - 1] = '{';
		if (pyjson_begin(json, text + at - 1, n - at + 1, &unused) == 0 &&
		    find(&json->root, "config", config) && config->kind == PYJSON_OBJECT)
			return 0;
		pyjson_end(json);
		text[at - 1] = before;
	}
	return -EBADMSG;
}

static int read_index(struct mds_columns *columns, const struct source *index,
		      const char **fault)
{
	CLEANUP(pyjson_end) struct pyjson json = { .copy = NULL };
	CLEANUP(cleanup_free) char *text = NULL;
	uint64_t size = source_size(index);
	size_t n = size < TAIL_MOST ? (size_t)size : TAIL_MOST;
	struct pyjson_value config;
	int err;

	*columns = (struct mds_columns){ .own_sizes = 0 };
	text = malloc(n + 1);
	if (!text)
		return -ENOMEM;
	err = source_pread(index, text, n, size - n);
	if (err)
		return err;
	if (find_config(text, n, &json, &config) < 0)
		return fail(fault, "has no config behind its list of chunks");
	return read_config(columns, &config, fault);
}

int litdata_index_read(struct mds_columns *columns, const struct source *index,
		       struct error *e)
{
	const char *fault = NULL;
	int err = read_index(columns, index, &fault);

	if (err == -ENOMEM)
		return format_no_memory(source_path(index), e);
	if (err && !fault)
		return format_unreadable(source_path(index), err, e);
	return err ? error_set(e, ERROR_DATASET, EBADMSG, "'%s' %s; write the dataset again",
			       source_path(index), fault) : 0;
}
