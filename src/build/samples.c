/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

struct group {
	struct sample_group is;
	size_t first; /* in samples.items */
};

struct samples {
	struct arena arena;
	VEC(struct group) groups;
	VEC(struct sample) items;
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
	vec_free(&samples->items);
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
	    samples_copy_names(samples, &copy.is) < 0 ||
	    vec_reserve(&samples->items, group->rows) < 0)
		return -ENOMEM;
	return vec_push(&samples->groups, copy);
}

int samples_add(struct samples *samples, const struct sample *sample)
{
	struct sample copy = *sample;
	const struct sample *before = samples->items.count ?
		&samples->items.items[samples->items.count - 1] : NULL;

	if (copy.class_name && before && before->class_name &&
	    strcmp(before->class_name, copy.class_name) == 0)
		copy.class_name = before->class_name;
	else if (copy_text(samples, &copy.class_name) < 0)
		return -ENOMEM;
	if (copy_text(samples, &copy.name) < 0 || vec_push(&samples->items, copy) < 0)
		return -ENOMEM;
	samples->groups.items[samples->groups.count - 1].is.rows++;
	return 0;
}

int samples_select(struct samples *samples, const uint64_t *rows, size_t n)
{
	size_t groups = samples->groups.count;
	struct sample *items;

	if (samples->parted)
		return -ENOTSUP;
	if (groups && n > SIZE_MAX / sizeof(*items) / groups)
		return -ENOMEM;
	items = malloc(n && groups ? n * groups * sizeof(*items) : 1);
	if (!items)
		return -ENOMEM;
	for (size_t g = 0; g < groups; g++) {
		struct group *group = &samples->groups.items[g];

		for (size_t i = 0; i < n; i++) {
			if (rows[i] >= group->is.rows) {
				free(items);
				return -ERANGE;
			}
			items[g * n + i] = samples->items.items[group->first + rows[i]];
		}
	}
	for (size_t g = 0; g < groups; g++) {
		samples->groups.items[g].first = g * n;
		samples->groups.items[g].is.rows = n;
	}
	free(samples->items.items);
	samples->items.items = items;
	samples->items.count = samples->items.room = n * groups;
	return 0;
}

/* Moves the rows of one split from `from`: how many there are. */
static size_t take_part(struct sample *to, const struct sample *from, const uint8_t *part,
			size_t rows, size_t split)
{
	size_t n = 0;

	for (size_t i = 0; i < rows; i++)
		if (part[i] == split)
			to[n++] = from[i];
	return n;
}

int samples_part(struct samples *samples, const uint8_t *part, const char *const *splits,
		 size_t n)
{
	struct group whole = samples->groups.items[--samples->groups.count];
	size_t rows = whole.is.rows;
	struct sample *all = malloc(rows ? rows * sizeof(*all) : 1);
	int err = all ? 0 : -ENOMEM;

	if (!err && rows)
		memcpy(all, samples->items.items + whole.first, rows * sizeof(*all));
	samples->parted = true;
	for (size_t k = 0; k < n && !err && rows; k++) {
		whole.is.split = splits[k];
		err = copy_text(samples, &whole.is.split);
		whole.is.rows = take_part(samples->items.items + whole.first, all, part, rows, k);
		if (!err)
			err = vec_push(&samples->groups, whole);
		whole.first += whole.is.rows;
	}
	free(all);
	return err;
}

size_t samples_group_count(const struct samples *samples)
{
	return samples->groups.count;
}

const struct sample_group *samples_group(const struct samples *samples, size_t i,
					 const struct sample **first)
{
	const struct group *group = &samples->groups.items[i];

	/* NULL + 0 is undefined in C */
	*first = samples->items.items ? samples->items.items + group->first : NULL;
	return &group->is;
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
