/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "build/sample_blocks.h"

struct group {
	struct sample_group is;
	size_t first; /* of its samples */
};

struct samples {
	struct arena arena;
	VEC(struct group) groups;
	struct sample_blocks items;
	bool parted;
};

struct samples *samples_new(void)
{
	return calloc(1, sizeof(struct samples));
}

void samples_free(struct samples *samples)
{
	if (!samples)
		return;
	vec_free(&samples->groups);
	sample_blocks_free(&samples->items);
	arena_free(&samples->arena);
	free(samples);
}

static int copy_text(struct samples *samples, const char **text)
{
	if (!*text)
		return 0;
	*text = arena_copy(&samples->arena, *text, strlen(*text));
	return *text ? 0 : -ENOMEM;
}

static int samples_copy_names(struct samples *samples, struct sample_group *group)
{
	size_t n = group->class_count;
	const char **copy = n ? arena_alloc(&samples->arena, n * sizeof(*copy)) : NULL;

	if (n && !copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		copy[i] = group->class_names[i];
		if (copy_text(samples, &copy[i]) < 0)
			return -ENOMEM;
	}
	group->class_names = copy;
	return 0;
}

int samples_begin(struct samples *samples, const struct sample_group *group)
{
	struct group copy = { *group, samples->items.count };

	copy.is.rows = 0;
	if (copy_text(samples, &copy.is.split) < 0 ||
	    copy_text(samples, &copy.is.name) < 0 ||
	    copy_text(samples, &copy.is.labels) < 0 ||
	    copy_text(samples, &copy.is.extension) < 0 ||
	    copy_text(samples, &copy.is.class_name) < 0 ||
	    samples_copy_names(samples, &copy.is) < 0)
		return -ENOMEM;
	return vec_push(&samples->groups, copy);
}

int samples_add(struct samples *samples, const struct sample *sample)
{
	if (sample_blocks_add(&samples->items, sample) < 0)
		return -ENOMEM;
	samples->groups.items[samples->groups.count - 1].is.rows++;
	return 0;
}

static int copy_sample(struct samples *samples, size_t i, struct sample_blocks *to)
{
	struct sample sample;

	sample_blocks_get(&samples->items, i, &sample);
	return sample_blocks_add(to, &sample);
}

/* The samples are these from now on, if `err` is 0. */
static int replace_items(struct samples *samples, int err, struct sample_blocks *items)
{
	sample_blocks_free(err ? items : &samples->items);
	if (!err)
		samples->items = *items;
	return err;
}

static int select_rows(struct samples *samples, const struct group *group,
		       const uint64_t *rows, size_t n, struct sample_blocks *to)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = rows[i] >= group->is.rows ? -ERANGE :
		      copy_sample(samples, group->first + rows[i], to);
	return err;
}

int samples_select(struct samples *samples, const uint64_t *rows, size_t n)
{
	struct sample_blocks items = { .count = 0 };
	int err = samples->parted ? -ENOTSUP : 0;

	for (size_t g = 0; g < samples->groups.count && !err; g++)
		err = select_rows(samples, &samples->groups.items[g], rows, n, &items);
	for (size_t g = 0; g < samples->groups.count && !err; g++) {
		samples->groups.items[g].first = g * n;
		samples->groups.items[g].is.rows = n;
	}
	return replace_items(samples, err, &items);
}

/* Appends the group's rows of one split, and a group for them. */
static int take_part(struct samples *samples, struct group whole, const uint8_t *part,
		     size_t split, struct sample_blocks *to)
{
	struct group taken = { .is = whole.is, .first = to->count };
	int err = 0;

	for (size_t i = 0; i < whole.is.rows && !err; i++)
		if (part[i] == split)
			err = copy_sample(samples, whole.first + i, to);
	taken.is.rows = to->count - taken.first;
	return err ? err : vec_push(&samples->groups, taken);
}

int samples_part(struct samples *samples, const uint8_t *part, const char *const *splits,
		 size_t n)
{
	struct group whole = samples->groups.items[--samples->groups.count];
	struct sample_blocks items = { .count = 0 };
	int err = 0;

	samples->parted = true;
	for (size_t i = 0; i < whole.first && !err; i++)
		err = copy_sample(samples, i, &items);
	for (size_t k = 0; k < n && !err && whole.is.rows; k++) {
		whole.is.split = splits[k];
		err = copy_text(samples, &whole.is.split);
		if (!err)
			err = take_part(samples, whole, part, k, &items);
	}
	return replace_items(samples, err, &items);
}

size_t samples_group_count(const struct samples *samples)
{
	return samples->groups.count;
}

const struct sample_group *samples_group(const struct samples *samples, size_t i)
{
	return &samples->groups.items[i].is;
}

void samples_get(struct samples *samples, size_t group, uint64_t row, struct sample *out)
{
	sample_blocks_get(&samples->items, samples->groups.items[group].first + row, out);
}

void samples_release(struct samples *samples, size_t group, uint64_t row)
{
	sample_blocks_release(&samples->items, samples->groups.items[group].first + row);
}

const char *samples_detect_type(const void *head, size_t n)
{
	static const struct {
		size_t offset;
		const char *magic;
		size_t size;
		const char *extension;
	} kinds[] = {
		{ 0, "\377\330\377", 3, "jpg" },
		{ 0, "\211PNG\r\n\032\n", 8, "png" },
		{ 8, "WEBP", 4, "webp" },
		{ 0, "GIF8", 4, "gif" },
		{ 0, "II*\0", 4, "tif" },
		{ 0, "MM\0*", 4, "tif" },
		{ 0, "\223NUMPY", 6, "npy" },
		{ 0, "P6", 2, "ppm" },
		{ 0, "P3", 2, "ppm" },
		{ 0, "P5", 2, "pgm" },
		{ 0, "P2", 2, "pgm" },
		{ 8, "WAVE", 4, "wav" },
		{ 0, "fLaC", 4, "flac" },
		{ 0, "OggS", 4, "ogg" },
		{ 4, "ftyp", 4, "mp4" },
		{ 0, "BM", 2, "bmp" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (n >= kinds[i].offset + kinds[i].size &&
		    memcmp((const char *)head + kinds[i].offset, kinds[i].magic,
			   kinds[i].size) == 0)
			return kinds[i].extension;
	return NULL;
}

const char *samples_common_extension(const char *const *extensions, size_t n)
{
	const char *common = SAMPLES_UNKNOWN;
	size_t most = 0, known = 0;

	for (size_t i = 0; i < n; i++) {
		size_t same = 0;

		for (size_t j = 0; extensions[i] && j < n; j++)
			same += extensions[j] && strcmp(extensions[j], extensions[i]) == 0;
		known += same > 0;
		if (same > most) {
			most = same;
			common = extensions[i];
		}
	}
	return 2 * known > n ? common : SAMPLES_UNKNOWN;
}
