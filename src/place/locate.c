/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/locate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/filename.h"

/* Two sets may have the same first shard and number of shards. */
static uint32_t hash_names(const struct dataset_name *dataset)
{
	uint64_t hash = 0;

	for (uint32_t i = 1; i < dataset->count; i++) {
		const char *name = filename_of(dataset->paths[i]);

		hash = XXH3_64bits_withSeed(name, strlen(name), hash);
	}
	return (uint32_t)hash;
}

/* Names beyond the first file and options: "+127-5ca1ab1e", ",nested=off" */
static char *locate_suffix_of(const struct dataset_name *dataset)
{
	char *suffix;
	int n;

	if (dataset->count > 1)
		n = asprintf(&suffix, "+%u-%08" PRIx32 "%s", dataset->count - 1,
			     hash_names(dataset), dataset->variant);
	else
		n = asprintf(&suffix, "%s", dataset->variant);
	return n < 0 ? NULL : suffix;
}

static char *sibling_place(const char *first, const char *suffix)
{
	char *out;

	return asprintf(&out, "%s%s.gidx", first, suffix) < 0 ? NULL : out;
}

/* NULL without XDG_CACHE_HOME and HOME, as under mount(8). */
static char *in_cache(const char *first, const char *suffix)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	const char *directory = "";
	uint64_t hash = XXH3_64bits(first, strlen(first));
	char *out;
	int n;

	if (!cache || *cache != '/') {
		cache = home;
		directory = "/.cache";
	}
	if (!cache || *cache != '/')
		return NULL;
	/* a long name is cut; the hash covers all of it */
	n = asprintf(&out, "%s%s/granaryfs/%.100s-%016" PRIx64 "%s.gidx", cache, directory,
		     filename_of(first), hash, suffix);
	return n < 0 ? NULL : out;
}

/*
 * No index lies beside a device, in /dev. A device keeps the given path, for its target
 * (/dev/dm-3) may change with a restart.
 */
static bool is_device(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISBLK(st.st_mode);
}

int locate_index(const struct dataset_name *dataset, const char *named,
		 struct index_places *out)
{
	CLEANUP(cleanup_free) char *real = realpath(dataset->paths[0], NULL);
	bool device = is_device(dataset->paths[0]);
	const char *path = real && !(device && *dataset->paths[0] == '/') ? real :
								 dataset->paths[0];
	CLEANUP(cleanup_free) char *suffix = locate_suffix_of(dataset);
	char *place;

	*out = (struct index_places){ .named = named != NULL };
	if (named) {
		out->paths[0] = strdup(named);
		out->count = out->paths[0] ? 1 : 0;
		return out->count ? 0 : -ENOMEM;
	}
	if (!suffix)
		return -ENOMEM;
	place = device ? NULL : sibling_place(path, suffix);
	if (place)
		out->paths[out->count++] = place;
	out->beside = place != NULL;
	place = in_cache(path, suffix);
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
