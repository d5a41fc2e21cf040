#include "indexer/wds_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "indexer/wds_samples.h"
#include "indexer/wds_split.h"
#include "util/vec.h"

/* Where a sample lies, and what it is. */
struct place {
	const char *directory; /* in the path of a member */
	size_t length;
	const char *class_name; /* or NULL: the number */
	int64_t number;
};

const char *wds_plain_path(const char *path)
{
	for (;;) {
		if (*path == '/')
			path++;
		else if (path[0] == '.' && path[1] == '/')
			path += 2;
		else
			return path;
	}
}

static struct place place_of(const struct wds_sample *sample,
			     const struct wds_record *record, const char *texts)
{
	const char *path = wds_plain_path(sample->members.items[0].path);
	const char *slash = strrchr(path, '/');
	size_t n = strcspn(path, "/");

	if (path[n] == '/' && wds_is_split(path, n))
		path += n + (path + n != slash);
	return (struct place){ path, slash > path ? (size_t)(slash - path) : 0,
			       record->named ? texts + record->number : NULL,
			       record->number };
}

static int compare_directories(const struct place *a, const struct place *b)
{
	size_t n = a->length < b->length ? a->length : b->length;
	int order = n ? memcmp(a->directory, b->directory, n) : 0;

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_classes(const struct place *a, const struct place *b)
{
	if (a->class_name && b->class_name)
		return strcmp(a->class_name, b->class_name);
	if (a->class_name || b->class_name)
		return a->class_name ? 1 : -1;
	return (a->number > b->number) - (a->number < b->number);
}

static int by_directory(const void *left, const void *right)
{
	int order = compare_directories(left, right);

	return order ? order : compare_classes(left, right);
}

static int by_class(const void *left, const void *right)
{
	return compare_classes(left, right);
}

/* How many are not the same as what is before them. */
static size_t count_distinct(const struct place *places, size_t n,
			     int (*compare)(const void *left, const void *right))
{
	size_t distinct = n > 0;

	for (size_t i = 1; i < n; i++)
		distinct += compare(&places[i - 1], &places[i]) != 0;
	return distinct;
}

static int only_directory(const void *left, const void *right)
{
	return compare_directories(left, right);
}

static bool one_for_one(struct place *places, size_t n)
{
	size_t directories, pairs;

	if (n == 0)
		return false;
	qsort(places, n, sizeof(*places), by_directory);
	pairs = count_distinct(places, n, by_directory);
	directories = count_distinct(places, n, only_directory);
	if (directories < 2 || pairs != directories || places[0].length == 0)
		return false;
	qsort(places, n, sizeof(*places), by_class);
	return count_distinct(places, n, by_class) == directories;
}

int wds_is_tree(struct entries *log, const struct wds_records *records)
{
	VEC(struct place) places = VEC_INIT;
	struct wds_walk walk = { .log = log };
	struct wds_sample sample = { 0 };
	struct place last = { 0 };
	int r, err = 0;

	for (size_t i = 0; !err && (r = wds_walk_next(&walk, &sample)) != 0; i++) {
		const struct wds_record *record = &records->items.items[i];

		err = r < 0 ? r : 0;
		if (err || !record->used)
			continue;
		last = place_of(&sample, record, records->texts.items);
		if (places.count && by_directory(&last, &places.items[places.count - 1]) == 0)
			continue;
		err = vec_push(&places, last);
	}
	if (!err)
		err = one_for_one(places.items, places.count);
	wds_sample_free(&sample);
	vec_free(&places);
	return err;
}
