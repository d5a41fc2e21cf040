/*
 * locate.h: where the index of a dataset is kept.
 *
 * In this order: the path that the user named, and then nothing else; beside
 * the packed file (`NAME.gidx`; for a set of shards `FIRST+N.gidx` beside the
 * first, where N is the number of the others); `$XDG_CACHE_HOME/granaryfs/`
 * (or `~/.cache/granaryfs/`), under a name that holds a hash of the path.
 */
#ifndef GRANARY_TREE_LOCATE_H
#define GRANARY_TREE_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

enum { LOCATE_MAX_PLACES = 2 };

struct index_places {
	char *paths[LOCATE_MAX_PLACES]; /* owned */
	unsigned count;
	bool named; /* the user's own choice */
};

/*
 * `first` is the path of the first source, `count` the number of sources,
 * `named` the user's path or NULL. 0 or -ENOMEM.
 */
int locate_index(const char *first, uint32_t count, const char *named,
		 struct index_places *out);
void locate_free(struct index_places *places);

/* Makes the folder that the cache's indexes are kept in. 0 or a negative errno. */
int locate_make_folder(const char *index_path);

#endif
