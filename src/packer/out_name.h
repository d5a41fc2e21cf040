/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out_name.h: the names of the packed files.
 *
 * "x.tar" is one file. "x-%06d.tar" is a set of any size, numbered from 0;
 * "x-{000000..000127}.tar" is a set of 128 shards.
 */
#ifndef GRANARY_PACKER_OUT_NAME_H
#define GRANARY_PACKER_OUT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/brace.h"
#include "base/error.h"

struct out_name {
	const char *text;          /* the option's text; the caller's */
	struct brace *brace;       /* of more than one shard; NULL: none */
	bool numbered;             /* a % pattern */
	size_t at, length;         /* of the % pattern, in the text */
	int width;
};

/* 0, or a negative errno and a sentence. */
int out_name_parse(const char *text, struct out_name *out, struct error *e);
void out_name_free(struct out_name *name);

/* The number of files: 1, the number of words in the braces, or 0 if it is open. */
uint64_t out_name_count(const struct out_name *name);

/* The path of one shard: the caller frees it; NULL: out of memory. */
char *out_name_path(const struct out_name *name, uint64_t shard);

/*
 * The name by which a set of `shards` is mounted: "x-%06d.tar" becomes
 * "x-{000000..000127}.tar", or "x-000000.tar" if it is one. Likewise.
 */
char *out_name_pattern(const struct out_name *name, uint64_t shards);

/* The path of `file` (without a directory) beside the packed files, likewise. */
char *out_name_sibling(const struct out_name *name, const char *file);

/*
 * Is this file name (without a directory) a packed file, its index or a leftover of one?
 */
bool out_name_owns(const struct out_name *name, const char *file);

/* Removes the indexes of the replaced files, also those of sets of another length. */
void out_name_remove_indexes(const struct out_name *name);

#endif
