/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan.h: what is packed where, in which order and under which name.
 *
 * Pure: made from a scan and options, without a look at the filesystem, a clock or
 * chance, so that the same tree and options give the same plan on every machine.
 *
 * Order. Entries come in the order of their names (pack_path_compare). With a seed they
 * come in the order of a Fisher-Yates shuffle of that, by splitmix64 (see seeded_order.h);
 * folders still come first, in order.
 *
 * Shards. What stays together (a file; the members of a WebDataset sample) is dealt to
 * the shards in rounds. All are sorted by size, the largest first, ties in the order of
 * the plan. A round takes the next as many as there are shards; the largest of them goes
 * to the shard that has least bytes so far, the next to the second, and so on. So
 * the numbers differ by one at most, and the bytes by less than the sizes within a round
 * do. Within a shard the plan's order is kept. Folders are dealt one by
 * one before that, and come first in each shard.
 *
 * Hard links stay links where all names go into one file in the order of names, and no
 * images are decoded. Otherwise each name becomes a file of its own: a link may not come before its file, nor point
 * to another shard.
 *
 * WebDataset. A file `class/name.ext` becomes the member `class/name.ext` of the sample
 * `class/name`, whose `class/name.cls` holds the class's number, and the members of a
 * sample lie behind each other. Key and extension part at the last dot; other dots of
 * the name become `_`, because readers part at the first. Extensions become lower
 * case, and jpeg becomes jpg. Classes are the folders at the top, numbered in the order
 * of their bytes, as torchvision's ImageFolder numbers them. Files without a class or an
 * extension, and hidden ones, cannot be in a sample: they are counted and left out.
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

/* What a member of a tar costs besides its bytes, for the sizes of shards. */
enum { PLAN_HEADER_BYTES = 512, PLAN_BLOCK_BYTES = 512 };

struct plan_config {
	enum pack_layout layout;
	bool shuffle;
	uint64_t seed;
	uint64_t shards;      /* how many; 0: as many as shard_size asks for, or one */
	uint64_t shard_size;  /* at most so many bytes each; 0: no limit */
	uint64_t multiple_of; /* the number of shards is rounded up to one; 0 and 1: any */
	bool decode;          /* images change their extension to .ppm */
	bool split_classes;   /* train/CLASS/FILE: the class is the second part */
};

struct plan_item {
	const struct scan_entry *source; /* whose attributes it has */
	const char *path;                /* in the packed file */
	const char *decoded;             /* its path if it is an image that is decoded, or NULL */
	int32_t label;                   /* the class's number, or -1 */
	uint16_t kind;                   /* enum pack_kind */
	bool is_label;                   /* contents: the label in digits */
	bool is_plain;                   /* a sample's: owner 0, mode 0444, whole seconds */
};

struct plan_shard {
	size_t first, count; /* of the items */
	uint64_t bytes;      /* about: contents and headers */
};

struct plan {
	struct plan_item *items;
	size_t count;
	struct plan_shard *shards;
	size_t shard_count;
	VEC(const char *) classes;  /* in the order of their numbers */
	uint64_t no_class, no_name; /* left out */
	struct arena arena;
};

/*
 * 0, or a negative errno and a sentence: more shards than there is to put into them, a
 * file larger than shard_size, two files that would become one member. The scan must
 * outlive the plan; free it with plan_free, also after an error.
 */
int plan_make(const struct scan *scan, const struct plan_config *config,
	      struct plan *out, struct error *e);
void plan_free(struct plan *plan);

/* Are all classes what a dataset's parts are called? Then one of those was meant. */
bool plan_is_of_splits(const struct plan *plan);

/*
 * A number that differs where anything does that decides on the bytes of a shard: the
 * names, sizes and times, and what goes where. FNV-1a, 64 bits.
 */
uint64_t plan_digest(const struct plan *plan);

/* How much the largest and the smallest shard differ, in 1/1000 of the mean. */
unsigned plan_imbalance(const struct plan *plan);

#endif
