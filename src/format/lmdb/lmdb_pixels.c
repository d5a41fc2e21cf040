/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/lmdb/lmdb_pixels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WAITING_MOST = 65536, ARRAY_BITS = 36, ARRAYS_MOST = 4096, COLOURS = 3 };

void lmdb_pixels_close(struct lmdb_pixels *pixels)
{
	vec_free(&pixels->waiting);
	vec_free(&pixels->tiles);
	arena_free(&pixels->texts);
}

/* An array of N x 3 x H x W, a tile a plane, whose volume has H x W pixels for each N. */
static int planes_extent(struct lmdb_pixels *pixels, struct entry_extent *out)
{
	static const uint32_t no_codecs[VOLUME_CODECS] = {0};
	const struct scan *scan = pixels->file->scan;
	const struct entry_array array = {
		.source = scan->source_number,
		.source_size = scan->base + scan->length,
		.rank = 4,
		.item = 1,
		.dims = {pixels->waiting.count, COLOURS, pixels->height, pixels->width},
		.tile = {1, 1, pixels->height, pixels->width},
		.order = {0, 2, 3, 1},
		.codecs = no_codecs,
		.tiles = pixels->tiles.items,
		.tile_count = pixels->tiles.count,
		.snapshot = lmdb_snapshot(pixels->file),
	};
	int err = entries_array_extent(scan->entries, &array, out);

	return err == -ENOMEM ? lmdb_no_memory(pixels->file)
	       : err ? lmdb_damaged(pixels->file, 0, "images of a size that none has")
		     : 0;
}

int lmdb_pixels_flush(struct lmdb_pixels *pixels)
{
	uint64_t size = COLOURS * pixels->width * pixels->height;
	struct entry_extent all;
	int err = pixels->waiting.count ? planes_extent(pixels, &all) : 0;

	for (size_t i = 0; i < pixels->waiting.count && !err; i++) {
		struct sample *sample = &pixels->waiting.items[i];

		sample->body =
			(struct sample_bytes){all.offset + i * size, size, all.volume};
		if (samples_add(pixels->file->scan->samples, sample) < 0)
			err = lmdb_no_memory(pixels->file);
	}
	pixels->arrays += pixels->waiting.count > 0;
	pixels->waiting.count = pixels->tiles.count = 0;
	arena_free(&pixels->texts);
	pixels->texts = (struct arena){NULL};
	return err;
}

/* The header of an image of another size. */
static int pixels_begin_size(struct lmdb_pixels *pixels, const struct lmdb_sample *image)
{
	struct entry_extent extent;
	char text[64];
	int n, err = lmdb_pixels_flush(pixels);

	if (err)
		return err;
	pixels->width = image->width;
	pixels->height = image->height;
	pixels->channels = image->channels;
	n = snprintf(text, sizeof(text), "P%d\n%" PRIu64 " %" PRIu64 "\n255\n",
		     image->channels == COLOURS ? 6 : 5, image->width, image->height);
	if (entries_literal_extent(pixels->file->scan->entries, text, (size_t)n,
				   &extent) < 0)
		return lmdb_no_memory(pixels->file);
	pixels->head = (struct sample_bytes){extent.offset, extent.length, extent.volume};
	return 0;
}

static int keep_text(struct lmdb_pixels *pixels, const char **text)
{
	if (*text)
		*text = arena_copy(&pixels->texts, *text, strlen(*text));
	return *text ? 0 : -ENOMEM;
}

/* Keeps a sample until its array is made: the planes are red, green, blue. */
static int pixels_add_planes(struct lmdb_pixels *pixels, const struct lmdb_sample *image,
			     struct sample sample)
{
	uint64_t plane = image->width * image->height;

	if (pixels->arrays >= ARRAYS_MOST)
		return -ENOSPC;
	if (keep_text(pixels, &sample.name) < 0 ||
	    (sample.class_name && keep_text(pixels, &sample.class_name) < 0) ||
	    vec_push(&pixels->waiting, sample) < 0)
		return lmdb_no_memory(pixels->file);
	for (unsigned i = 0; i < COLOURS; i++) {
		unsigned stored = image->blue_first ? COLOURS - 1 - i : i;
		struct entry_tile tile = {
			pixels->file->scan->base + image->at + stored * plane, plane, 0};

		if (vec_push(&pixels->tiles, tile) < 0)
			return lmdb_no_memory(pixels->file);
	}
	return pixels->waiting.count == WAITING_MOST ||
			       pixels->waiting.count * COLOURS * plane >> ARRAY_BITS
		       ? lmdb_pixels_flush(pixels)
		       : 0;
}

int lmdb_pixels_add(struct lmdb_pixels *pixels, const struct lmdb_sample *image,
		    const struct sample *sample)
{
	struct sample copy = *sample;
	struct entry_extent extent;
	int err = 0;

	if (image->width != pixels->width || image->height != pixels->height ||
	    image->channels != pixels->channels)
		err = pixels_begin_size(pixels, image);
	copy.head = pixels->head;
	if (err)
		return err;
	if (image->planes)
		return pixels_add_planes(pixels, image, copy);
	err = lmdb_extent(pixels->file, image->at, image->size, &extent);
	copy.body = (struct sample_bytes){extent.offset, extent.length, extent.volume};
	if (!err && samples_add(pixels->file->scan->samples, &copy) < 0)
		err = lmdb_no_memory(pixels->file);
	return err;
}
