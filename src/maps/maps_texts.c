/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/maps_texts.h"

#include <string.h>

#include "base/filename.h"
#include "base/hash.h"
#include "build/paths.h"

enum { COMPONENT_MOST = 255, PATH_MOST = 4096 };

struct maps_texts_wanted {
	const char *text;
	size_t size;
};

static bool maps_texts_is_equal(const void *context, uint32_t id, const void *key)
{
	const struct map_texts *texts = context;
	const struct maps_texts_wanted *wanted = key;
	const char *text = texts->items.items[id];

	return strncmp(text, wanted->text, wanted->size) == 0 && !text[wanted->size];
}

int64_t map_texts_add(struct map_texts *texts, const char *text, size_t size)
{
	struct maps_texts_wanted wanted = { text, size };
	uint32_t hash = (uint32_t)hash_bytes(text, size, 0);
	struct idmap_slot *slot =
		idmap_find(&texts->ids, hash, maps_texts_is_equal, texts, &wanted);
	const char *kept;

	if (slot)
		return slot->id_plus_1 - 1;
	kept = arena_copy(&texts->arena, text, size);
	if (!kept || texts->items.count >= UINT32_MAX - 1 ||
	    vec_push(&texts->items, kept) < 0 ||
	    idmap_insert(&texts->ids, hash, (uint32_t)texts->items.count - 1) < 0)
		return -ENOMEM;
	return (int64_t)texts->items.count - 1;
}

const char *map_texts_intern(struct map_texts *texts, const char *text, size_t size)
{
	int64_t number = map_texts_add(texts, text, size);

	return number < 0 ? NULL : texts->items.items[number];
}

void map_texts_free(struct map_texts *texts)
{
	idmap_free(&texts->ids);
	vec_free(&texts->items);
	arena_free(&texts->arena);
}

static const char *component_fault(const char *text, size_t size)
{
	if (size > COMPONENT_MOST)
		return "has a name of more than 255 bytes";
	return memchr(text, '\0', size) ? "has a byte 0 in it" : NULL;
}

const char *map_path_fault(const char *text, size_t size)
{
	const char *fault = NULL;

	if (size == 0)
		return "is empty";
	if (size >= PATH_MOST)
		return "has more than 4095 bytes";
	if (text[size - 1] == '/')
		return "ends with a slash";
	for (size_t start = 0; start < size && !fault;) {
		const char *slash = memchr(text + start, '/', size - start);
		size_t end = slash ? (size_t)(slash - text) : size;

		fault = component_fault(text + start, end - start);
		start = end + 1;
	}
	return fault;
}

const char *map_class_fault(const char *text, size_t size)
{
	if (size == 0)
		return "is empty";
	if (memchr(text, '/', size))
		return "has a slash in it, and a directory's name cannot";
	if ((size == 1 && *text == '.') || (size == 2 && memcmp(text, "..", 2) == 0))
		return "cannot be a directory's name";
	if (size == strlen(PATH_RESERVED) && memcmp(text, PATH_RESERVED, size) == 0)
		return "is .granaryfs, a name that every mount has for itself";
	return component_fault(text, size);
}

bool map_has_directory(const char *path, const char *name, size_t size)
{
	const char *end;

	for (; (end = strchr(path, '/')); path = end + 1)
		if ((size_t)(end - path) == size && memcmp(path, name, size) == 0)
			return true;
	return false;
}

bool map_directories_agree(const char *key, const char *path)
{
	const char *directory;
	size_t n = directory_name_of(path, &directory);

	return n == 0 || !strchr(key, '/') || map_has_directory(key, directory, n);
}
