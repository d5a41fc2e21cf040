/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/ffcv/beton_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "format/ffcv/beton_labels.h"
#include "names/split_words.h"

enum { IMAGE_BYTES = 13, COLOURS = 3, HEAD_BYTES = 32, MODE_JPEG = 0, MODE_PIXELS = 1 };

/* An image, as its record describes it. */
struct beton_image {
	unsigned mode, width, height;
	uint64_t at, size;
};

struct image_walk {
	struct beton_file *file;
	const struct beton_field *field;
	unsigned width, height;   /* of the last image of pixels, */
	struct sample_bytes head; /* and its header */
};

static int refuse_image(struct image_walk *walk, uint64_t sample, const char *what)
{
	return beton_refuse(walk->file, "is damaged: sample %" PRIu64 " has %s in '%s'; copy the file "
					"again, or write it again", sample, what,
			    walk->field->name);
}

static int read_image(struct image_walk *walk, uint64_t sample, struct beton_image *out)
{
	struct beton_file *file = walk->file;
	unsigned char bytes[IMAGE_BYTES];
	int err = beton_read(file, sample, walk->field, bytes, sizeof(bytes));

	if (err)
		return err;
	*out = (struct beton_image){ .mode = bytes[0],
				     .width = (unsigned)little_endian(bytes + 1, 2),
				     .height = (unsigned)little_endian(bytes + 3, 2),
				     .at = little_endian(bytes + 5, 8) };
	if (out->mode == MODE_PIXELS)
		out->size = (uint64_t)out->width * out->height * COLOURS;
	else if (out->mode == MODE_JPEG)
		out->size = beton_piece_size(file, sample, out->at);
	else
		return refuse_image(walk, sample, "an image of a kind that FFCV does not write");
	if (!out->size)
		return refuse_image(walk, sample, "an image without bytes");
	if (out->size > file->page_bytes || !range_within(out->at, out->size, file->pieces_at))
		return refuse_image(walk, sample, "an image beyond its pages");
	return 0;
}

/* The header of a PPM, which the last image may have had, too. */
static int set_head(struct image_walk *walk, const struct beton_image *image)
{
	struct entry_extent extent;
	char text[HEAD_BYTES];
	int n;

	if (image->width == walk->width && image->height == walk->height)
		return 0;
	n = snprintf(text, sizeof(text), "P6\n%u %u\n255\n", image->width, image->height);
	if (entries_literal_extent(walk->file->scan->entries, text, (size_t)n, &extent) < 0)
		return beton_no_memory(walk->file);
	walk->width = image->width;
	walk->height = image->height;
	walk->head = (struct sample_bytes){ extent.offset, extent.length, extent.volume };
	return 0;
}

static int set_bytes(struct image_walk *walk, const struct beton_image *image,
		     struct sample *sample)
{
	struct scan *scan = walk->file->scan;
	struct entry_extent extent;
	int err = 0;

	if (image->mode == MODE_PIXELS) {
		err = set_head(walk, image);
		sample->head = walk->head;
	}
	if (!err && entries_raw_extent(scan->entries, scan->source_number,
				       scan->base + walk->file->reader.length,
				       scan->base + image->at, image->size, &extent) < 0)
		err = beton_no_memory(walk->file);
	if (!err)
		sample->body = (struct sample_bytes){ extent.offset, extent.length, extent.volume };
	return err;
}

static int add_image(struct image_walk *walk, const struct beton_field *labels, uint64_t number)
{
	struct scan *scan = walk->file->scan;
	struct sample sample = { .label = SAMPLE_UNLABELLED };
	struct beton_image image;
	int err = read_image(walk, number, &image);

	if (!err)
		err = set_bytes(walk, &image, &sample);
	if (!err && labels)
		err = beton_label_read(walk->file, labels, number, &sample.label);
	if (!err && samples_add(scan->samples, &sample) < 0)
		err = beton_no_memory(walk->file);
	if (!err && scan->advance)
		scan->advance(scan, image.size);
	return err;
}

/* How many are JPEGs: their sizes are in the table of pieces. */
static int count_jpegs(struct image_walk *walk, uint64_t *out)
{
	unsigned char mode;
	int err = 0;

	*out = 0;
	for (uint64_t i = 0; i < walk->file->samples && !err; i++) {
		err = beton_read(walk->file, i, walk->field, &mode, 1);
		*out += !err && mode == MODE_JPEG;
	}
	return !err && *out ? beton_read_pieces(walk->file) : err;
}

static int begin_group(struct image_walk *walk, const struct beton_field *labels, bool jpegs)
{
	struct scan *scan = walk->file->scan;
	char split[SPLIT_BYTES];
	const struct sample_group group = {
		.split = split, .name = *walk->field->name ? walk->field->name : "images",
		.labels = labels ? labels->name : NULL, .extension = jpegs ? "jpg" : "ppm",
	};

	split_of_path(scan->label, split);
	return samples_begin(scan->samples, &group) < 0 ? beton_no_memory(walk->file) : 0;
}

int beton_rows_add(struct beton_file *file, const struct beton_field *images,
		   const struct beton_field *labels, uint64_t *jpegs)
{
	struct image_walk walk = { .file = file, .field = images };
	int err = count_jpegs(&walk, jpegs);

	if (!err)
		err = begin_group(&walk, labels, *jpegs > file->samples / 2);
	for (uint64_t i = 0; i < file->samples && !err; i++)
		err = add_image(&walk, labels, i);
	return err;
}
