/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/part_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/filename.h"
#include "os/steps.h"
#include "source/part_names.h"
#include "source/parts.h"
#include "source/json_names.h"

enum {
	HEAD_BYTES = 512, /* a header of a tar */
	MAGIC_AT = 257,   /* its magic word */
	MAGIC_BYTES = 4,  /* of other formats, at their begin */
	END_BYTES = 1024, /* of a tar: zeros */
};

/* ---- Whole files ------------------------------------------------------------------- */

static bool read_begin(const struct source *source, unsigned char head[HEAD_BYTES])
{
	return source_size(source) >= HEAD_BYTES &&
	       source_pread(source, head, HEAD_BYTES, 0) == 0;
}

static bool ends_in_zeros(const struct source *source)
{
	unsigned char end[END_BYTES];
	uint64_t size = source_size(source);

	return size >= END_BYTES &&
	       source_pread(source, end, END_BYTES, size - END_BYTES) == 0 &&
	       all_zero(end, END_BYTES);
}

/* Is the second a file of its own, as the first is? */
static bool begin_alike(const struct source *a, const struct source *b)
{
	unsigned char x[HEAD_BYTES], y[HEAD_BYTES];

	if (!read_begin(a, x) || !read_begin(b, y))
		return false;
	if (memcmp(x + MAGIC_AT, "ustar", 5) == 0)
		return memcmp(y + MAGIC_AT, "ustar", 5) == 0 && ends_in_zeros(a);
	return memcmp(x, y, MAGIC_BYTES) == 0;
}

/* ---- Sentences --------------------------------------------------------------------- */

static int refuse_gap(const struct part_name *before, const char *behind, struct error *e)
{
	CLEANUP(cleanup_free) char *missing = part_name_next(before);

	return error_set(e, ERROR_DATASET, ENOENT,
			 "'%s' is missing: '%s' is a later part of the same file; put the missing "
			 "part beside it", missing ? missing : before->path, behind);
}

static int refuse_later(const char *path, const char *first, struct error *e)
{
	return error_set(e, ERROR_DATASET, EINVAL,
			 "'%s' is not the first part of its file; name the first, '%s'", path,
			 first);
}

/* ---- Parts that were named --------------------------------------------------------- */

static int compare_paths(const char *a, const char *b)
{
	struct part_name x, y;

	return part_name_parse(a, &x) && part_name_parse(b, &y) ? part_name_compare(&x, &y) : 0;
}

static int compare_sources(const void *a, const void *b)
{
	return compare_paths(source_path(*(struct source *const *)a),
			     source_path(*(struct source *const *)b));
}

static bool are_siblings(const char *a, const char *b)
{
	struct part_name x, y;

	return part_name_parse(a, &x) && part_name_parse(b, &y) && part_name_is_sibling(&x, &y);
}

/* 1: each is next to the one before; 0: they are no parts; or an error. */
static int check_run(struct source *const *run, size_t n, struct error *e)
{
	for (size_t i = 1; i < n; i++) {
		struct part_name a, b;

		if (!part_name_parse(source_path(run[i - 1]), &a) ||
		    !part_name_parse(source_path(run[i]), &b))
			return 0;
		if (part_name_is_next(&a, &b))
			continue;
		return part_name_is_gap(&a, &b) ? refuse_gap(&a, source_path(run[i]), e) : 0;
	}
	return 1;
}

/* Moves `n` sources into the first: 0 or an error. Those that are left stay in the run. */
static int join_run(struct source **run, size_t n, size_t *joined, struct error *e)
{
	int err = 0;

	for (*joined = 1; *joined < n && !err; *joined += !err)
		err = parts_add(&run[0], run[*joined], e);
	return err;
}

/* Sources of the set from `at` on whose names are of one file. */
static size_t run_length(const struct source_set *set, uint32_t at)
{
	const struct source *first = set->sources[at];
	size_t n = 1;

	while (!source_is_listed(first) && at + n < set->count &&
	       !source_is_listed(set->sources[at + n]) &&
	       are_siblings(source_path(first), source_path(set->sources[at + n])))
		n++;
	return n;
}

/* Joins a run of several that were named: how many sources it is now, or an error. */
static int join_named(struct source_set *set, uint32_t at, size_t n, struct error *e)
{
	size_t bytes = n * sizeof(*set->sources), joined;
	CLEANUP(cleanup_free) struct source **sorted = malloc(bytes);
	struct source **run = set->sources + at;
	int err;

	if (!sorted)
		return error_no_memory(e, NULL);
	memcpy(sorted, run, bytes);
	qsort(sorted, n, sizeof(*sorted), compare_sources);
	if (begin_alike(sorted[0], sorted[1]))
		return (int)n;
	err = check_run(sorted, n, e);
	if (err <= 0)
		return err ? err : (int)n;
	memcpy(run, sorted, bytes);
	err = join_run(run, n, &joined, e);
	memmove(run + 1, run + joined, (set->count - at - joined) * sizeof(*run));
	set->count -= (uint32_t)joined - 1;
	return err ? err : 1;
}

/* ---- Parts that lie beside the first ----------------------------------------------- */

static int compare_listed(const void *a, const void *b)
{
	return compare_paths(*(char *const *)a, *(char *const *)b);
}

static int add_sibling_path(const struct part_name *name, const char *entry,
			    struct path_list *list)
{
	size_t directory = (size_t)(filename_of(name->path) - name->path);
	struct part_name other;
	char *path;

	if (asprintf(&path, "%.*s%s", (int)directory, name->path, entry) < 0)
		return -ENOMEM;
	if (part_name_parse(path, &other) && part_name_is_sibling(name, &other))
		return vec_push(list, path);
	free(path);
	return 0;
}

/* The names beside a part that may be of the same file, in order. */
static int list_siblings(const struct part_name *name, struct path_list *list)
{
	size_t n = (size_t)(filename_of(name->path) - name->path);
	CLEANUP(cleanup_free) char *directory = n ? strndup(name->path, n) : strdup(".");
	DIR *opened = directory ? opendir(directory) : NULL;
	struct dirent *entry;
	int err = 0;

	if (!opened)
		return directory ? 0 : -ENOMEM;
	steps_record(name->path);
	while (!err && (entry = readdir(opened)))
		err = add_sibling_path(name, entry->d_name, list);
	closedir(opened);
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_listed);
	return err;
}

/* Are the listed names `a` and `a + 1` neighbours, or are parts missing between them? */
static bool is_continued(const struct path_list *list, size_t a)
{
	struct part_name x, y;

	return part_name_parse(list->items[a], &x) && part_name_parse(list->items[a + 1], &y) &&
	       (part_name_is_next(&x, &y) || part_name_is_gap(&x, &y));
}

/* Narrows the list to the names around `path` that follow one another. */
static void find_bounds(const struct path_list *list, const char *path, size_t *first,
			size_t *end)
{
	size_t at = 0;

	while (at < list->count && strcmp(list->items[at], path) != 0)
		at++;
	*first = *end = at < list->count ? at : 0;
	while (*first > 0 && is_continued(list, *first - 1))
		(*first)--;
	while (*end < list->count)
		if (++*end < list->count && !is_continued(list, *end - 1))
			break;
}

/* Opens the parts from `first` to `end`; `own` is open already. The run is the caller's. */
static int open_run(const struct path_list *list, size_t first, size_t end,
		    struct source *own, struct source **run, struct error *e)
{
	for (size_t i = first; i < end; i++) {
		bool is_own = strcmp(list->items[i], source_path(own)) == 0;
		int err = is_own ? 0 : source_open(list->items[i], &run[i - first], e);

		if (err)
			return err;
		if (is_own)
			run[i - first] = own;
	}
	return 0;
}

static void close_run(struct source **run, size_t n, const struct source *own)
{
	for (size_t i = 0; i < n; i++)
		if (run[i] && run[i] != own)
			source_close(run[i]);
}

/* A run around the one that was named: is it the first, and none missing? */
static int judge_run(struct source **run, size_t n, const struct source *own, struct error *e)
{
	struct part_name name;
	int err;

	if (begin_alike(run[0], run[1]))
		return 0;
	err = check_run(run, n, e);
	if (err > 0 && run[0] != own && part_name_parse(source_path(own), &name) && *name.count)
		err = refuse_later(source_path(own), source_path(run[0]), e);
	return err;
}

static int join_listed(struct source **own, const struct path_list *list, size_t first,
		       size_t end, struct error *e)
{
	size_t n = end - first, joined = 0;
	CLEANUP(cleanup_free) struct source **run = calloc(n, sizeof(*run));
	struct source *named = *own;
	int err = run ? 0 : error_no_memory(e, NULL);

	if (!err) {
		source_set_make_room(n);
		err = open_run(list, first, end, *own, run, e);
	}
	if (!err)
		err = judge_run(run, n, *own, e);
	if (err <= 0) {
		close_run(run, run ? n : 0, named);
		return err;
	}
	err = join_run(run, n, &joined, e);
	*own = run[0];
	close_run(run + joined, n - joined, NULL);
	return err;
}

/* Does another part of a file lie beside this one, whose rule has a last name? */
static bool has_numbered(const struct part_name *name)
{
	CLEANUP(cleanup_free) char *path = NULL;

	return asprintf(&path, "%.*s%s01", (int)name->stem, name->path,
			name->rule->separator) >= 0 && access(path, F_OK) == 0;
}

static int join_beside(struct source **source, struct error *e)
{
	CLEANUP(path_list_free) struct path_list list = { NULL, 0, 0 };
	struct part_name name;
	size_t first, end;

	if (source_is_listed(*source) ||
	    !part_name_parse(source_path(*source), &name) || name.doubtful ||
	    (!*name.count && !has_numbered(&name)))
		return 0;
	if (list_siblings(&name, &list) < 0)
		return error_no_memory(e, NULL);
	if (list.count < 2)
		return 0;
	find_bounds(&list, source_path(*source), &first, &end);
	return end - first < 2 ? 0 : join_listed(source, &list, first, end, e);
}

int part_files_join(struct source_set *set, struct error *e)
{
	for (uint32_t i = 0; i < set->count;) {
		size_t n = run_length(set, i);
		int now = n > 1 ? join_named(set, i, n, e) : join_beside(&set->sources[i], e);

		if (now < 0)
			return now;
		i += n > 1 ? (uint32_t)now : 1;
	}
	return 0;
}
