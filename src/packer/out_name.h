/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out_name.h: what the packed files are called.
 *
 * "x.tar" is one file. "x-%06d.tar" is a set whose shards are numbered from 0, as many as it
 * takes; "x-{000000..000127}.tar" is a set of so many.
 */
#ifndef GRANARY_PACKER_OUT_NAME_H
#define GRANARY_PACKER_OUT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/brace.h"
#include "base/error.h"

struct out_name {
	const char *text;          /* as it was given; the caller's */
	struct brace *brace;       /* a pattern of more than one shard; NULL: none */
	bool numbered;             /* a % pattern */
	size_t at, length;         /* where that stands in the text */
	int width;
};

/* 0, or a negative errno and a sentence. */
int out_name_parse(const char *text, struct out_name *out, struct error *e);
void out_name_free(struct out_name *name);

/* How many files it names: 1, those of the braces, or 0 where the number is open. */
uint64_t out_name_count(const struct out_name *name);

/* The path of one shard: the caller frees it; NULL: out of memory. */
char *out_name_of(const struct out_name *name, uint64_t shard);

/*
 * The files of a set of `shards`, as they are named where they are read: "x-%06d.tar" is
 * "x-{000000..000127}.tar" then, and "x-000000.tar" if it is one. Likewise.
 */
char *out_name_to_read(const struct out_name *name, uint64_t shards);

/* The path of NAME (without a folder) beside the packed files, likewise. */
char *out_name_beside(const struct out_name *name, const char *file);

/* Is this file name (without a folder) one of the packed files', or of what belongs to them? */
bool out_name_owns(const struct out_name *name, const char *file);

/* Removes the indexes of what is replaced, also those of sets of another length. */
void out_name_remove_indexes(const struct out_name *name);

#endif
