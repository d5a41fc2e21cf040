/*
 * regroup_parts.h: what the parts of a regrouping share. Private to indexer/regroup*.c.
 */
#ifndef GRANARY_INDEXER_REGROUP_PARTS_H
#define GRANARY_INDEXER_REGROUP_PARTS_H

#include <stdbool.h>

#include "indexer/maps_texts.h"
#include "indexer/regroup.h"
#include "indexer/regroup_classes.h"
#include "indexer/regroup_names.h"
#include "util/vec.h"

/* How well a file fits a key that has its name. */
enum { GRADE_FOLDER = 2, GRADE_SUFFIX = 1, GRADE_NONE = -1 };

/* A map, and what of it has been seen. */
struct map_state {
	const struct name_map *map;
	const char *path;
	int best;             /* grade */
	uint64_t files[4];    /* by grade */
	unsigned char *seen;  /* by item, a bit each */
	size_t missing;       /* once sealed: items without a file */
	uint64_t elsewhere;   /* files that lie in other folders than the keys say */
};

struct text {
	char *items; /* with a NUL behind it, once something was added */
	size_t count, room;
};

struct regroup {
	struct map_state *maps;
	size_t map_count;
	struct regroup_classes *classes;
	struct map_texts used; /* folders of classes */
	struct regroup_names names; /* of the shard in hand */
	uint64_t clash;             /* the one that two files get */
	uint64_t moved;
	struct text prefix; /* of a nested log: "a/b/" */
	struct text whole;  /* a path with its prefix */
	struct text path, target; /* that an entry gets */
};

/* A file that a map knows. */
struct match {
	const struct name_map_item *item;
	struct map_state *state;
	int grade;
};

/* ---- regroup.c ---- */

/* What a map says of the file at `path`, and how well that fits; false: nothing. */
bool regroup_find(struct map_state *state, const char *path, struct match *out);

/* ---- regroup_walk.c ---- */

void regroup_text_cut(struct text *t, size_t size);

/* Appends, and keeps a NUL behind it. 0 or -ENOMEM. */
int regroup_text_add(struct text *t, const char *bytes, size_t n);

/* A path of the log in hand, from the root: valid until the next one. NULL: no memory. */
const char *regroup_whole_path(struct regroup *r, const char *path);

/* What may be moved: a nested packed file that could be read is a folder. */
bool regroup_is_file(const struct entry *entry);

/* Goes into nested logs, and on to those that follow, until one fails. */
int regroup_for_each_log(struct regroup *r, struct entries *entries,
			 int (*run)(struct regroup *r, struct entries *log,
				    struct error *e),
			 struct error *e);

#endif
