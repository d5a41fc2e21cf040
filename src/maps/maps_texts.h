/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maps_texts.h: texts that are kept once, and found by a hash table.
 *
 * They come from strangers: their hash has a secret of this process (base/hash.h).
 * Not for concurrent use.
 */
#ifndef GRANARY_MAPS_MAPS_TEXTS_H
#define GRANARY_MAPS_MAPS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/vec.h"

struct map_texts {
	struct arena arena;
	struct idmap ids;
	VEC(const char *) items; /* NUL-terminated */
};

/* The number of the text in `items`, added if it is new; -ENOMEM. It must not hold a NUL. */
int64_t map_texts_add(struct map_texts *texts, const char *text, size_t size);

/* The text, kept once; NULL: out of memory. It must not hold a NUL. */
const char *map_texts_intern(struct map_texts *texts, const char *text, size_t size);
void map_texts_free(struct map_texts *texts);

/*
 * Says of a text that it cannot be a path, or (no slash in it) the name of a class:
 * "is longer than 255 bytes". NULL: it can.
 */
const char *map_path_fault(const char *text, size_t size);
const char *map_class_fault(const char *text, size_t size);

/* Is there a directory of that name in the path? */
bool map_has_directory(const char *path, const char *name, size_t size);

/* Does the file lie in a directory that the key has? One that has none lies anywhere. */
bool map_directories_agree(const char *key, const char *path);

#endif
