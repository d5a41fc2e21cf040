#include "format/squashfs_refs.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/random.h>

static uint32_t hash(const struct squashfs_refs *refs, uint64_t reference)
{
	uint64_t mixed = (reference ^ refs->seed) * UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 32) * (refs->seed | 1);
	return (uint32_t)(mixed >> 32);
}

static bool matches(const void *context, uint32_t id, const void *key)
{
	const struct squashfs_refs *refs = context;

	return refs->items.items[id].reference == *(const uint64_t *)key;
}

const uint32_t *squashfs_refs_find(const struct squashfs_refs *refs,
				   uint64_t reference)
{
	const struct idmap_slot *slot = idmap_find(&refs->map, hash(refs, reference),
						   matches, refs, &reference);

	return slot ? &refs->items.items[slot->id_plus_1 - 1].number : NULL;
}

int squashfs_refs_add(struct squashfs_refs *refs, uint64_t reference,
		      uint32_t number)
{
	struct squashfs_ref ref = { reference, number };

	if (!refs->seed && getrandom(&refs->seed, sizeof(refs->seed), GRND_NONBLOCK) < 0)
		refs->seed = (uintptr_t)refs; /* early in boot: better than nothing */
	if (refs->items.count >= UINT32_MAX - 1 || vec_push(&refs->items, ref) < 0)
		return -ENOMEM;
	return idmap_insert(&refs->map, hash(refs, reference),
			    (uint32_t)refs->items.count - 1);
}

void squashfs_refs_free(struct squashfs_refs *refs)
{
	idmap_free(&refs->map);
	vec_free(&refs->items);
}
