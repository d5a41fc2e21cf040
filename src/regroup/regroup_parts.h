/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regroup_parts.h: what the parts of a regrouping share. Private to regroup/.
 */
#ifndef GRANARY_REGROUP_REGROUP_PARTS_H
#define GRANARY_REGROUP_REGROUP_PARTS_H

#include <stdbool.h>

#include "base/vec.h"
#include "maps/maps_texts.h"
#include "regroup/regroup.h"
#include "regroup/regroup_classes.h"
#include "regroup/regroup_names.h"

/* How well a file fits a key that has its name. */
enum { GRADE_FOLDER = 2, GRADE_SUFFIX = 1, GRADE_NONE = -1 };

/* A file with an item's name: the first of its kind. */
struct regroup_claim {
	uint64_t folder;    /* where it will be, as a hash */
	const char *prefix; /* of a nested log */
	const char *path;
	uint32_t next;      /* of the item: its number and 1, or 0 */
	bool moves;
};

/* A folder in which files have names that maps have, or might have. */
struct regroup_folder {
	const char *path;
	bool moved;          /* some file is */
	uint64_t unnamed;    /* files of the same kind that no map has */
	const char *example; /* the first of these */
	const char *split;   /* of the shard of the first file that will be here, */
	const char *other;   /* and another one */
	bool receives;       /* a file is moved here */
};

/* A map, and what of it has been seen. */
struct map_state {
	const struct name_map *map;
	const char *path;
	int best;             /* grade */
	const char *example;  /* a file of that grade */
	unsigned char *seen;  /* by item, a bit each */
	unsigned char *exact; /* the same: there is a file with the key's very path */
	uint32_t *claims;     /* by item: as in struct regroup_claim */
	uint64_t elsewhere;   /* files that lie in other folders than the keys say */
};

struct regroup_text {
	char *items; /* with a NUL behind it, once something was added */
	size_t count, room;
};

struct regroup {
	struct map_state *maps;
	size_t map_count;
	struct regroup_classes *classes;
	struct findings *findings;
	struct map_texts used; /* folders of classes */
	struct map_texts kept; /* parts of paths */
	VEC(struct regroup_claim) claims;
	VEC(struct regroup_folder) folders;
	struct idmap folder_ids;
	const char *split; /* of the shard in hand, or NULL */
	struct regroup_names names; /* of the shard in hand */
	uint64_t clash;             /* the one that two files get */
	uint64_t moved;
	struct regroup_text prefix; /* of a nested log: "a/b/" */
	struct regroup_text whole;  /* a path with its prefix */
	struct regroup_text path, target; /* that an entry gets */
};

/* A file that a map knows. */
struct match {
	const struct name_map_item *item;
	struct map_state *state;
	int grade;
};

/* ---- regroup.c ---- */

/* The item of a map for the file at `path`, and how well it fits; false: none. */
bool regroup_find(struct map_state *state, const char *path, struct match *out);

/* The same once all has been seen, of a file that is meant and has a label. */
bool regroup_match(struct map_state *state, const char *path, struct match *out);

/* Does it lie in another folder than the key says, so that it is not meant? */
bool regroup_is_in_other_folder(const struct match *match, const char *path);

size_t regroup_item_number(const struct match *match);

/* ---- regroup_move.c ---- */

/*
 * The class's folder that the file at `path` is moved into: 1, 0 if it stays, -ENOMEM.
 * The text lives as long as the regrouping.
 */
int regroup_new_folder(struct regroup *r, const char *path, const char **out);

/*
 * Where a link at `path` leads to, by the texts alone, until the next one: NULL if that
 * is above the root, or (*err) memory is out.
 */
const char *regroup_follow(struct regroup *r, const char *path, const char *target,
			   int *err);

/* ---- regroup_leftovers.c ---- */

/* Counts a file in its folder: does a map have its name, and is it moved? 0 or -ENOMEM. */
int regroup_count(struct regroup *r, const struct entry *entry, bool named, bool moves);

/* The same of the folder "a/n1/" where a file of the shard in hand will be. */
int regroup_count_split(struct regroup *r, const char *folder, bool moves);

/* Adds where files are moved to those of another split. */
void regroup_report_splits(const struct regroup *r);

/* Adds which files are left beside folders of classes. */
void regroup_report_leftovers(const struct regroup *r);

/* ---- regroup_walk.c ---- */

void regroup_text_cut(struct regroup_text *t, size_t size);

/* Appends, and keeps a NUL behind it. 0 or -ENOMEM. */
int regroup_text_add(struct regroup_text *t, const char *bytes, size_t n);

/* "./a" and "/a" are a. */
const char *regroup_skip_root(const char *path);

/* A path of the log in hand, from the root: valid until the next one. NULL: no memory. */
const char *regroup_whole_path(struct regroup *r, const char *path);

/* Files may be moved: a nested packed file that could be read is a folder. */
bool regroup_is_file(const struct entry *entry);

/* Goes into nested logs, and on to those that follow, until one fails. */
int regroup_for_each_log(struct regroup *r, struct entries *entries,
			 int (*run)(struct regroup *r, struct entries *log,
				    struct error *e),
			 struct error *e);

#endif
