/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/arrow/row_names.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "config.h"

enum {
	JSON_BYTES = 4 << 20, /* its values take some fifty times as much */
	SUFFIX_BYTES = 10,
};

/* Classes */

#if WITH_JANSSON
#include <jansson.h>

/* info.features, or NULL; the root is to be released. */
static json_t *load_features(const char *json, size_t n, json_t **root)
{
	*root = n <= JSON_BYTES ? json_loadb(json, n, JSON_REJECT_DUPLICATES, NULL) :
				  NULL;
	return json_object_get(json_object_get(*root, "info"), "features");
}

/* The list of names of a feature that is a class, or NULL. */
static const json_t *names_of(const json_t *feature)
{
	const char *type = json_string_value(json_object_get(feature, "_type"));
	json_t *names = json_object_get(feature, "names");

	return type && strcmp(type, "ClassLabel") == 0 && json_array_size(names) ? names :
										   NULL;
}

static int row_names_copy_names(const json_t *list, struct arena *arena,
				const char ***out)
{
	size_t n = json_array_size(list);
	const char **names = arena_alloc(arena, n * sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(list, i);

		if (!json_is_string(item))
			return -EBADMSG;
		names[i] = arena_copy(arena, json_string_value(item),
				      json_string_length(item));
		if (!names[i])
			return -ENOMEM;
	}
	*out = names;
	return 0;
}

int arrow_class_names(const char *json, size_t n, const char *column,
		      struct arena *arena, const char ***out, size_t *count)
{
	json_t *root = NULL, *features = load_features(json, n, &root);
	const json_t *names = names_of(json_object_get(features, column));
	int err = json_is_object(features) ? 0 : -EBADMSG;

	*out = NULL;
	*count = 0;
	if (!err && names)
		err = row_names_copy_names(names, arena, out);
	if (!err && names)
		*count = json_array_size(names);
	json_decref(root);
	return err;
}

void arrow_class_columns(const char *json, size_t n, struct arrow_class_columns *out)
{
	json_t *root = NULL, *features = load_features(json, n, &root), *feature;
	const char *key;

	out->count = 0;
	json_object_foreach(features, key, feature) {
		if (!names_of(feature) || strlen(key) > ARROW_NAME_BYTES)
			continue;
		if (out->count < 2)
			snprintf(out->names[out->count], ARROW_NAME_BYTES + 1, "%s", key);
		out->count++;
	}
	json_decref(root);
}

const char *arrow_class_names_need(void)
{
	return NULL;
}

#else

const char *arrow_class_names_need(void)
{
	return NEEDS_JANSSON;
}

int arrow_class_names(const char *json, size_t n, const char *column,
		      struct arena *arena, const char ***out, size_t *count)
{
	(void)json, (void)n, (void)column, (void)arena, (void)out, (void)count;
	return -EBADMSG;
}

void arrow_class_columns(const char *json, size_t n, struct arrow_class_columns *out)
{
	(void)json, (void)n;
	out->count = 0;
}

#endif /* WITH_JANSSON */

/* Names of samples */

void arrow_names_begin(struct arrow_names *names)
{
	*names = (struct arrow_names){ .again = 0 };
}

void arrow_names_end(struct arrow_names *names)
{
	idmap_free(&names->known);
}

static bool is_named(const void *context, uint32_t id, const void *key)
{
	const struct samples *samples = context;
	const struct sample *first;

	samples_group(samples, samples_group_count(samples) - 1, &first);
	return first[id].name && strcmp(first[id].name, key) == 0;
}

static bool is_known(const struct arrow_names *names, const struct samples *samples,
		     const char *name)
{
	return idmap_find(&names->known, (uint32_t)hash_bytes(name, strlen(name), 0), is_named, samples,
			  name) != NULL;
}

/* Does it end as the names of files of a type do? "12.5 cm", "v1.0" and "a.2" do not. */
static bool row_names_has_suffix(const char *name, size_t n)
{
	const char *dot = memrchr(name, '.', n);
	size_t length = dot ? n - (size_t)(dot + 1 - name) : 0;
	bool letters = false;

	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)dot[1 + i]))
			return false;
		letters |= isalpha((unsigned char)dot[1 + i]) != 0;
	}
	return letters && length <= SUFFIX_BYTES;
}

const char *arrow_names_make(struct arrow_names *names, const struct samples *samples,
			     const char *path, size_t n, uint64_t row,
			     const char *extension)
{
	size_t begin = n;
	char base[ARROW_NAME_BYTES + 1];

	while (begin > 0 && path[begin - 1] != '/')
		begin--;
	path += begin;
	n -= begin;
	if (n == 0 || n > ARROW_NAME_BYTES - 32 || memchr(path, '\0', n) ||
	    (n <= 2 && memcmp(path, "..", n) == 0))
		return NULL;
	snprintf(base, sizeof(base), "%.*s%s%s", (int)n, path,
		 row_names_has_suffix(path, n) ? "" : ".",
		 row_names_has_suffix(path, n) ? "" : extension);
	snprintf(names->text, sizeof(names->text), "%s", base);
	if (!is_known(names, samples, names->text))
		return names->text;
	names->again++;
	snprintf(names->text, sizeof(names->text), "%" PRIu64 "-%s", row, base);
	return is_known(names, samples, names->text) ? NULL : names->text;
}

int arrow_names_note(struct arrow_names *names, const char *name, uint64_t row)
{
	if (row >= UINT32_MAX)
		return -ENOMEM;
	return idmap_insert(&names->known, (uint32_t)hash_bytes(name, strlen(name), 0), (uint32_t)row);
}
