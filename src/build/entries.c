/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/entries.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/vec.h"
#include "build/packed.h"
#include "index/array_tiles.h"

/* A volume, and the data of its kind. */
struct log_volume {
	struct volume_desc is;
	VEC(struct volume_chunk) chunks;
	VEC(unsigned char) literals;
	struct volume_array *array; /* in the arena */
};

/* The ring of entries that entries_get has unpacked. */
struct entry_ring {
	struct entry entries[ENTRIES_CACHED];
	struct entry_extent extents[ENTRIES_CACHED];
	unsigned next;
};

struct entries {
	struct packed packed; /* all entries, by number */
	struct arena arena;   /* data of `unpacked` */
	VEC(struct entry) unpacked; /* entries that do not fit `packed` */
	struct entry_ring *ring;
	struct entries *next;
	VEC(struct log_volume) volumes;
	uint64_t left_out;
	int failed;
	size_t distinct_at_plus_1;
};

struct entries *entries_new(void)
{
	struct entries *entries = calloc(1, sizeof(*entries));

	if (!entries)
		return NULL;
	entries->ring = calloc(1, sizeof(*entries->ring));
	if (entries->ring)
		return entries;
	free(entries);
	return NULL;
}

static void free_one(struct entries *entries)
{
	for (size_t i = 0; i < entries->unpacked.count; i++)
		entries_free(entries->unpacked.items[i].nested);
	for (size_t i = 0; i < entries->volumes.count; i++) {
		vec_free(&entries->volumes.items[i].chunks);
		vec_free(&entries->volumes.items[i].literals);
	}
	vec_free(&entries->unpacked);
	packed_free(&entries->packed);
	free(entries->ring);
	vec_free(&entries->volumes);
	arena_free(&entries->arena);
	free(entries);
}

void entries_free(struct entries *entries)
{
	while (entries) {
		struct entries *next = entries->next;

		free_one(entries);
		entries = next;
	}
}

void entries_append(struct entries *entries, struct entries *more)
{
	entries_last(entries)->next = more;
}

struct entries *entries_next(const struct entries *entries)
{
	return entries->next;
}

struct entries *entries_last(struct entries *entries)
{
	while (entries->next)
		entries = entries->next;
	return entries;
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

	if (packed_fits(entry))
		return packed_add(&entries->packed, entry);
	if (copy_string(entries, &copy.path) < 0 ||
	    copy_string(entries, &copy.target) < 0 ||
	    copy_extents(entries, &copy) < 0 || copy_xattrs(entries, &copy) < 0)
		return -ENOMEM;
	if (vec_reserve(&entries->unpacked, 1) < 0 ||
	    packed_add_external(&entries->packed, entries->unpacked.count) < 0)
		return -ENOMEM;
	return vec_push(&entries->unpacked, copy);
}

int entries_add_volume(struct entries *entries, const struct volume_desc *volume)
{
	struct log_volume added = { .is = *volume };

	if (volume->kind != VOLUME_RAW && volume->length)
		return -EINVAL; /* the functions that fill these make them */
	if (entries->volumes.count >= INT_MAX || vec_push(&entries->volumes, added) < 0)
		return -ENOMEM;
	return (int)entries->volumes.count - 1;
}

/*
 * The number of a volume of this kind, source, base, guard and codecs, or -ENOENT. Mostly
 * the last of a few, so the scan starts at the end.
 */
static int entries_find_volume(const struct entries *entries,
			       const struct volume_desc *want)
{
	for (size_t i = entries->volumes.count; i-- > 0;) {
		const struct volume_desc *volume = &entries->volumes.items[i].is;

		if (volume->kind == want->kind && volume->source == want->source &&
		    volume->base == want->base && volume->guard == want->guard &&
		    volume->snapshot.transaction == want->snapshot.transaction &&
		    memcmp(volume->codecs, want->codecs, sizeof(want->codecs)) == 0)
			return (int)i;
	}
	return -ENOENT;
}

/* An extent of a raw volume like `wanted`, whose base and length are set here. */
static int entries_window_extent(struct entries *entries, struct volume_desc wanted,
				 uint64_t source_size, uint64_t offset, uint64_t length,
				 struct entry_extent *out)
{
	uint64_t base = offset - offset % VOLUME_OFFSET_LIMIT;
	int volume;

	if (!range_within(offset, length, source_size))
		return -EBADMSG;
	wanted.kind = VOLUME_RAW;
	wanted.base = base;
	wanted.length = source_size - base;
	volume = entries_find_volume(entries, &wanted);
	if (volume == -ENOENT)
		volume = entries_add_volume(entries, &wanted);
	if (volume < 0)
		return volume;
	*out = (struct entry_extent){
		.offset = offset - base,
		.length = length,
		.volume = (uint32_t)volume,
	};
	return 0;
}

int entries_guarded_extent(struct entries *entries, uint32_t source,
			   uint64_t source_size, enum volume_guard guard,
			   uint64_t offset, uint64_t length,
			   struct entry_extent *out)
{
	const struct volume_desc wanted = { .source = source, .guard = guard };

	return entries_window_extent(entries, wanted, source_size, offset, length, out);
}

static enum volume_guard guard_of(const struct volume_snapshot *snapshot)
{
	return snapshot->transaction ? GUARD_LMDB : GUARD_NONE;
}

int entries_snapshot_extent(struct entries *entries, uint32_t source, uint64_t source_size,
			    const struct volume_snapshot *snapshot, uint64_t offset,
			    uint64_t length, struct entry_extent *out)
{
	const struct volume_desc wanted = { .source = source, .guard = guard_of(snapshot),
					    .snapshot = *snapshot };

	return entries_window_extent(entries, wanted, source_size, offset, length, out);
}

int entries_raw_extent(struct entries *entries, uint32_t source,
		       uint64_t source_size, uint64_t offset, uint64_t length,
		       struct entry_extent *out)
{
	return entries_guarded_extent(entries, source, source_size, GUARD_NONE, offset,
				      length, out);
}

/*
 * The volume like `want` that has room for `length` more bytes, or a new one. Only the
 * newest of its kind may have room, and find_volume finds that one.
 */
static int volume_with_room(struct entries *entries, const struct volume_desc *want,
			    uint64_t length)
{
	int volume = entries_find_volume(entries, want);

	if (volume >= 0 &&
	    entries->volumes.items[volume].is.length + length <= VOLUME_OFFSET_LIMIT)
		return volume;
	return entries_add_volume(entries, want);
}

/* Extends a volume by `length` bytes. */
static struct entry_extent grow_volume(struct entries *entries, int volume,
				       uint64_t length)
{
	struct volume_desc *desc = &entries->volumes.items[volume].is;
	struct entry_extent extent = { .offset = desc->length, .length = length,
				       .volume = (uint32_t)volume };

	desc->length += length;
	return extent;
}

int entries_coded_extent(struct entries *entries, const struct entry_chunk *chunk,
			 struct entry_extent *out)
{
	struct volume_desc wanted = { .kind = VOLUME_CODED, .source = chunk->source };
	struct volume_chunk made = { .stored_at = chunk->stored_at,
				     .stored_length = (uint32_t)chunk->stored_length,
				     .skipped = chunk->skipped };
	int volume;

	if (!range_within(chunk->stored_at, chunk->stored_length, chunk->source_size) ||
	    chunk->stored_length == 0 || chunk->stored_length > VOLUME_CHUNK_LIMIT ||
	    chunk->plain == 0 || chunk->plain > VOLUME_CHUNK_LIMIT)
		return -EBADMSG;
	memcpy(wanted.codecs, chunk->codecs, sizeof(wanted.codecs));
	volume = volume_with_room(entries, &wanted, chunk->plain);
	if (volume < 0)
		return volume;
	made.start = entries->volumes.items[volume].is.length;
	if (vec_push(&entries->volumes.items[volume].chunks, made) < 0)
		return -ENOMEM;
	entries->volumes.items[volume].is.chunk_count++;
	*out = grow_volume(entries, volume, chunk->plain);
	return 0;
}

int entries_literal_extent(struct entries *entries, const void *bytes,
			   size_t length, struct entry_extent *out)
{
	struct volume_desc wanted = { .kind = VOLUME_LITERAL };
	int volume = volume_with_room(entries, &wanted, length);
	struct log_volume *v;

	if (volume < 0)
		return volume;
	v = &entries->volumes.items[volume];
	if (vec_reserve(&v->literals, length) < 0)
		return -ENOMEM;
	memcpy(v->literals.items + v->literals.count, bytes, length);
	v->literals.count += length;
	*out = grow_volume(entries, volume, length);
	return 0;
}

static void copy_array(const struct entry_array *array, struct volume_array *out)
{
	*out = (struct volume_array){ .rank = array->rank, .item = array->item,
				      .filled = array->fill != NULL };
	for (uint32_t k = 0; k < array->rank && k < VOLUME_RANK; k++) {
		out->dims[k] = array->dims[k];
		out->tile[k] = array->tile[k];
		out->order[k] = array->order[k];
	}
}

static bool are_tiles_valid(const struct entry_array *array)
{
	for (uint64_t i = 0; i < array->tile_count; i++) {
		const struct entry_tile *tile = &array->tiles[i];

		if (tile->stored_length > VOLUME_CHUNK_LIMIT ||
		    !range_within(tile->stored_at, tile->stored_length, array->source_size))
			return false;
	}
	return true;
}

/* Copies the array's numbers, tiles and fill element: 0 or -ENOMEM. */
static int entries_fill_array(struct entries *entries, struct log_volume *volume,
			      const struct entry_array *array,
			      const struct volume_array *is)
{
	volume->array = (void *)arena_copy(&entries->arena, is, sizeof(*is));
	if (!volume->array || vec_reserve(&volume->chunks, array->tile_count) < 0 ||
	    vec_reserve(&volume->literals, is->filled ? is->item : 0) < 0)
		return -ENOMEM;
	if (is->filled) {
		memcpy(volume->literals.items, array->fill, is->item);
		volume->literals.count = is->item;
	}
	for (uint64_t i = 0; i < array->tile_count; i++) {
		const struct entry_tile *tile = &array->tiles[i];

		volume->chunks.items[volume->chunks.count++] = (struct volume_chunk){
			.stored_at = tile->stored_at, .skipped = tile->skipped,
			.stored_length = (uint32_t)tile->stored_length,
		};
	}
	volume->is.chunk_count = array->tile_count;
	return 0;
}

int entries_array_extent(struct entries *entries, const struct entry_array *array,
			 struct entry_extent *out)
{
	struct volume_desc made = { .kind = VOLUME_ARRAY, .source = array->source,
				    .guard = guard_of(&array->snapshot),
				    .snapshot = array->snapshot };
	struct array_measure measure;
	struct volume_array is;
	int volume;

	copy_array(array, &is);
	if (array_measure(&is, &measure) < 0 || measure.tiles != array->tile_count ||
	    !are_tiles_valid(array))
		return -EBADMSG;
	memcpy(made.codecs, array->codecs, sizeof(made.codecs));
	volume = entries_add_volume(entries, &made);
	if (volume < 0)
		return volume;
	if (entries_fill_array(entries, &entries->volumes.items[volume], array, &is) < 0)
		return -ENOMEM;
	*out = grow_volume(entries, volume, measure.bytes);
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

void entries_forbid_duplicates(struct entries *entries)
{
	if (!entries->distinct_at_plus_1)
		entries->distinct_at_plus_1 = entries_count(entries) + 1;
}

size_t entries_unique_from(const struct entries *entries)
{
	return entries->distinct_at_plus_1 - 1; /* 0: none */
}

void entries_leave_out(struct entries *entries)
{
	entries->left_out++;
}

uint64_t entries_left_out(const struct entries *entries)
{
	uint64_t count = entries->left_out;

	for (size_t i = 0; i < entries->unpacked.count; i++) {
		const struct entries *nested = entries->unpacked.items[i].nested;

		if (nested && !nested->failed)
			count += entries_left_out(nested);
	}
	return count + (entries->next ? entries_left_out(entries->next) : 0);
}

size_t entries_count(const struct entries *entries)
{
	return entries->packed.count;
}

const struct entry *entries_get(struct entries *entries, size_t i)
{
	unsigned slot = entries->ring->next;
	struct entry *entry = &entries->ring->entries[slot];
	size_t where;

	if (!packed_get(&entries->packed, i, entry, &entries->ring->extents[slot], &where))
		return &entries->unpacked.items[where];
	entries->ring->next = (slot + 1) % ENTRIES_CACHED;
	return entry;
}

void entries_release(struct entries *entries, size_t i)
{
	packed_release(&entries->packed, i);
}

/* Rewrites an entry that is not packed; unchanged pointers stay. */
static int rewrite_unpacked(struct entries *entries, size_t where, entries_edit *edit,
			    void *context)
{
	struct entry *kept = &entries->unpacked.items[where], copy = *kept;
	int err = edit(context, &copy);

	if (!err && copy.path != kept->path)
		err = copy_string(entries, &copy.path);
	if (!err && copy.target != kept->target)
		err = copy_string(entries, &copy.target);
	kept->path = copy.path;
	kept->target = copy.target;
	return err ? err : packed_add_external(&entries->packed, where);
}

int entries_rewrite(struct entries *entries, entries_edit *edit, void *context)
{
	enum { RELEASE_EVERY = 4096 };
	struct packed old = entries->packed;
	int err = 0;

	entries->packed = (struct packed){ 0 };
	for (size_t i = 0; i < old.count && !err; i++) {
		struct entry_extent extent;
		struct entry entry;
		size_t where;

		if (packed_get(&old, i, &entry, &extent, &where)) {
			err = edit(context, &entry);
			err = err ? err : entries_add(entries, &entry);
		} else {
			err = rewrite_unpacked(entries, where, edit, context);
		}
		if (i % RELEASE_EVERY == 0)
			packed_release(&old, i);
	}
	packed_free(&old);
	return err;
}

size_t entries_volume_count(const struct entries *entries)
{
	return entries->volumes.count;
}

const struct volume_desc *entries_volume(const struct entries *entries, size_t i)
{
	return &entries->volumes.items[i].is;
}

const struct volume_chunk *entries_chunks(const struct entries *entries, size_t volume)
{
	return entries->volumes.items[volume].chunks.items;
}

const void *entries_literals(const struct entries *entries, size_t volume)
{
	return entries->volumes.items[volume].literals.items;
}

const struct volume_array *entries_array(const struct entries *entries, size_t volume)
{
	return entries->volumes.items[volume].array;
}
