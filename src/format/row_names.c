/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/row_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "base/hash.h"
#include "base/pyjson.h"
#include "base/text.h"
#include "base/utf8.h"

enum {
	ESCAPED_BYTES = 6 * ROW_NAME_BYTES, /* of a name in JSON: \u0041 */
};

/* Classes */

/* info.features; false: there is none. Call pyjson_end in any case. */
static bool load_features(const char *text, size_t n, struct pyjson *json,
			  struct pyjson_value *out)
{
	struct pyjson_fault fault;
	struct pyjson_value info;

	return pyjson_begin(json, text, n, &fault) == 0 &&
	       pyjson_find(&json->root, "info", 4, &info) &&
	       pyjson_find(&info, "features", 8, out) && out->kind == PYJSON_OBJECT;
}

/* The list of names of a feature that is a class: how many; 0: it is none. */
static size_t find_names(const struct pyjson_value *feature, struct pyjson_value *out)
{
	struct pyjson_value type, key, item;
	struct pyjson_walk walk;
	size_t n = 0;

	if (!pyjson_find(feature, "_type", 5, &type) || type.kind != PYJSON_STRING ||
	    !pyjson_equals(&type, "ClassLabel", 10) ||
	    !pyjson_find(feature, "names", 5, out) || out->kind != PYJSON_ARRAY)
		return 0;
	for (walk = pyjson_items(out); pyjson_next(&walk, &key, &item);)
		n++;
	return n;
}

static int row_names_copy_name(const struct pyjson_value *item, struct arena *arena,
			       const char **out)
{
	char *name = item->kind == PYJSON_STRING ? arena_alloc(arena, item->size) : NULL;
	ptrdiff_t n;

	if (!name)
		return item->kind == PYJSON_STRING ? -ENOMEM : -EBADMSG;
	n = utf8_name(name, pyjson_string(item, name));
	if (n < 0 || memchr(name, '\0', (size_t)n))
		return -EBADMSG;
	name[n] = '\0';
	*out = name;
	return 0;
}

int row_names_classes(const char *text, size_t n, const char *column,
		      struct arena *arena, const char ***out, size_t *count)
{
	CLEANUP(pyjson_end) struct pyjson json = { .copy = NULL };
	struct pyjson_value features, feature, names, key, item;
	struct pyjson_walk walk;
	int err = 0;

	*out = NULL;
	*count = 0;
	if (!load_features(text, n, &json, &features))
		return -EBADMSG;
	if (!pyjson_find(&features, column, strlen(column), &feature))
		return 0;
	n = find_names(&feature, &names);
	if (n == 0)
		return 0;
	*out = arena_alloc(arena, n * sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (walk = pyjson_items(&names); !err && pyjson_next(&walk, &key, &item); ++*count)
		err = row_names_copy_name(&item, arena, &(*out)[*count]);
	if (err)
		*count = 0;
	return err;
}

void row_class_columns(const char *text, size_t n, struct row_class_columns *out)
{
	CLEANUP(pyjson_end) struct pyjson json = { .copy = NULL };
	struct pyjson_value features, key, feature, names;
	struct pyjson_walk walk = { 0 };
	char name[ESCAPED_BYTES];

	out->count = 0;
	if (load_features(text, n, &json, &features))
		walk = pyjson_items(&features);
	while (walk.keys && pyjson_next(&walk, &key, &feature)) {
		n = key.size <= sizeof(name) ? pyjson_string(&key, name) : sizeof(name);
		if (n > ROW_NAME_BYTES || !find_names(&feature, &names))
			continue;
		if (out->count < 2)
			snprintf(out->names[out->count], ROW_NAME_BYTES + 1, "%.*s", (int)n,
				 name);
		out->count++;
	}
}

/* Names of samples */

void row_names_begin(struct row_names *names)
{
	*names = (struct row_names){ .again = 0 };
}

void row_names_end(struct row_names *names)
{
	idmap_free(&names->known);
}

struct known_context {
	struct samples *samples;
};

static bool is_named(const void *context, uint32_t id, const void *key)
{
	const struct known_context *known = context;
	struct sample sample;

	samples_get(known->samples, samples_group_count(known->samples) - 1, id, &sample);
	return sample.name && strcmp(sample.name, key) == 0;
}

static bool is_known(const struct row_names *names, struct samples *samples, const char *name)
{
	const struct known_context known = { samples };

	return idmap_find(&names->known, (uint32_t)hash_bytes(name, strlen(name), 0), is_named,
			  &known, name) != NULL;
}

const char *row_names_make(struct row_names *names, struct samples *samples,
			     const char *path, size_t n, uint64_t row,
			     const char *extension)
{
	size_t begin = n;
	char base[ROW_NAME_BYTES + 1];

	while (begin > 0 && path[begin - 1] != '/')
		begin--;
	path += begin;
	n -= begin;
	if (n == 0 || n > ROW_NAME_BYTES - 32 || memchr(path, '\0', n) ||
	    (n <= 2 && memcmp(path, "..", n) == 0))
		return NULL;
	snprintf(base, sizeof(base), "%.*s", (int)n, path);
	if (!filename_has_suffix(base))
		buffer_print(base, sizeof(base), ".%s", extension);
	snprintf(names->text, sizeof(names->text), "%s", base);
	if (!is_known(names, samples, names->text))
		return names->text;
	names->again++;
	snprintf(names->text, sizeof(names->text), "%" PRIu64 "-%s", row, base);
	return is_known(names, samples, names->text) ? NULL : names->text;
}

int row_names_note(struct row_names *names, const char *name, uint64_t row)
{
	if (row >= UINT32_MAX)
		return -ENOMEM;
	return idmap_insert(&names->known, (uint32_t)hash_bytes(name, strlen(name), 0), (uint32_t)row);
}
