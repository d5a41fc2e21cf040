/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/size.h"
#include "names/split_words.h"
#include "packer/distribute.h"
#include "packer/naming.h"
#include "packer/seeded_order.h"
#include "packer/webdataset_items.h"

/* The units to distribute, each a run of items that stay together. */
struct units {
	uint32_t *first;    /* item, in the order of names; one more at the end */
	uint32_t *order;    /* units in the plan's order */
	uint64_t *sizes;    /* by position in that order */
	uint32_t *shard_of; /* likewise */
	size_t count;
	size_t directories;     /* items before the units, distributed one by one */
	uint64_t bytes;     /* of all units */
};

static void free_units(struct units *units)
{
	free(units->first);
	free(units->order);
	free(units->sizes);
	free(units->shard_of);
}

static uint64_t content_bytes(const struct plan_item *item)
{
	char digits[16];

	if (item->kind != PACK_FILE)
		return 0;
	if (item->is_label)
		return (uint64_t)snprintf(digits, sizeof(digits), "%d", item->label);
	return item->decoded && item->source->decoded_size ? item->source->decoded_size :
							     item->source->size;
}

/* Needs a tar a pax header, with its own block, for this item? */
static bool needs_more(const struct plan_item *item)
{
	if (item->source->mtime_ns && !item->is_plain)
		return true;
	for (const char *c = item->path; *c; c++) {
		if ((unsigned char)*c >= 0x80)
			return true;
	}
	return strlen(item->path) > 100;
}

/* Size in a tar. The sum cannot overflow: sizes come from fstat. */
static uint64_t plan_stored_bytes(const struct plan_item *item)
{
	uint64_t blocks = (content_bytes(item) + PLAN_BLOCK_BYTES - 1) / PLAN_BLOCK_BYTES;

	return (needs_more(item) ? 3U : 1U) * PLAN_HEADER_BYTES + blocks * PLAN_BLOCK_BYTES;
}

static const char *after_slash(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash ? slash + 1 : NULL;
}

static int plan_compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The class directory within a path train/CLASS/FILE; NULL if there is none. */
static const char *class_in(const char *path, size_t *length)
{
	const char *class = after_slash(path), *end = class ? strchr(class, '/') : NULL;

	*length = end ? (size_t)(end - class) : 0;
	return end ? class : NULL;
}

/* Collects the classes of all splits, sorted, each once. */
static int collect_split_classes(const struct pack_scan *scan, struct plan *plan)
{
	const char *last = NULL, *name;
	size_t length, kept = 0;

	for (size_t i = 0; i < scan->count; i++) {
		const char *class = class_in(scan->entries[i].path, &length);

		if (!class || (last && strncmp(last, class, length) == 0 && !last[length]))
			continue;
		name = arena_copy(&plan->arena, class, length);
		if (!name || vec_push(&plan->classes, name) < 0)
			return -ENOMEM;
		last = name;
	}
	if (plan->classes.count)
		qsort(plan->classes.items, plan->classes.count, sizeof(const char *),
		      plan_compare_texts);
	for (size_t i = 0; i < plan->classes.count; i++) {
		if (!kept || strcmp(plan->classes.items[kept - 1], plan->classes.items[i]) != 0)
			plan->classes.items[kept++] = plan->classes.items[i];
	}
	plan->classes.count = kept;
	return 0;
}

static int compare_class(const void *key, const void *member)
{
	return strcmp(key, *(const char *const *)member);
}

static int plan_label_of(const struct plan *plan, const char *path, int32_t *out)
{
	CLEANUP(cleanup_free) char *name = NULL;
	const char *class, *const *found = NULL;
	size_t length;

	*out = -1;
	class = class_in(path, &length);
	if (!class || !plan->classes.count)
		return 0;
	name = strndup(class, length);
	if (!name)
		return -ENOMEM;
	found = bsearch(name, plan->classes.items, plan->classes.count, sizeof(const char *),
			compare_class);
	if (found)
		*out = (int32_t)(found - (const char *const *)plan->classes.items);
	return 0;
}

/*
 * Every entry keeps its name. Decoded images and rows have no hard links: decoding may
 * fail for a link's file, and a row has no second name.
 */
static int tree_items(const struct pack_scan *scan, const struct plan_config *config,
		      struct plan *plan)
{
	int err = config->split_classes ? collect_split_classes(scan, plan) : 0;

	plan->items = malloc((scan->count + 1) * sizeof(*plan->items));
	if (!plan->items)
		return -ENOMEM;
	for (size_t i = 0; i < scan->count && !err; i++) {
		const struct pack_scan_entry *source = &scan->entries[i];
		struct plan_item item = { .source = source, .path = source->path,
					  .kind = source->kind, .label = -1 };

		if ((config->decode || config->split_classes) && source->kind == PACK_HARDLINK)
			item.kind = PACK_FILE;
		if (config->decode && item.kind == PACK_FILE && naming_is_image(source->path)) {
			item.decoded = naming_decoded(scan, i, &plan->arena);
			if (!item.decoded)
				return -ENOMEM;
		}
		if (config->split_classes && source->kind == PACK_HARDLINK)
			item.kind = PACK_FILE; /* no hard links, see above */
		if (source->kind == PACK_FILE || source->kind == PACK_HARDLINK)
			err = plan_label_of(plan, source->path, &item.label);
		plan->items[plan->count++] = item;
	}
	return err;
}

/* Moves directories to the front, returns their number. Hard links become files. */
static size_t part_directories(struct plan *plan, struct plan_item *scratch)
{
	size_t directories = 0, others = 0;

	for (size_t i = 0; i < plan->count; i++) {
		struct plan_item *item = &plan->items[i];

		if (item->kind == PACK_HARDLINK)
			item->kind = PACK_FILE;
		if (item->kind == PACK_DIRECTORY)
			plan->items[directories++] = *item;
		else
			scratch[others++] = *item;
	}
	memcpy(plan->items + directories, scratch, others * sizeof(*scratch));
	return directories;
}

static int find_units(const struct plan *plan, bool samples, struct units *units)
{
	size_t directories = units->directories, most = plan->count - directories + 1;

	units->first = malloc(most * sizeof(*units->first));
	units->order = malloc(most * sizeof(*units->order));
	units->sizes = calloc(most, sizeof(*units->sizes));
	units->shard_of = calloc(most, sizeof(*units->shard_of));
	if (!units->first || !units->order || !units->sizes || !units->shard_of)
		return -ENOMEM;
	for (size_t i = directories; i < plan->count; i++) {
		if (samples && i > directories &&
		    webdataset_items_same(&plan->items[i - 1], &plan->items[i]))
			continue;
		units->order[units->count] = (uint32_t)units->count;
		units->first[units->count++] = (uint32_t)i;
	}
	units->first[units->count] = (uint32_t)plan->count;
	return 0;
}

static void measure_units(const struct plan *plan, struct units *units)
{
	units->bytes = 0;
	for (size_t i = 0; i < units->directories; i++)
		units->bytes += plan_stored_bytes(&plan->items[i]);
	for (size_t i = 0; i < units->count; i++) {
		uint32_t unit = units->order[i];

		units->sizes[i] = 0;
		for (uint32_t k = units->first[unit]; k < units->first[unit + 1]; k++)
			units->sizes[i] += plan_stored_bytes(&plan->items[k]);
		units->bytes += units->sizes[i];
	}
}

static uint64_t round_up(uint64_t n, uint64_t multiple)
{
	uint64_t up;

	if (multiple < 2 || n % multiple == 0)
		return n;
	return checked_add(n, multiple - n % multiple, &up) ? up : n;
}

static int too_many(uint64_t shards, size_t units, struct error *e)
{
	char many[SIZE_TEXT_BYTES], few[SIZE_TEXT_BYTES];

	return error_set(e, ERROR_USAGE, EINVAL,
			 "%s shards cannot be filled with %s files or samples; ask for fewer "
			 "with --shards, or for larger ones with --shard-size",
			 count_text(shards, many), count_text(units, few));
}

static uint64_t largest(const uint64_t *bytes, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = bytes[i] > most ? bytes[i] : most;
	return most;
}

/* Distributes to `shards`; *bytes: their sizes, which the caller frees. */
static int distribute(const struct plan *plan, struct units *units, uint64_t shards,
		      uint64_t **bytes, struct error *e)
{
	free(*bytes);
	*bytes = NULL;
	if (shards > UINT32_MAX || (shards > 1 && shards > units->count))
		return too_many(shards, units->count, e);
	*bytes = calloc(shards, sizeof(**bytes));
	if (!*bytes)
		return -ENOMEM;
	for (size_t i = 0; i < units->directories; i++)
		(*bytes)[i % shards] += plan_stored_bytes(&plan->items[i]);
	return distribute_over_shards(units->sizes, units->count, (uint32_t)shards,
				      units->shard_of, *bytes);
}

/* Finds the number of shards that keeps to the size limit. */
static int distribute_by_size(const struct plan *plan, struct units *units,
			      const struct plan_config *config, uint64_t *shards,
			      uint64_t **bytes, struct error *e)
{
	uint64_t most = largest(units->sizes, units->count), all = units->bytes;
	char file[SIZE_TEXT_BYTES], shard[SIZE_TEXT_BYTES];
	int err;

	if (most > config->shard_size)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "a file or sample of %s does not fit shards of %s; allow more with "
				 "--shard-size", size_text(most, file),
				 size_text(config->shard_size, shard));
	*shards = round_up(all / config->shard_size + (all % config->shard_size != 0),
			   config->multiple_of);
	*shards = *shards ? *shards : 1;
	while (!(err = distribute(plan, units, *shards, bytes, e))) {
		if (largest(*bytes, *shards) <= config->shard_size)
			return 0;
		*shards = round_up(*shards + 1 + *shards / 200, config->multiple_of);
	}
	return err;
}

/* Sorts the items by shard, the directories first. */
static void arrange_items(struct plan *plan, const struct units *units,
			  struct plan_item *scratch)
{
	size_t at = 0;

	for (size_t i = 0; i < units->directories; i++)
		plan->shards[i % plan->shard_count].count++;
	for (size_t i = 0; i < units->count; i++) {
		uint32_t unit = units->order[i];

		plan->shards[units->shard_of[i]].count +=
			units->first[unit + 1] - units->first[unit];
	}
	for (size_t s = 0; s < plan->shard_count; s++) {
		plan->shards[s].first = at;
		at += plan->shards[s].count;
		plan->shards[s].count = 0;
	}
	memcpy(scratch, plan->items, plan->count * sizeof(*scratch));
	for (size_t i = 0; i < units->directories; i++) {
		struct plan_shard *shard = &plan->shards[i % plan->shard_count];

		plan->items[shard->first + shard->count++] = scratch[i];
	}
	for (size_t i = 0; i < units->count; i++) {
		struct plan_shard *shard = &plan->shards[units->shard_of[i]];
		uint32_t unit = units->order[i];

		for (uint32_t k = units->first[unit]; k < units->first[unit + 1]; k++)
			plan->items[shard->first + shard->count++] = scratch[k];
	}
}

static int make_shards(struct plan *plan, const uint64_t *bytes, uint64_t shards)
{
	plan->shards = calloc(shards, sizeof(*plan->shards));
	if (!plan->shards)
		return -ENOMEM;
	plan->shard_count = shards;
	for (size_t s = 0; s < shards; s++)
		plan->shards[s].bytes = bytes[s];
	return 0;
}

static int distribute_units(struct plan *plan, const struct plan_config *config,
			    struct units *units, struct plan_item *scratch,
			    struct error *e)
{
	CLEANUP(cleanup_free) uint64_t *bytes = NULL;
	uint64_t shards = round_up(config->shards ? config->shards : 1, config->multiple_of);
	int err;

	measure_units(plan, units);
	if (config->shard_size)
		err = distribute_by_size(plan, units, config, &shards, &bytes, e);
	else
		err = distribute(plan, units, shards, &bytes, e);
	if (!err)
		err = make_shards(plan, bytes, shards);
	if (!err)
		arrange_items(plan, units, scratch);
	return err;
}

/* Shuffles, distributes, or both. */
static int rearrange(struct plan *plan, const struct plan_config *config, struct error *e)
{
	CLEANUP(cleanup_free) struct plan_item *scratch =
		malloc((plan->count + 1) * sizeof(*scratch));
	CLEANUP(free_units) struct units units = { 0 };
	int err;

	if (!scratch)
		return -ENOMEM;
	units.directories = part_directories(plan, scratch);
	err = find_units(plan, config->layout == PACK_WEBDATASET, &units);
	if (err)
		return err;
	if (config->shuffle)
		shuffle_order(units.order, units.count, config->seed);
	return distribute_units(plan, config, &units, scratch, e);
}

static int one_shard(struct plan *plan)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < plan->count; i++)
		bytes += plan_stored_bytes(&plan->items[i]);
	if (make_shards(plan, &bytes, 1) < 0)
		return -ENOMEM;
	plan->shards[0].count = plan->count;
	return 0;
}

int plan_make(const struct pack_scan *scan, const struct plan_config *config,
	      struct plan *out, struct error *e)
{
	bool alone = config->shards <= 1 && !config->shard_size && config->multiple_of <= 1;
	int err;

	*out = (struct plan){ .classes = VEC_INIT };
	if (config->layout == PACK_WEBDATASET)
		err = webdataset_items_make(scan, config->decode, out, e);
	else
		err = tree_items(scan, config, out);
	if (!err)
		err = alone && !config->shuffle ? one_shard(out) : rearrange(out, config, e);
	if (err == -ENOMEM)
		error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory for a plan of %zu entries",
			  scan->count);
	return err;
}

void plan_free(struct plan *plan)
{
	free(plan->items);
	free(plan->shards);
	vec_free(&plan->classes);
	arena_free(&plan->arena);
	*plan = (struct plan){ .classes = VEC_INIT };
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
	return hash_digest(hash, &number, sizeof(number));
}

uint64_t plan_digest(const struct plan *plan)
{
	uint64_t hash = mix_number(0, plan->shard_count);

	for (size_t s = 0; s < plan->shard_count; s++)
		hash = mix_number(hash, plan->shards[s].count);
	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_item *item = &plan->items[i];
		const struct pack_scan_entry *source = item->source;

		hash = hash_digest(hash, item->path, strlen(item->path) + 1);
		if (item->decoded)
			hash = hash_digest(hash, item->decoded, strlen(item->decoded) + 1);
		hash = mix_number(hash, item->kind);
		hash = mix_number(hash, (uint64_t)(item->label + 1));
		/* shards made in the source directory change its time */
		if (item->kind == PACK_DIRECTORY)
			continue;
		hash = mix_number(hash, source->size);
		hash = mix_number(hash, (uint64_t)source->mtime);
		hash = mix_number(hash, source->mtime_ns);
	}
	return hash;
}

unsigned plan_imbalance(const struct plan *plan)
{
	uint64_t least = UINT64_MAX, most = 0, all = 0;

	for (size_t s = 0; s < plan->shard_count; s++) {
		uint64_t bytes = plan->shards[s].bytes;

		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
		all += bytes;
	}
	all /= plan->shard_count ? plan->shard_count : 1;
	return all ? (unsigned)((double)(most - least) * 1000 / (double)all) : 0;
}

bool plan_is_of_splits(const struct plan *plan)
{
	size_t found = 0;

	for (size_t i = 0; i < plan->classes.count; i++)
		found += split_is_lowercase_word(plan->classes.items[i],
						 strlen(plan->classes.items[i]));
	return found && found == plan->classes.count;
}
