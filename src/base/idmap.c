/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/idmap.h"

#include <errno.h>
#include <stdlib.h>

struct idmap_slot *idmap_find(const struct idmap *map, uint32_t hash,
			      idmap_match *match, const void *context,
			      const void *key)
{
	if (map->size == 0)
		return NULL;
	for (size_t i = hash & (map->size - 1);; i = (i + 1) & (map->size - 1)) {
		struct idmap_slot *slot = &map->slots[i];

		if (!slot->id_plus_1)
			return NULL;
		if (slot->hash == hash && match(context, slot->id_plus_1 - 1, key))
			return slot;
	}
}

static void add_slot(struct idmap *map, uint32_t hash, uint32_t id_plus_1)
{
	size_t i = hash & (map->size - 1);

	while (map->slots[i].id_plus_1)
		i = (i + 1) & (map->size - 1);
	map->slots[i] = (struct idmap_slot){ hash, id_plus_1 };
	map->used++;
}

static int grow(struct idmap *map)
{
	struct idmap bigger = { .size = map->size ? map->size * 2 : 1024 };

	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->size; i++) {
		if (map->slots[i].id_plus_1)
			add_slot(&bigger, map->slots[i].hash, map->slots[i].id_plus_1);
	}
	free(map->slots);
	*map = bigger;
	return 0;
}

int idmap_insert(struct idmap *map, uint32_t hash, uint32_t id)
{
	if (map->used >= map->size / 2 && grow(map) < 0)
		return -ENOMEM;
	add_slot(map, hash, id + 1);
	return 0;
}

void idmap_free(struct idmap *map)
{
	free(map->slots);
	*map = (struct idmap){ 0 };
}
