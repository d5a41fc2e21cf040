/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.h: the plan: which entry goes into which shard, in which order, under which path.
 *
 * The plan depends on the scan and the options only, not on the filesystem, a clock or
 * chance. So the same tree and options give the same plan on every machine.
 *
 * Order. Entries have the order of their names (pack_path_compare). With a seed this
 * order is shuffled (seeded_order.h); directories still come first, in order.
 *
 * Shards. Units (a file, or the members of a WebDataset sample) are distributed in
 * rounds. They are sorted by size, the largest first, ties in the plan's order. A round
 * takes as many units as there are shards; its largest unit goes to the shard with the
 * fewest bytes so far, the next to the second, and so on. So the numbers of units differ
 * by one at most, and the bytes by less than the sizes within a round. Within a shard the
 * plan's order is kept. Directories are distributed one by one before the units, and come
 * first in each shard.
 *
 * Hard links stay links if all names go into one file in the order of names, and no image
 * is decoded. Otherwise each name becomes a file of its own: a link must not come before
 * its file, nor point to another shard.
 *
 * WebDataset. A file `class/name.ext` becomes the member `class/name.ext` of the sample
 * `class/name`, whose `class/name.cls` holds the class's number. The members of a sample
 * are adjacent. Key and extension are split at the last dot; other dots of the name
 * become `_`, because readers split at the first. Extensions become lower case, and jpeg
 * becomes jpg. Classes are the directories at the top, numbered in the order of their
 * bytes, as torchvision's ImageFolder numbers them. Files without a class or an
 * extension, and hidden ones, fit no sample: they are counted and left out.
 */
#ifndef GRANARY_PACKER_PLAN_H
#define GRANARY_PACKER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "packer/scan.h"

enum pack_layout { PACK_TREE, PACK_WEBDATASET };

/* A tar member's cost besides its bytes, for the sizes of shards. */
enum { PLAN_HEADER_BYTES = 512, PLAN_BLOCK_BYTES = 512 };

struct plan_config {
	enum pack_layout layout;
	bool shuffle;
	uint64_t seed;
	uint64_t shards;      /* 0: as many as shard_size needs, or one */
	uint64_t shard_size;  /* bytes, at most; 0: no limit */
	uint64_t multiple_of; /* of the number of shards; 0 and 1: any */
	bool decode;          /* images change their extension to .ppm */
	bool split_classes;   /* train/CLASS/FILE: the class is the second part */
};

struct plan_item {
	const struct pack_scan_entry *source; /* has its attributes */
	const char *path;                /* in the packed file */
	const char *decoded;             /* its path if it is an image that is decoded, or NULL */
	int32_t label;                   /* the class's number, or -1 */
	uint16_t kind;                   /* enum pack_kind */
	bool is_label;                   /* contents: the label in digits */
	bool is_plain;                   /* in a sample: owner 0, mode 0444, seconds */
};

struct plan_shard {
	size_t first, count; /* of the items */
	uint64_t bytes;      /* estimate: contents and headers */
};

struct plan {
	struct plan_item *items;
	size_t count;
	struct plan_shard *shards;
	size_t shard_count;
	VEC(const char *) classes;  /* in the order of their numbers */
	uint64_t no_class, no_name; /* files left out */
	struct arena arena;
};

/*
 * 0, or a negative errno and a sentence: more shards than units, a file larger than
 * shard_size, two files that would become one member. The scan must outlive the plan;
 * free it with plan_free, also after an error.
 */
int plan_make(const struct pack_scan *scan, const struct plan_config *config,
	      struct plan *out, struct error *e);
void plan_free(struct plan *plan);

/* Are all classes named like splits (train, val)? Then the directory above was packed. */
bool plan_is_of_splits(const struct plan *plan);

/*
 * A digest of everything in the plan that decides on the bytes of a shard: names, sizes,
 * times and places. FNV-1a, 64 bits.
 */
uint64_t plan_digest(const struct plan *plan);

/* The difference of the largest and the smallest shard, in 1/1000 of the mean. */
unsigned plan_imbalance(const struct plan *plan);

#endif
