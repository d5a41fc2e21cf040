#include "tree/locate.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "util/cleanup.h"

static const char *own_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Two sets may begin with the same shard and be of the same size. */
static uint32_t hash_names(const struct dataset_name *dataset)
{
	uint64_t hash = 0;

	for (uint32_t i = 1; i < dataset->count; i++) {
		const char *name = own_name(dataset->paths[i]);

		hash = XXH3_64bits_withSeed(name, strlen(name), hash);
	}
	return (uint32_t)hash;
}

/* "train-000.tar", "train-000.tar+127-5ca1ab1e", "train.tar,nested=off" */
static char *file_name(const struct dataset_name *dataset, const char *first)
{
	char *name;
	int n;

	if (dataset->count > 1)
		n = asprintf(&name, "%s+%u-%08" PRIx32 "%s", own_name(first),
			     dataset->count - 1, hash_names(dataset), dataset->variant);
	else
		n = asprintf(&name, "%s%s", own_name(first), dataset->variant);
	return n < 0 ? NULL : name;
}

static char *beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	char *out;

	if (asprintf(&out, "%.*s%s.gidx", slash ? (int)(slash + 1 - path) : 0, path,
		     name) < 0)
		return NULL;
	return out;
}

/* NULL where there is neither XDG_CACHE_HOME nor HOME, as under mount(8). */
static char *in_cache(const char *path, const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	uint64_t hash = XXH3_64bits(path, strlen(path));
	char *out;
	int n;

	if (cache && *cache == '/')
		n = asprintf(&out, "%s/granaryfs/%.180s-%016" PRIx64 ".gidx", cache, name,
			     hash);
	else if (home && *home == '/')
		n = asprintf(&out, "%s/.cache/granaryfs/%.180s-%016" PRIx64 ".gidx", home,
			     name, hash);
	else
		return NULL;
	return n < 0 ? NULL : out;
}

int locate_index(const struct dataset_name *dataset, const char *named,
		 struct index_places *out)
{
	CLEANUP(cleanup_free) char *real = realpath(dataset->paths[0], NULL);
	const char *path = real ? real : dataset->paths[0];
	CLEANUP(cleanup_free) char *name = file_name(dataset, path);
	char *place;

	*out = (struct index_places){ .named = named != NULL };
	if (named) {
		out->paths[0] = strdup(named);
		out->count = out->paths[0] ? 1 : 0;
		return out->count ? 0 : -ENOMEM;
	}
	if (!name)
		return -ENOMEM;
	place = beside(path, name);
	if (place)
		out->paths[out->count++] = place;
	place = in_cache(path, name);
	if (place)
		out->paths[out->count++] = place;
	return 0;
}

void locate_free(struct index_places *places)
{
	for (unsigned i = 0; i < places->count; i++)
		free(places->paths[i]);
	places->count = 0;
}

int locate_make_folder(const char *index_path)
{
	CLEANUP(cleanup_free) char *path = strdup(index_path);

	if (!path)
		return -ENOMEM;
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}
