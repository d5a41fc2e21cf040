/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_splits.h: the split that each sample of a shard says itself: in a member
 * ("split.txt"), an item of the .json, or its key ("train_0", "data/train/0").
 *
 * Where all samples of all shards say one, and they are several, each is a directory.
 *
 * Threads: one shard belongs to one thread at a time.
 */
#ifndef GRANARY_SAMPLES_WDS_SPLITS_H
#define GRANARY_SAMPLES_WDS_SPLITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "labels/row_splits.h"

enum { WDS_SPLIT_BYTES = 40 }; /* "train", "is_train: true" */

enum wds_split_source { WDS_SPLIT_OF_MEMBER, WDS_SPLIT_OF_JSON, WDS_SPLIT_OF_KEY };

/* The split of one sample. */
struct wds_split {
	char text[WDS_SPLIT_BYTES]; /* "": nothing */
	bool sure;                  /* it is the name of a split, and no hint at one */
	enum wds_split_source source;
};

/* Of all samples of a shard; begin with { 0 }. */
struct wds_splits {
	struct row_splits said;
	enum wds_split_source sources[ROW_SPLITS_MOST]; /* of the first sample of each */
	bool partial;        /* a sample says none, or it is not sure */
	bool used;           /* each is a directory */
	VEC(uint8_t) files;  /* of each file of a sample: the number of its split */
};

/* The number of the split; 0 if there is none. */
uint8_t wds_splits_add(struct wds_splits *splits, const struct wds_split *split);

struct wds_sample;
struct wds_window;
struct wds_shard;

/* Does a directory of the key say a split, or a word of its name? Fills it in. */
bool wds_split_of_key(const struct wds_sample *sample, struct wds_split *out);

/* The suffix of a member that holds the split, "split.txt", if the sample has one; or NULL. */
const char *wds_split_suffix(const struct wds_sample *sample);

/* The split in the member with that suffix: 0, or a negative errno of storage. */
int wds_split_of_member(struct wds_window *window, const struct wds_sample *sample,
			const char *suffix, struct wds_split *out);

/* All shards have been scanned: parts their samples by split, if that is possible. 0 or
   -ENOMEM. */
int wds_splits_apply(const struct wds_shard *shards, size_t n);

void wds_splits_free(struct wds_splits *splits);

#endif
