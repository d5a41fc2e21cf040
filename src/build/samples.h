/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * samples.h: what a format says of a dataset that has no file names.
 *
 * Samples come in groups: the rows of one array, in its order. A view
 * (view/view.h) makes paths of them. The extents point to volumes of the
 * scan's log of entries.
 *
 * Threads: one set of samples belongs to one thread at a time.
 */
#ifndef GRANARY_BUILD_SAMPLES_H
#define GRANARY_BUILD_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "build/entries.h"

struct samples;

/* One array of samples. Strings are copied. */
struct sample_group {
	const char *split;     /* where it lies: "train", "a/b"; "" at the root */
	const char *name;      /* of the array: "images" */
	const char *labels;    /* of the array of labels, "targets"; NULL: none */
	const char *extension; /* "jpg", without the dot: of samples without a name */
	const char *class_name; /* all samples are of this class, and labels is what
				   says so ("the names of arrays or files"); NULL: see label */
	bool labels_in_words;  /* labels is no name that lies in the split: ".cls" */
	const char *const *class_names; /* of the labels 0, 1, ..., if the file holds
					   them: class_count of them */
	size_t class_count;
	uint64_t rows;         /* samples_begin: how many to make room for, at most;
				  samples_group: how many there are */
};

/* Bytes of a volume of the scan's log of entries. */
struct sample_bytes {
	uint64_t offset, length; /* length 0: none */
	uint32_t volume;
};

/* The volume of the body of a row without bytes, which counts and is not shown. */
#define SAMPLE_MISSING UINT32_MAX

/* A file: the bytes of `head` (an image's header, say), then those of `body`. */
struct sample {
	struct sample_bytes head, body;
	int64_t label;           /* of a group with labels and without class_name */
	const char *name;        /* "a/b.jpg", within its class or split; NULL: made of
				    the row's number. Copied */
	const char *class_name;  /* of this sample alone, in place of label; NULL: see
				    the group. Copied, once where the one before has
				    the same */
};

struct samples *samples_new(void);
void samples_free(struct samples *samples);

/* Begins a group; its samples follow in the order of their rows. 0 or -ENOMEM. */
int samples_begin(struct samples *samples, const struct sample_group *group);
int samples_add(struct samples *samples, const struct sample *sample);

/*
 * Of each group these rows, in this order; a row may come again. 0, -ENOMEM, or -ERANGE
 * where a group has no such row.
 */
int samples_select(struct samples *samples, const uint64_t *rows, size_t n);

size_t samples_group_count(const struct samples *samples);

/* The group, and where its samples begin: group->rows of them. */
const struct sample_group *samples_group(const struct samples *samples, size_t i,
					 const struct sample **first);

/*
 * The extension for contents that begin so, without its dot: "jpg", "png",
 * "webp", "bmp", "tif", "ppm", "pgm", "gif", "npy", "wav", "flac", "ogg", "mp4"; NULL for
 * what is not known.
 */
const char *samples_sniff(const void *head, size_t n);

enum { SAMPLES_SNIFF_BYTES = 16 }; /* what that wants to see */

/* Of samples of which nothing is known. */
#define SAMPLES_UNKNOWN "bin"

/*
 * What most of the n are (each of samples_sniff), if more than half of them are known:
 * readers of images look at the bytes, and at the extension only to see that it is one.
 */
const char *samples_common_extension(const char *const *extensions, size_t n);

#endif
