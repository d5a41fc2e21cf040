/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c: the builder's names and attributes, each with a hash table.
 *
 * A directory whose names are added in sorted order needs no table: a name behind the
 * last one is new. Most archives are sorted, which saves half of the memory and time of a
 * table for millions of names. The first unsorted name puts all names into the table,
 * each once.
 */
#include <errno.h>
#include <string.h>

#include "base/hash.h"

#include "build/builder.h"

struct name_key {
	uint32_t parent;
	const char *text;
	size_t length;
};

static bool name_matches(const void *context, uint32_t id, const void *key)
{
	const struct builder *b = context;
	const struct builder_name *name = &b->names.items[id];
	const struct name_key *want = key;

	return name->parent == want->parent && name->length == want->length &&
	       memcmp(text_of(b, name), want->text, want->length) == 0;
}

static struct idmap_slot *find_slot(const struct builder *b, uint32_t parent,
				    const char *text, size_t length)
{
	struct name_key key = { parent, text, length };

	return idmap_find(&b->name_ids, (uint32_t)hash_bytes(text, length, parent),
			  name_matches, b, &key);
}

static int names_compare_texts(const char *a, size_t a_length, const char *b,
			       size_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int hash_name(struct builder *b, uint32_t id)
{
	const struct builder_name *name = &b->names.items[id];

	return idmap_insert(&b->name_ids,
			    (uint32_t)hash_bytes(text_of(b, name), name->length,
						 name->parent), id);
}

int names_hash(struct builder *b)
{
	int err = 0;

	for (; b->hashed < b->names.count && !err; b->hashed++)
		if (!b->names.items[b->hashed].dead)
			err = hash_name(b, b->hashed);
	return err;
}

/* The directory of these names, or NULL: no directory. */
static struct inode_side *names_family_of(const struct builder *b, uint32_t parent)
{
	const struct inode *inode = inode_of(b, parent);

	return inode->kind == TREE_DIRECTORY && inode->sided ? side_of(b, inode) : NULL;
}

int names_find(struct builder *b, uint32_t parent, const char *text, size_t length,
	       uint32_t *out)
{
	struct inode_side *family = names_family_of(b, parent);
	struct idmap_slot *slot;

	*out = NO_ID;
	if (!family || family->last == NO_ID)
		return 0;
	if (!family->disordered) {
		const struct builder_name *last = &b->names.items[family->last];
		int order =
			names_compare_texts(text, length, text_of(b, last), last->length);

		if (order == 0)
			*out = family->last;
		if (order >= 0)
			return 0;
		family->disordered = true;
	}
	if (names_hash(b) < 0)
		return -ENOMEM;
	slot = find_slot(b, parent, text, length);
	if (slot)
		*out = slot->id_plus_1 - 1;
	return 0;
}

/* Adds a new name to its directory. */
static void join_family(struct builder *b, uint32_t id)
{
	struct inode_side *family = side_of(b, inode_of(b, b->names.items[id].parent));

	family->children++;
	family->last = id;
}

static int names_store_text(struct builder *b, const char *text, size_t length,
			    struct builder_name *name)
{
	uint64_t at = b->texts.count;

	if (at >= LAYOUT_NAMES_LIMIT || vec_reserve(&b->texts, length + 1) < 0)
		return -ENOMEM;
	name->text_low = (uint32_t)at;
	name->text_high = (uint8_t)(at >> 32);
	name->length = (uint8_t)length;
	b->texts.items[at] = name->length;
	memcpy(b->texts.items + at + 1, text, length);
	b->texts.count += length + 1;
	return 0;
}

uint32_t names_add(struct builder *b, uint32_t parent, const char *text,
		   size_t length, uint32_t inode)
{
	uint32_t id = (uint32_t)b->names.count;
	struct builder_name name = { .parent = parent, .inode = inode };

	if (id >= LAYOUT_NODE_LIMIT || vec_reserve(&b->names, 1) < 0 ||
	    names_store_text(b, text, length, &name) < 0)
		return NO_ID;
	b->names.items[b->names.count++] = name;
	if (parent != NO_ID)
		join_family(b, id);
	return id;
}

/* The table keeps a slot with the old text, which no longer matches. */
int names_rename(struct builder *b, uint32_t id, const char *text, size_t length)
{
	struct builder_name *name = &b->names.items[id];

	if (names_hash(b) < 0 || names_store_text(b, text, length, name) < 0)
		return -ENOMEM;
	side_of(b, inode_of(b, name->parent))->disordered = true;
	return hash_name(b, id);
}

uint32_t names_shard(const struct builder *b, uint32_t name)
{
	return (uint32_t)vec_find_last(&b->firsts, b->firsts.items[middle] <= name);
}

uint32_t names_replace(struct builder *b, uint32_t old, uint32_t inode)
{
	uint32_t id = (uint32_t)b->names.count;
	struct builder_name name = b->names.items[old];
	struct inode_side *family = side_of(b, inode_of(b, name.parent));

	name.inode = inode;
	if (id >= LAYOUT_NODE_LIMIT || names_hash(b) < 0 || vec_push(&b->names, name) < 0)
		return NO_ID;
	find_slot(b, name.parent, text_of(b, &name), name.length)->id_plus_1 = id + 1;
	b->hashed++;
	b->names.items[old].dead = true;
	if (family->last == old)
		family->last = id;
	return id;
}

static bool attr_matches(const void *context, uint32_t id, const void *key)
{
	const struct builder *b = context;

	return memcmp(&b->attrs.items[id], key, sizeof(struct layout_attr)) == 0;
}

uint32_t names_attr(struct builder *b, const struct layout_attr *attr)
{
	uint32_t hash = (uint32_t)hash_bytes(attr, sizeof(*attr), 0);
	struct idmap_slot *slot = idmap_find(&b->attr_ids, hash, attr_matches, b, attr);
	uint32_t id = (uint32_t)b->attrs.count;

	if (slot)
		return slot->id_plus_1 - 1;
	if (id >= LAYOUT_ATTR_LIMIT || vec_push(&b->attrs, *attr) < 0 ||
	    idmap_insert(&b->attr_ids, hash, id) < 0)
		return NO_ID;
	return id;
}
