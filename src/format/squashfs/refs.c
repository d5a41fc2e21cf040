/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/squashfs/refs.h"

#include <errno.h>
#include <stdbool.h>

#include "base/hash.h"

static bool matches(const void *context, uint32_t id, const void *key)
{
	const struct squashfs_refs *refs = context;

	return refs->items.items[id].reference == *(const uint64_t *)key;
}

const uint32_t *squashfs_refs_find(const struct squashfs_refs *refs,
				   uint64_t reference)
{
	const struct idmap_slot *slot =
		idmap_find(&refs->map, (uint32_t)hash_number(reference, 0), matches, refs,
			   &reference);

	return slot ? &refs->items.items[slot->id_plus_1 - 1].number : NULL;
}

int squashfs_refs_add(struct squashfs_refs *refs, uint64_t reference,
		      uint32_t number)
{
	struct squashfs_ref ref = { reference, number };

	if (refs->items.count >= UINT32_MAX - 1 || vec_push(&refs->items, ref) < 0)
		return -ENOMEM;
	return idmap_insert(&refs->map, (uint32_t)hash_number(reference, 0),
			    (uint32_t)refs->items.count - 1);
}

void squashfs_refs_free(struct squashfs_refs *refs)
{
	idmap_free(&refs->map);
	vec_free(&refs->items);
}
