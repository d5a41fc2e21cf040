/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/map_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "index/checksum.h"

/* Enough for a hundred million names. */
#define BYTES_MOST (UINT64_C(1) << 30)

static int map_files_check_size(const char *option, const struct source *source,
				struct error *e)
{
	if (source_size(source) == 0)
		return error_set(e, ERROR_DATASET, EINVAL,
				 "-o %s: '%s' is empty; write it anew, or leave the option out",
				 option, source_path(source));
	if (source_size(source) > BYTES_MOST)
		return error_set(e, ERROR_DATASET, EFBIG,
				 "-o %s: '%s' has %" PRIu64 " bytes, more than the GiB that a map "
				 "may have; is it the right file?", option, source_path(source),
				 source_size(source));
	return 0;
}

static int check_sizes(const char *option, const struct source_set *set, struct error *e)
{
	int err = 0;

	for (uint32_t i = 0; i < set->count && !err; i++)
		err = map_files_check_size(option, set->sources[i], e);
	return err;
}

/* Adds a file to a set that has room for it. */
static int map_files_open_one(const char *option, const char *path,
			      struct source_set *set, struct error *e)
{
	struct source *source;
	int err;

	if (!*path)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o %s: a path is missing before or behind a colon", option);
	err = source_open(path, &source, e);
	if (err == -EISDIR)
		return error_set(e, ERROR_DATASET, EISDIR,
				 "-o %s: '%s' is a directory; name the file itself", option, path);
	if (err) {
		error_prefix(e, "-o %s", option);
		return err;
	}
	set->sources[set->count++] = source;
	return 0;
}

static size_t count_colons(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, ':'))) {
		text++;
		n++;
	}
	return n;
}

/* "FILE:FILE" */
static int map_files_open_names(const char *list, struct source_set *set, struct error *e)
{
	CLEANUP(cleanup_free) char *copy = strdup(list);
	char *rest = copy, *path;
	int err = 0;

	set->sources = calloc(count_colons(list) + 1, sizeof(*set->sources));
	if (!copy || !set->sources)
		return error_no_memory(e, NULL);
	while (!err && (path = strsep(&rest, ":")))
		err = map_files_open_one("names", path, set, e);
	return err;
}

static int open_classes(const char *path, struct source_set *set, struct error *e)
{
	set->sources = calloc(1, sizeof(*set->sources));
	return set->sources ? map_files_open_one("classes", path, set, e) :
			error_no_memory(e, NULL);
}

static int map_files_check(const struct map_files *maps, struct error *e)
{
	int err = check_sizes("classes", &maps->classes, e);

	return err ? err : check_sizes("names", &maps->names, e);
}

int map_files_open(const struct dataset_config *config, struct map_files *out,
		   struct error *e)
{
	int err = 0;

	*out = (struct map_files){ 0 };
	if (config->classes)
		err = open_classes(config->classes, &out->classes, e);
	if (!err && config->names)
		err = map_files_open_names(config->names, &out->names, e);
	if (!err)
		err = map_files_check(out, e);
	if (err)
		map_files_close(out);
	return err;
}

static int adopt(char *const *paths, const int *fds, size_t n, struct source_set *set,
		 struct error *e)
{
	return n ? source_set_adopt(paths, fds, NULL, n, set, e) : 0;
}

int map_files_adopt(char *const *paths, const int *fds, size_t n, size_t classes,
		    struct map_files *out, struct error *e)
{
	int err;

	*out = (struct map_files){ 0 };
	err = adopt(paths, fds, classes, &out->classes, e);
	for (size_t i = classes; err && i < n; i++)
		close(fds[i]);
	if (!err)
		err = adopt(paths + classes, fds + classes, n - classes, &out->names, e);
	if (!err)
		err = map_files_check(out, e);
	if (err)
		map_files_close(out);
	return err;
}

void map_files_close(struct map_files *maps)
{
	source_set_close(&maps->classes);
	source_set_close(&maps->names);
}

/* The key since 0.1: size, time, and digest of the ends. */
struct map_files_key {
	uint64_t size;
	int64_t mtime_ns;
	uint64_t digest;
};

static int map_files_append(const char *option, const struct source_set *set, char *text,
			    struct error *e)
{
	CLEANUP(cleanup_free) struct identity *ids = calloc(set->count + 1, sizeof(*ids));
	CLEANUP(cleanup_free)
	struct map_files_key *keys = calloc(set->count + 1, sizeof(*keys));
	int err = ids && keys ? 0 : error_no_memory(e, NULL);

	if (err || set->count == 0)
		return err;
	err = source_set_identify_ends(set, ids, e);
	for (uint32_t i = 0; i < set->count && !err; i++)
		keys[i] = (struct map_files_key){ids[i].size, ids[i].mtime_ns,
						 ids[i].digest};
	if (!err)
		buffer_print(text, CONFIG_TEXT_BYTES, ",%s=%016" PRIx64, option,
			     sum_of(keys, set->count * sizeof(*keys)));
	return err;
}

int map_files_append_key(const struct map_files *maps, char text[CONFIG_TEXT_BYTES],
			 struct error *e)
{
	int err = map_files_append("classes", &maps->classes, text, e);

	return err ? err : map_files_append("names", &maps->names, text, e);
}
