#include "tree/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"
#include "util/checked.h"
#include "util/vec.h"

struct entries {
	struct arena arena; /* what the items point to */
	VEC(struct entry) items;
	VEC(struct volume_desc) volumes;
	uint64_t left_out;
	int failed;
};

struct entries *entries_new(void)
{
	return calloc(1, sizeof(struct entries));
}

void entries_free(struct entries *entries)
{
	if (!entries)
		return;
	for (size_t i = 0; i < entries->items.count; i++)
		entries_free(entries->items.items[i].nested);
	vec_free(&entries->items);
	vec_free(&entries->volumes);
	arena_free(&entries->arena);
	free(entries);
}

static int copy_string(struct entries *entries, const char **text)
{
	if (!*text)
		return 0;
	*text = arena_copy(&entries->arena, *text, strlen(*text));
	return *text ? 0 : -ENOMEM;
}

static int copy_extents(struct entries *entries, struct entry *entry)
{
	if (entry->extent_count == 0)
		return 0;
	entry->extents = (const void *)arena_copy(&entries->arena, entry->extents,
			entry->extent_count * sizeof(*entry->extents));
	return entry->extents ? 0 : -ENOMEM;
}

static int copy_xattrs(struct entries *entries, struct entry *entry)
{
	struct entry_xattr *copies;

	if (entry->xattr_count == 0)
		return 0;
	copies = arena_alloc(&entries->arena, entry->xattr_count * sizeof(*copies));
	if (!copies)
		return -ENOMEM;
	for (size_t i = 0; i < entry->xattr_count; i++) {
		copies[i] = entry->xattrs[i];
		copies[i].value = arena_copy(&entries->arena, copies[i].value,
					     copies[i].size);
		if (copy_string(entries, &copies[i].name) < 0 || !copies[i].value)
			return -ENOMEM;
	}
	entry->xattrs = copies;
	return 0;
}

int entries_add(struct entries *entries, const struct entry *entry)
{
	struct entry copy = *entry;

	if (copy_string(entries, &copy.path) < 0 ||
	    copy_string(entries, &copy.target) < 0 ||
	    copy_extents(entries, &copy) < 0 || copy_xattrs(entries, &copy) < 0)
		return -ENOMEM;
	return vec_push(&entries->items, copy);
}

int entries_add_volume(struct entries *entries, const struct volume_desc *volume)
{
	if (vec_push(&entries->volumes, *volume) < 0)
		return -ENOMEM;
	return (int)entries->volumes.count - 1;
}

/* Few volumes, and nearly always the last one made: a scan from the end. */
static int find_raw_volume(const struct entries *entries, uint32_t source,
			   uint64_t base)
{
	for (size_t i = entries->volumes.count; i-- > 0;) {
		const struct volume_desc *volume = &entries->volumes.items[i];

		if (volume->kind == VOLUME_RAW && volume->source == source &&
		    volume->base == base)
			return (int)i;
	}
	return -ENOENT;
}

int entries_raw_extent(struct entries *entries, uint32_t source,
		       uint64_t source_size, uint64_t offset, uint64_t length,
		       struct entry_extent *out)
{
	uint64_t base = offset - offset % VOLUME_OFFSET_LIMIT;
	int volume;

	if (!range_within(offset, length, source_size))
		return -EBADMSG;
	volume = find_raw_volume(entries, source, base);
	if (volume == -ENOENT)
		volume = entries_add_volume(entries, &(struct volume_desc){
			.kind = VOLUME_RAW, .source = source,
			.base = base, .length = source_size - base });
	if (volume < 0)
		return volume;
	*out = (struct entry_extent){
		.offset = offset - base,
		.length = length,
		.volume = (uint32_t)volume,
	};
	return 0;
}

void entries_set_failed(struct entries *entries)
{
	entries->failed = 1;
}

int entries_failed(const struct entries *entries)
{
	return entries->failed;
}

void entries_leave_out(struct entries *entries)
{
	entries->left_out++;
}

uint64_t entries_left_out(const struct entries *entries)
{
	uint64_t count = entries->left_out;

	for (size_t i = 0; i < entries->items.count; i++) {
		const struct entries *nested = entries->items.items[i].nested;

		if (nested && !nested->failed)
			count += entries_left_out(nested);
	}
	return count;
}

size_t entries_count(const struct entries *entries)
{
	return entries->items.count;
}

const struct entry *entries_get(const struct entries *entries, size_t i)
{
	return &entries->items.items[i];
}

size_t entries_volume_count(const struct entries *entries)
{
	return entries->volumes.count;
}

const struct volume_desc *entries_volume(const struct entries *entries, size_t i)
{
	return &entries->volumes.items[i];
}
