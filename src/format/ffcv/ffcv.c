/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * FFCV files (.beton): the images in them, as samples with labels.
 *
 * A JPEG is where its bytes lie in the file; pixels are a PPM, whose header is in the index.
 * The records of samples are read in order, and no image is read.
 */
#include "format/format.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "format/ffcv/beton_labels.h"
#include "format/ffcv/beton_rows.h"

enum { LIST_BYTES = 900 };

/* "image (200 jpg, 400 ppm), labels: label (int)" */
static void describe_images(struct scan *scan, const struct beton_file *file,
			    const struct beton_field *images, uint64_t jpegs)
{
	buffer_print(scan->detail, sizeof(scan->detail), "%s%s (", *scan->detail ? ", " : "",
		     images->name);
	if (jpegs)
		buffer_print(scan->detail, sizeof(scan->detail), "%" PRIu64 " jpg%s", jpegs,
			     jpegs < file->samples ? ", " : ")");
	if (jpegs < file->samples || !jpegs)
		buffer_print(scan->detail, sizeof(scan->detail), "%" PRIu64 " ppm)",
			     file->samples - jpegs);
}

static void describe_labels(struct scan *scan, const struct beton_field *labels)
{
	if (labels)
		buffer_print(scan->detail, sizeof(scan->detail), ", labels: %s (%s)", labels->name,
			     beton_type_name(labels->type));
	else
		buffer_print(scan->detail, sizeof(scan->detail), ", no labels");
}

/* One group for each field of images. */
static int add_images(struct beton_file *file)
{
	const struct beton_field *labels = NULL;
	uint64_t jpegs;
	int err = beton_labels_choose(file, &labels);

	for (size_t i = 0; i < file->fields.count && !err; i++) {
		const struct beton_field *images = &file->fields.items[i];

		if (images->type != BETON_IMAGE)
			continue;
		err = beton_rows_add(file, images, labels, &jpegs);
		if (!err)
			describe_images(file->scan, file, images, jpegs);
	}
	if (!err)
		describe_labels(file->scan, labels);
	return err;
}

static bool has_images(const struct beton_file *file)
{
	for (size_t i = 0; i < file->fields.count; i++)
		if (file->fields.items[i].type == BETON_IMAGE)
			return true;
	return false;
}

static int ffcv_scan(struct scan *scan, struct error *e)
{
	struct beton_file file;
	char list[LIST_BYTES];
	int err = beton_open(&file, scan, e);

	if (!err && has_images(&file)) {
		err = add_images(&file);
	} else if (!err) {
		beton_list_fields(&file, list, sizeof(list));
		err = beton_refuse(&file, "has no field of images; its fields are: %s; Python's ffcv "
					  "reads them", list);
	}
	beton_close(&file);
	return err;
}

const struct format format_ffcv = {
	.name = "ffcv",
	.rows = true,
	.probe = beton_probe,
	.scan = ffcv_scan,
};
