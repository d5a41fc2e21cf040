/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/vec.h"
#include "source/part_names.h"
#include "source/source_kind.h"

struct part {
	struct source *source; /* owned */
	uint64_t start;
};

struct parts {
	struct source source; /* the first: see parts_of */
	VEC(struct part) items;
};

static const struct source_ops parts_ops;

static struct parts *parts_of(const struct source *source)
{
	return (struct parts *)(uintptr_t)source;
}

static bool is_parts(const struct source *source)
{
	return source->ops == &parts_ops;
}

/* ---- Finding a part ---------------------------------------------------------------- */

static size_t part_number_at(const struct parts *parts, uint64_t at)
{
	size_t low = 0, high = parts->items.count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (parts->items.items[middle].start <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t source_part_count(const struct source *source)
{
	return is_parts(source) ? (uint32_t)parts_of(source)->items.count : 1;
}

const struct source *source_part(const struct source *source, uint32_t i)
{
	return is_parts(source) ? parts_of(source)->items.items[i].source : source;
}

const struct source *source_part_by_path(const struct source *source, const char *path)
{
	for (uint32_t i = 0; i < source_part_count(source); i++)
		if (strcmp(source_part(source, i)->path, path) == 0)
			return source_part(source, i);
	return NULL;
}

uint64_t source_part_start(const struct source *source, uint32_t i)
{
	return is_parts(source) ? parts_of(source)->items.items[i].start : 0;
}

const struct source *source_part_at(const struct source *source, uint64_t *at)
{
	const struct part *part;

	if (!is_parts(source))
		return source;
	part = &parts_of(source)->items.items[part_number_at(parts_of(source), *at)];
	*at -= part->start;
	return part->source;
}

/* ---- Operations -------------------------------------------------------------------- */

static int parts_pread(const struct source *source, void *buffer, size_t length, uint64_t *at,
		       bool again)
{
	const struct parts *parts = parts_of(source);
	unsigned char *to = buffer;
	int err = 0;

	for (size_t i = part_number_at(parts, *at); length && !err; i++) {
		const struct part *part = &parts->items.items[i];
		uint64_t inside = *at - part->start, left = part->source->info.size - inside;
		size_t n = length < left ? length : (size_t)left;

		err = part->source->ops->pread(part->source, to, n, &inside, again);
		*at = part->start + inside;
		to += n;
		length -= n;
	}
	return err;
}

static void parts_hint(const struct source *source, enum source_hint hint, uint64_t at,
		       uint64_t length)
{
	const struct parts *parts = parts_of(source);
	uint64_t end = hint == HINT_SOON && at + length < source->info.size ?
		       at + length : source->info.size;

	if (hint != HINT_SOON)
		at = 0;
	for (size_t i = part_number_at(parts, at); at < end; i++) {
		const struct part *part = &parts->items.items[i];
		uint64_t behind = part->start + part->source->info.size;

		behind = behind < end ? behind : end;
		source_hint(part->source, hint, at - part->start, behind - at);
		at = behind;
	}
}

static uint64_t parts_next_data(const struct source *source, uint64_t at)
{
	const struct parts *parts = parts_of(source);

	for (size_t i = part_number_at(parts, at); i < parts->items.count; i++) {
		const struct part *part = &parts->items.items[i];
		uint64_t found = source_next_data(part->source, at - part->start);

		at = part->start + found;
		if (found < part->source->info.size)
			break;
	}
	return at;
}

/*
 * A part that is written anew gets the latest time of all. Digests and samples of the
 * parts are chained, with their sizes.
 */
static int parts_identify(const struct source *source, struct identity *out)
{
	const struct parts *parts = parts_of(source);

	*out = (struct identity){ .size = source->info.size, .mtime_ns = INT64_MIN,
				  .number = 1 };
	for (size_t i = 0; i < parts->items.count; i++) {
		struct identity is;
		int err = source_identity(parts->items.items[i].source, 0, &is);
		uint64_t said[] = { is.size, is.digest };

		if (err)
			return err;
		if (out->mtime_ns < is.mtime_ns)
			out->mtime_ns = is.mtime_ns;
		out->digest = XXH3_64bits_withSeed(said, sizeof(said), out->digest);
		out->number = is.number && out->number ?
			      XXH3_64bits_withSeed(&is.number, sizeof(is.number),
						   out->number) : 0;
	}
	return 0;
}

static uint64_t parts_sample(const struct source *source, unsigned samples)
{
	const struct parts *parts = parts_of(source);
	unsigned each = samples / (unsigned)parts->items.count + 1;
	uint64_t all = 1;

	for (size_t i = 0; i < parts->items.count && all; i++) {
		uint64_t one = source_samples(parts->items.items[i].source, each);

		all = one ? XXH3_64bits_withSeed(&one, sizeof(one), all) : 0;
	}
	return all;
}

static void parts_close(struct source *source)
{
	struct parts *parts = parts_of(source);

	for (size_t i = 0; i < parts->items.count; i++)
		source_close(parts->items.items[i].source);
	vec_free(&parts->items);
}

static const struct source_ops parts_ops = {
	.pread = parts_pread, .hint = parts_hint, .next_data = parts_next_data,
	.identify = parts_identify, .sample = parts_sample, .close = parts_close,
};

/* ---- Adding a part ----------------------------------------------------------------- */

static int parts_no_memory(const struct source *source, struct error *e)
{
	return error_no_memory(e, source->path);
}

static int check_owner(const struct source *first, const struct source *part, struct error *e)
{
	if (first->info.owner.uid == part->info.owner.uid)
		return 0;
	return error_set(e, ERROR_DATASET, EPERM,
			 "'%s' belongs to user %u, and '%s' to user %u, though they are parts of "
			 "one file; have all parts belong to one user",
			 first->path, (unsigned)first->info.owner.uid, part->path,
			 (unsigned)part->info.owner.uid);
}

/* A part's permissions are those of all; a part may have become readable to fewer. */
static int append_part(struct parts *parts, struct source *part, struct error *e)
{
	struct source_info *all = &parts->source.info;
	struct source_owner *owner = &all->owner, *added = &part->info.owner;
	uint64_t size;
	int err;

	if (__builtin_add_overflow(all->size, part->info.size, &size) || size > INT64_MAX)
		return error_set(e, ERROR_DATASET, EFBIG,
				 "'%s': no file is as large as its parts", part->path);
	err = vec_push(&parts->items, ((struct part){ part, all->size }));
	if (err)
		return parts_no_memory(part, e);
	all->size = size;
	owner->mode &= owner->gid == added->gid ? added->mode : added->mode & 0707;
	if (owner->mtime < added->mtime ||
	    (owner->mtime == added->mtime && owner->mtime_ns < added->mtime_ns)) {
		owner->mtime = added->mtime;
		owner->mtime_ns = added->mtime_ns;
	}
	return 0;
}

/* A source of one part. */
static struct parts *wrap_first(struct source *first, struct error *e)
{
	struct parts *parts = source_new(&parts_ops, sizeof(*parts), first->path, e);
	uint64_t size = first->info.size;

	if (!parts)
		return NULL;
	parts->source.info = first->info;
	parts->source.info.size = 0;
	parts->source.place = first->place ? strdup(first->place) : NULL;
	if (append_part(parts, first, e) == 0 && parts->source.info.size == size)
		return parts;
	vec_free(&parts->items);
	source_close(&parts->source);
	return NULL;
}

int parts_add(struct source **whole, struct source *part, struct error *e)
{
	struct parts *parts;
	int err = check_owner(*whole, part, e);

	if (err)
		return err;
	parts = is_parts(*whole) ? parts_of(*whole) : wrap_first(*whole, e);
	if (!parts)
		return -ENOMEM;
	*whole = &parts->source;
	return append_part(parts, part, e);
}

/* ---- Sentences --------------------------------------------------------------------- */

/* The first part that is shorter than the first one, but for the last. */
static const struct source *find_short(const struct source *source)
{
	for (uint32_t i = 1; i + 1 < source_part_count(source); i++)
		if (source_part(source, i)->info.size < source_part(source, 0)->info.size)
			return source_part(source, i);
	return NULL;
}

static void say_short(const struct source *part, const struct source *first, struct error *e)
{
	buffer_print(e->text, sizeof(e->text),
		     "; its part '%s' has %llu bytes, and the first one %llu: copy that again",
		     part->path, (unsigned long long)part->info.size,
		     (unsigned long long)first->info.size);
}

void parts_explain(const struct source *source, struct error *e)
{
	uint32_t count = source_part_count(source);
	const struct source *first = source_part(source, 0), *last;
	const struct source *cut = find_short(source);
	CLEANUP(cleanup_free) char *next = NULL;
	struct part_name name;

	last = source_part(source, count - 1);
	if (cut) {
		say_short(cut, first, e);
		return;
	}
	if (!part_name_parse(last->path, &name) || !*name.count ||
	    (count == 1 && name.doubtful))
		return;
	next = part_name_next(&name);
	if (next && (count == 1 || last->info.size >= first->info.size))
		buffer_print(e->text, sizeof(e->text),
			     "; a part of a file by its name, and '%s' is not there: if it is "
			     "missing, put it beside the others", next);
	if (part_name_parse(first->path, &name) && !part_name_is_first(&name))
		buffer_print(e->text, sizeof(e->text),
			     "; parts before '%s' may be missing", first->path);
}
