/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/source_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "source/arguments.h"
#include "source/part_files.h"
#include "source/parts.h"

/* Descriptors for the program's other files, besides the shards. */
enum { DESCRIPTORS_TO_SPARE = 256 };

/* The pages of identities: of one file, and of all. Indexes depend on these numbers. */
enum { SAMPLES_MOST = 64, SAMPLES_LEAST = 1, SAMPLES_IN_ALL = 1024 };

static int source_set_out_of_memory(struct error *e)
{
	return error_set(e, ERROR_SYSTEM, ENOMEM,
			 "there is not enough memory to open the sources; free "
			 "some and try again");
}

/* Best effort: after a failure the open reports the error. */
static void raise_limit(size_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    limit.rlim_cur >= wanted + DESCRIPTORS_TO_SPARE ||
	    limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		log_debug("the limit of open files could not be raised");
}

/* The remedy: "%06d" is a pattern for packing, or a shard is lost. */
static int source_set_refuse_missing(const char *path, bool in_set, struct error *e)
{
	const char *number = strchr(path, '%');

	if (number && number[1 + strspn(number + 1, "0123456789")] == 'd')
		return error_set(e, ERROR_SYSTEM, ENOENT,
				 "'%s' does not exist; a set that is there is named with "
				 "braces and quoted, such as 'x-{000000..000127}.tar'", path);
	if (strstr(path, "://"))
		return error_set(e, ERROR_SYSTEM, ENOENT,
				 "'%s' is an address; download the file first, or mount the "
				 "store that it is in, such as by rclone mount", path);
	if (strpbrk(path, "*?["))
		return error_set(e, ERROR_SYSTEM, ENOENT,
				 "'%s' does not exist; braces may be quoted, but * and ? are "
				 "the shell's: leave the quotes away", path);
	if (in_set)
		return error_set(e, ERROR_SYSTEM, ENOENT,
				 "'%s' does not exist; check the path, or show the rest "
				 "without it with -o missing=skip", path);
	return error_set(e, ERROR_SYSTEM, ENOENT, "'%s' does not exist; check the path", path);
}

static int source_set_open_one(const struct arguments *arguments, uint32_t number,
			       const char *path, bool skip_missing,
			       struct source_set *set, struct error *e)
{
	bool in_set = arguments_count(arguments) > 1;
	struct source *source;
	int err = arguments_open(arguments, number, path, &source, e);

	if (err == -ENOENT && skip_missing) {
		log_warn("'%s' does not exist and is left out", path);
		return 0;
	}
	if (err == -ENOENT)
		return source_set_refuse_missing(path, in_set, e);
	if (err)
		return err;
	set->sources[set->count++] = source;
	return 0;
}

static int refuse_all_missing(const struct arguments *arguments, struct error *e)
{
	CLEANUP(cleanup_free) char *first = arguments_path(arguments, 0);

	return error_set(e, ERROR_SYSTEM, ENOENT,
			 "none of the %u sources exists, '%s' is the first; check the paths",
			 arguments_count(arguments), first ? first : "");
}

static int source_set_open_all(const struct arguments *arguments, bool skip_missing,
			       struct source_set *set, struct error *e)
{
	uint32_t count = arguments_count(arguments);

	for (uint32_t i = 0; i < count; i++) {
		CLEANUP(cleanup_free) char *path = arguments_path(arguments, i);
		int err =
			path ? source_set_open_one(arguments, i, path, skip_missing, set, e)
			     : source_set_out_of_memory(e);

		if (err)
			return err;
	}
	return set->count ? 0 : refuse_all_missing(arguments, e);
}

struct numbered_id {
	struct source_id id;
	uint32_t number;
};

static int compare_ids(const void *a, const void *b)
{
	const struct numbered_id *x = a, *y = b;

	if (x->id.device != y->id.device)
		return x->id.device < y->id.device ? -1 : 1;
	if (x->id.inode != y->id.inode)
		return x->id.inode < y->id.inode ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int refuse_twice(const struct source *a, const struct source *b, struct error *e)
{
	if (source_is_listed(a) && source_is_listed(b))
		return error_set(e, ERROR_DATASET, EINVAL,
				 "'%s' and '%s', which an index.json lists, are the same file; name "
				 "each index.json, or its directory, once; if one lists the file twice, "
				 "take the second out of it", source_path(a), source_path(b));
	return error_set(e, ERROR_USAGE, EINVAL, "'%s' and '%s' are the same file; name it once",
			 source_path(a), source_path(b));
}

static int check_twice(const struct source_set *set, struct error *e)
{
	CLEANUP(cleanup_free) struct numbered_id *ids =
		calloc(set->count, sizeof(*ids));

	if (!ids)
		return source_set_out_of_memory(e);
	for (uint32_t i = 0; i < set->count; i++)
		ids[i] = (struct numbered_id){ source_info(set->sources[i])->id, i };
	qsort(ids, set->count, sizeof(*ids), compare_ids);
	for (uint32_t i = 1; i < set->count; i++) {
		const struct numbered_id *a = &ids[i - 1], *b = &ids[i];

		if (a->id.device == b->id.device && a->id.inode == b->id.inode)
			return refuse_twice(set->sources[a->number],
					    set->sources[b->number], e);
	}
	return 0;
}

int source_set_open(char *const *texts, size_t n, bool skip_missing,
		    struct source_set *out, struct error *e)
{
	CLEANUP(cleanup_arguments) struct arguments *arguments = NULL;
	struct source_set set = { NULL, 0 };
	int err = arguments_parse(texts, n, &arguments, e);

	if (err)
		return err;
	set.sources = calloc(arguments_count(arguments), sizeof(*set.sources));
	if (!set.sources)
		return source_set_out_of_memory(e);
	raise_limit(arguments_count(arguments));
	err = source_set_open_all(arguments, skip_missing, &set, e);
	if (!err)
		err = check_twice(&set, e);
	if (!err)
		err = part_files_join(&set, e);
	if (err) {
		source_set_close(&set);
		return err;
	}
	*out = set;
	return 0;
}

/* Adds an open file: a source of its own, or a part of the last one. */
static int source_set_add(struct source_set *set, struct source *source, bool part,
			  struct error *e)
{
	struct source **sources;

	if (part && set->count)
		return parts_add(&set->sources[set->count - 1], source, e);
	sources = realloc(set->sources, (set->count + 1) * sizeof(*sources));
	if (!sources)
		return source_set_out_of_memory(e);
	set->sources = sources;
	set->sources[set->count++] = source;
	return 0;
}

/* The descriptor is the set's, also after an error. */
static int source_set_adopt_one(struct source_set *set, const char *path, int fd, bool part,
				struct error *e)
{
	struct source *source;
	int err = source_adopt(path, fd, &source, e);

	if (err) {
		close(fd);
		return err;
	}
	err = source_set_add(set, source, part, e);
	if (err)
		source_close(source);
	return err;
}

int source_set_adopt(char *const *paths, const int *fds, const bool *parts, size_t n,
		     struct source_set *out, struct error *e)
{
	struct source_set set = { NULL, 0 };
	int err = n ? 0 : error_set(e, ERROR_USAGE, EINVAL, "no source was handed over");
	size_t i = 0;

	for (; !err && i < n; i++)
		err = source_set_adopt_one(&set, paths[i], fds[i], parts && parts[i], e);
	if (!err)
		err = check_twice(&set, e);
	if (!err) {
		*out = set;
		return 0;
	}
	for (; i < n; i++)
		close(fds[i]);
	source_set_close(&set);
	return err;
}

int source_set_receive(struct source_set *set, const char *path, int fd,
		       const struct source_info *info, bool part, struct error *e)
{
	struct source *source;
	int err = source_receive(path, fd, info, &source, e);

	if (err)
		return err;
	err = source_set_add(set, source, part, e);
	if (err)
		source_close(source); /* the descriptor stays open: source_receive */
	return err;
}

void source_set_make_room(size_t count)
{
	raise_limit(count);
}

void source_set_close(struct source_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		source_close(set->sources[i]);
	free(set->sources);
	set->sources = NULL;
	set->count = 0;
}

/* Fewer pages of each file if there are many: the samples of a mount are bounded. */
static unsigned samples_of(const struct source_set *set)
{
	unsigned samples = SAMPLES_IN_ALL / (set->count ? set->count : 1);

	return samples > SAMPLES_MOST ? SAMPLES_MOST :
	       samples < SAMPLES_LEAST ? SAMPLES_LEAST : samples;
}

static void source_set_ahead(const struct source_set *set, unsigned samples)
{
	for (uint32_t i = 0; i < set->count; i++)
		source_identity_ahead(set->sources[i], samples);
}

static int identify_all(const struct source_set *set, unsigned samples,
			struct identity *out, struct error *e)
{
	source_set_ahead(set, samples);
	for (uint32_t i = 0; i < set->count; i++) {
		int err = source_identity(set->sources[i], samples, &out[i]);

		if (!err)
			continue;
		errno = -err;
		return error_set(e, ERROR_SYSTEM, -err,
				 "cannot read '%s': %m; check the storage, or copy "
				 "the file again",
				 source_path(set->sources[i]));
	}
	return 0;
}

int source_set_identify(const struct source_set *set, struct identity *out,
			struct error *e)
{
	return identify_all(set, samples_of(set), out, e);
}

int source_set_identify_ends(const struct source_set *set, struct identity *out,
			     struct error *e)
{
	return identify_all(set, 0, out, e);
}

void source_set_sample(const struct source_set *set, struct identity *out)
{
	unsigned samples = samples_of(set);

	source_set_ahead(set, samples);
	for (uint32_t i = 0; i < set->count; i++)
		out[i].samples = source_samples(set->sources[i], samples);
}

static int check_file_unchanged(const struct source *file, const char *verb,
				struct error *e)
{
	if (source_is_unchanged(file))
		return 0;
	return error_set(e, ERROR_SYSTEM, ESTALE,
			 "'%s' was written, renamed or given other permissions while it was "
			 "%sed; %s it again when it stays as it is", source_path(file), verb,
			 verb);
}

int source_set_check_unchanged(const struct source_set *set, const char *verb,
			       struct error *e)
{
	int err = 0;

	for (uint32_t i = 0; i < set->count; i++)
		for (uint32_t k = 0; !err && k < source_part_count(set->sources[i]); k++)
			err = check_file_unchanged(source_part(set->sources[i], k), verb, e);
	return err;
}
