/*
 * samples.h: what a format says of a dataset that has no file names.
 *
 * Samples come in groups: the rows of one array, in its order. A view
 * (indexer/view.h) makes paths of them. The extents point to volumes of the
 * scan's log of entries.
 *
 * Threads: one set of samples belongs to one thread at a time.
 */
#ifndef GRANARY_FORMAT_SAMPLES_H
#define GRANARY_FORMAT_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/entries.h"

struct samples;

/* One array of samples. Strings are copied. */
struct sample_group {
	const char *split;     /* where it lies: "train", "a/b"; "" at the root */
	const char *name;      /* of the array: "images" */
	const char *labels;    /* of the array of labels, "targets"; NULL: none */
	const char *extension; /* "jpg", without the dot */
	uint64_t rows;         /* samples_begin: how many to make room for, at most;
				  samples_group: how many there are */
};

struct sample {
	uint64_t offset, length; /* an extent that begins at 0; length 0: an empty file */
	int64_t label;           /* of a group with labels */
	uint32_t volume;
};

struct samples *samples_new(void);
void samples_free(struct samples *samples);

/* Begins a group; its samples follow in the order of their rows. 0 or -ENOMEM. */
int samples_begin(struct samples *samples, const struct sample_group *group);
int samples_add(struct samples *samples, const struct sample *sample);

size_t samples_group_count(const struct samples *samples);

/* The group, and where its samples begin: group->rows of them. */
const struct sample_group *samples_group(const struct samples *samples, size_t i,
					 const struct sample **first);

/*
 * The extension for contents that begin so, without its dot: "jpg", "png",
 * "webp", "bmp", "tif", "ppm", "pgm", "gif", "npy"; NULL for what is not known.
 */
const char *samples_sniff(const void *head, size_t n);

enum { SAMPLES_SNIFF_BYTES = 16 }; /* what that wants to see */

#endif
