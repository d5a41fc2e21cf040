/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regroup_parts.h: what the parts of a regrouping share. Private to regroup/.
 */
#ifndef GRANARY_REGROUP_REGROUP_PARTS_H
#define GRANARY_REGROUP_REGROUP_PARTS_H

#include <stdbool.h>

#include "base/text.h"
#include "base/vec.h"
#include "maps/maps_texts.h"
#include "regroup/regroup.h"
#include "regroup/regroup_classes.h"

/* How well a file fits a key that has its name. */
enum { GRADE_DIRECTORY = 2, GRADE_SUFFIX = 1, GRADE_NONE = -1 };

/* A file, or a link. Paths begin at the root of the dataset, without "./". */
struct regroup_file {
	const char *path;
	const char *end;        /* of a link: where it leads, by the texts alone; or NULL */
	const char *directory;     /* of its class, into which it is moved; NULL: it stays */
	const char *end_directory; /* the same of the end */
};

struct regroup_shard {
	size_t files; /* its own, and those of the shards before it */
	const char *split;
};

/* A file with a key's name: the first of its kind. */
struct regroup_claim {
	const char *path;
	uint64_t place; /* the directory where it will be, as a hash */
	uint32_t next;  /* of the key: its number and 1, or 0 */
	bool moves;
};

/* A directory in which files have names that maps have, or might have. */
struct regroup_directory {
	bool moved;          /* some file is */
	uint64_t unnamed;    /* files of the same kind that no map has */
	const char *example; /* the first of these */
	const char *split;   /* of the shard of the first file that will be here, */
	const char *other;   /* and another one */
	bool receives;       /* a file is moved here */
};

/* What has been seen of a key. */
struct regroup_key {
	uint32_t claim; /* as in struct regroup_claim */
	bool seen;      /* a file has its name, */
	bool exact;     /* or its very path */
};

struct regroup_map {
	const struct name_map *map;
	const char *path;
	struct regroup_key *keys;
	int best;            /* grade */
	const char *example; /* a file of that grade */
	uint64_t elsewhere;  /* files that lie in other directories than the keys say */
};

struct regroup {
	struct regroup_map *maps;
	size_t map_count;
	struct regroup_classes *classes;
	struct findings *findings;
	struct arena arena; /* paths */
	VEC(struct regroup_file) files;
	VEC(struct regroup_shard) shards;
	VEC(struct regroup_claim) claims;
	struct map_texts used;         /* directories of classes */
	struct map_texts directory_paths; /* with a slash at the end */
	VEC(struct regroup_directory) directories; /* by the number of their path */
	uint64_t moved;
	size_t applied; /* files */
	struct text text, target;
};

/* A file that a map knows. */
struct regroup_match {
	const struct name_map_item *item;
	struct regroup_map *map;
	struct regroup_key *key;
	int grade;
};

/* The item of a map for the file at `path`, and how well it fits; false: none. */
bool regroup_find(struct regroup_map *map, const char *path, struct regroup_match *out);

/* Once all has been collected: is this file meant, and has it a label? */
bool regroup_is_meant(const struct regroup_match *match, const char *path);

/* Does it lie in another directory than the key says, so that it is not meant? */
bool regroup_is_in_other_directory(const struct regroup_match *match, const char *path);

/*
 * Appends the path, with `directory` (NULL: none) before its last component. 0 or
 * -ENOMEM.
 */
int regroup_insert(struct text *out, const char *path, const char *directory);

/* The same as a text of its own, until the next one; NULL: out of memory. */
const char *regroup_new_path(struct regroup *r, const char *path, const char *directory);

/* ---- regroup_check.c ---- */

/* Decides where all files go, and refuses where one would get another's label, or place. */
int regroup_check(struct regroup *r, struct error *e);

/* Have two files the same suffix, or both one of an image? */
bool regroup_same_kind(const char *a, const char *b);

/* ---- regroup_leftovers.c ---- */

/*
 * Counts a file in its directory: does a map have its name, and is it moved? 0 or
 * -ENOMEM.
 */
int regroup_count(struct regroup *r, const char *path, bool named, bool moves);

/* The same of the directory where a file of this split will be. */
int regroup_count_split(struct regroup *r, const struct regroup_file *file,
			const char *split);

/* Adds where files are moved to those of another split. */
void regroup_report_splits(const struct regroup *r);

/* Adds which files are left beside directories of classes. */
void regroup_report_leftovers(const struct regroup *r);

#endif
