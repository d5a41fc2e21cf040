/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * samples.h: the samples of a dataset without file names, as a format finds them.
 *
 * Samples come in groups: the rows of one array, in order. A view (view/view.h) makes
 * paths of them. Extents refer to volumes of the scan's log of entries.
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
	const char *split;     /* its path: "train", "a/b"; "" at the root */
	const char *name;      /* of the array: "images" */
	const char *labels;    /* of the array of labels, "targets"; NULL: none */
	const char *extension; /* "jpg", without the dot: for samples without a name */
	const char *class_name; /* of all samples; `labels` then says where it is from
				   ("the names of arrays or files"); NULL: see label */
	bool labels_in_words;  /* `labels` is a description such as ".cls", no name */
	const char *const *class_names; /* of the labels 0, 1, ..., if the file has them:
					   class_count */
	size_t class_count;
	bool classes_in_list;  /* they are a list beside the labels, which may begin with the
				  name of label 1 as well */
	uint64_t rows;         /* of samples_group: how many */
};

/* A range of a volume of the scan's log of entries. */
struct sample_bytes {
	uint64_t offset, length; /* length 0: none */
	uint32_t volume;
};

/* The volume of the body of a row without bytes, which counts and is not shown. */
#define SAMPLE_MISSING UINT32_MAX

/* The label of a row without one: null, NaN, an empty text. */
#define SAMPLE_UNLABELLED INT64_MIN

/* A file: the bytes of `head` (an image's header, say), then those of `body`. */
struct sample {
	struct sample_bytes head, body;
	int64_t label;           /* if the group has labels and no class_name */
	const char *name;        /* "a/b.jpg", within its class or split; NULL: made from
				    the row's number. Copied */
	const char *class_name;  /* of this sample, instead of label; NULL: see the group.
				    Copied */
};

struct samples *samples_new(void);
void samples_free(struct samples *samples);

/* Begins a group; its samples follow in the order of their rows. 0 or -ENOMEM. */
int samples_begin(struct samples *samples, const struct sample_group *group);
int samples_add(struct samples *samples, const struct sample *sample);

/*
 * Of each group these rows, in this order; a row may come again. 0, -ENOMEM, -ENOTSUP where
 * groups were parted, or -ERANGE where a group has no such row.
 */
int samples_select(struct samples *samples, const uint64_t *rows, size_t n);

/*
 * Parts the last group: row i belongs to the split splits[part[i]], of n. 0 or -ENOMEM. Rows
 * have other numbers then, so samples_select is -ENOTSUP.
 */
int samples_part(struct samples *samples, const uint8_t *part, const char *const *splits,
		 size_t n);

size_t samples_group_count(const struct samples *samples);

const struct sample_group *samples_group(const struct samples *samples, size_t i);

/* A row of a group; its texts are valid as long as the samples have it. */
void samples_get(struct samples *samples, size_t group, uint64_t row, struct sample *out);

/* Rows before this one, and groups before its own, are not used again, and may be freed. */
void samples_release(struct samples *samples, size_t group, uint64_t row);

/*
 * The extension for contents with this beginning, without dot: "jpg", "png", "webp",
 * "bmp", "tif", "ppm", "pgm", "gif", "npy", "wav", "flac", "ogg", "mp4"; NULL: unknown.
 */
const char *samples_detect_type(const void *head, size_t n);

enum { SAMPLES_SNIFF_BYTES = 16 }; /* bytes that it needs */

/* The extension of unknown contents. */
#define SAMPLES_UNKNOWN "bin"

/*
 * The most frequent of n extensions (each of samples_detect_type), if more than half are
 * known. Image readers use the contents, and the extension only to recognise an image.
 */
const char *samples_common_extension(const char *const *extensions, size_t n);

#endif
