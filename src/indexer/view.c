#include "indexer/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/vec.h"

/* An array of samples: what one shard has of it, and once sealed what all have. */
struct array {
	const char *split;     /* "train" */
	const char *name;      /* "images" */
	const char *source;    /* of the labels: "targets"; NULL: they make no paths */
	VEC(int64_t) labels;   /* one a row; once sealed: each once, in order */
	uint64_t rows;         /* measured */
	uint64_t next_row;     /* applied */
	const char *directory; /* once sealed: what the files are below */
};

struct view {
	enum view_kind kind;
	struct arena arena; /* the texts of arrays */
	VEC(struct array) arrays; /* once sealed: each once, in order */
	VEC(int64_t) labels; /* once sealed: of all arrays, each once, in order */
	bool sealed;         /* all has been measured */
	int label_digits, row_digits;
};

struct view *view_new(enum view_kind kind)
{
	struct view *view = calloc(1, sizeof(*view));

	if (view)
		view->kind = kind;
	return view;
}

void view_free(struct view *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < view->arrays.count; i++)
		vec_free(&view->arrays.items[i].labels);
	vec_free(&view->arrays);
	vec_free(&view->labels);
	arena_free(&view->arena);
	free(view);
}

static const char *keep_text(struct view *view, const char *text)
{
	return arena_copy(&view->arena, text, strlen(text));
}

static int measure_group(struct view *view, const struct sample_group *group,
			 const struct sample *samples)
{
	bool labelled = view->kind == VIEW_AUTO && group->labels;
	struct array array = { .split = keep_text(view, group->split),
			       .name = keep_text(view, group->name),
			       .source = labelled ? keep_text(view, group->labels) : NULL,
			       .rows = group->rows };

	if (!array.split || !array.name || (labelled && !array.source))
		return -ENOMEM;
	if (labelled && vec_reserve(&array.labels, group->rows) < 0)
		return -ENOMEM;
	for (uint64_t i = 0; i < group->rows && labelled; i++)
		array.labels.items[array.labels.count++] = samples[i].label;
	if (vec_push(&view->arrays, array) == 0)
		return 0;
	vec_free(&array.labels);
	return -ENOMEM;
}

int view_measure(struct view *view, const struct samples *samples)
{
	int err = 0;

	for (size_t i = 0; i < samples_group_count(samples) && !err; i++) {
		const struct sample *first;
		const struct sample_group *group = samples_group(samples, i, &first);

		err = measure_group(view, group, first);
	}
	return err;
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* Each once, in order: how many are left. */
static size_t sort_labels(int64_t *labels, size_t n)
{
	size_t kept = 0;

	qsort(labels, n, sizeof(*labels), by_value);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || labels[i] != labels[kept - 1])
			labels[kept++] = labels[i];
	return kept;
}

static int compare_arrays(const struct array *a, const struct array *b)
{
	int order = strcmp(a->split, b->split);

	return order ? order : strcmp(a->name, b->name);
}

static int by_split_and_name(const void *left, const void *right)
{
	return compare_arrays(left, right);
}

/* Adds what another shard has. Labels that one of them lacks are no labels. */
static int join_array(struct array *array, struct array *other)
{
	size_t n = other->labels.count;

	if (!array->source != !other->source)
		log_warn("'%s' in '/%s' has labels in some of the files only: its rows are "
			 "shown without", array->name, array->split);
	if (!other->source)
		array->source = NULL;
	array->rows += other->rows;
	if (vec_reserve(&array->labels, n) < 0)
		return -ENOMEM;
	if (n)
		memcpy(array->labels.items + array->labels.count, other->labels.items,
		       n * sizeof(*other->labels.items));
	array->labels.count += n;
	vec_free(&other->labels);
	return 0;
}

static int join_arrays(struct view *view)
{
	struct array *arrays = view->arrays.items;
	size_t kept = 0, i;
	int err = 0;

	if (view->arrays.count == 0)
		return 0;
	qsort(arrays, view->arrays.count, sizeof(*arrays), by_split_and_name);
	for (i = 1; i < view->arrays.count && !err; i++) {
		if (compare_arrays(&arrays[kept], &arrays[i]) == 0)
			err = join_array(&arrays[kept], &arrays[i]);
		else if (++kept != i) {
			arrays[kept] = arrays[i];
			arrays[i] = (struct array){ 0 };
		}
	}
	if (!err)
		view->arrays.count = kept + 1;
	return err;
}

/* Of a view that is sealed, and has it. */
static struct array *find_array(const struct view *view, const struct sample_group *group)
{
	const struct array key = { .split = group->split, .name = group->name };

	return bsearch(&key, view->arrays.items, view->arrays.count, sizeof(key),
		       by_split_and_name);
}

static int collect_labels(struct view *view)
{
	for (size_t i = 0; i < view->arrays.count; i++) {
		struct array *array = &view->arrays.items[i];

		if (!array->source)
			array->labels.count = 0;
		if (array->labels.count == 0)
			continue;
		array->labels.count = sort_labels(array->labels.items,
						  array->labels.count);
		if (vec_reserve(&view->labels, array->labels.count) < 0)
			return -ENOMEM;
		memcpy(view->labels.items + view->labels.count, array->labels.items,
		       array->labels.count * sizeof(*view->labels.items));
		view->labels.count += array->labels.count;
	}
	if (view->labels.count)
		view->labels.count = sort_labels(view->labels.items, view->labels.count);
	return 0;
}

/* How wide the numbers are that all have to be as wide as the widest. */
static void count_digits(struct view *view)
{
	uint64_t most = 1;

	if (view->labels.count) {
		int low = snprintf(NULL, 0, "%" PRId64, view->labels.items[0]);
		int high = snprintf(NULL, 0, "%" PRId64,
				    view->labels.items[view->labels.count - 1]);

		view->label_digits = low > high ? low : high;
	}
	for (size_t i = 0; i < view->arrays.count; i++)
		if (view->arrays.items[i].rows > most)
			most = view->arrays.items[i].rows;
	view->row_digits = snprintf(NULL, 0, "%" PRIu64, most - 1);
}

static int choose_directory(struct view *view, struct array *array, bool split_is_enough)
{
	size_t room = strlen(array->split) + strlen(array->name) + 2;
	char *path = arena_alloc(&view->arena, room);

	if (!path)
		return -ENOMEM;
	if (split_is_enough)
		snprintf(path, room, "%s", array->split);
	else
		snprintf(path, room, "%s%s%s", array->split, *array->split ? "/" : "",
			 array->name);
	array->directory = path;
	return 0;
}

/* If only one array of a split has labels, its name says nothing. */
static int choose_directories(struct view *view)
{
	struct array *arrays = view->arrays.items;
	size_t n = view->arrays.count, first = 0, end;
	int err = 0;

	for (; first < n && !err; first = end) {
		size_t labelled = 0;

		for (end = first; end < n; end++) {
			if (strcmp(arrays[end].split, arrays[first].split) != 0)
				break;
			labelled += arrays[end].source != NULL;
		}
		for (size_t i = first; i < end && !err; i++)
			err = choose_directory(view, &arrays[i],
					       arrays[i].source && labelled == 1);
	}
	return err;
}

/* A loader numbers the class directories that it finds, whatever their names are. */
static void warn_of_shifts(const struct view *view)
{
	const int64_t *labels = view->labels.items;
	size_t n = view->labels.count, i = 0;

	if (n && (labels[0] != 0 || labels[n - 1] != (int64_t)n - 1))
		log_warn("the %zu labels are not 0 to %zu: ImageFolder's class numbers are "
			 "others", n, n - 1);
	while (i < view->arrays.count && (view->arrays.items[i].labels.count == 0 ||
					  view->arrays.items[i].labels.count == n))
		i++;
	if (i < view->arrays.count)
		log_warn("/%.200s has rows of only %zu of the %zu labels: ImageFolder "
			 "numbers its classes otherwise than in the other splits",
			 view->arrays.items[i].directory,
			 view->arrays.items[i].labels.count, n);
}

static int seal(struct view *view)
{
	if (view->sealed)
		return 0;
	view->sealed = true;
	if (join_arrays(view) < 0 || collect_labels(view) < 0 ||
	    choose_directories(view) < 0)
		return -ENOMEM;
	count_digits(view);
	warn_of_shifts(view);
	return 0;
}

/* What all files of a group have in common, and room for their paths. */
struct naming {
	const struct view *view;
	const struct array *array;
	const char *extension;
	char *path;
	size_t room;
};

static void write_path(const struct naming *naming, uint64_t row, int64_t label)
{
	const struct view *view = naming->view;
	const char *directory = naming->array->directory;
	const char *slash = *directory ? "/" : "";

	if (naming->array->source)
		snprintf(naming->path, naming->room, "%s%s%0*" PRId64 "/%0*" PRIu64 ".%s",
			 directory, slash, view->label_digits, label, view->row_digits,
			 row, naming->extension);
	else
		snprintf(naming->path, naming->room, "%s%s%0*" PRIu64 ".%s", directory,
			 slash, view->row_digits, row, naming->extension);
}

static int add_file(const struct naming *naming, const struct sample *sample,
		    const struct source_owner *owner, struct entries *entries)
{
	struct entry_extent extents[2];
	size_t n = 0;
	struct entry entry = {
		.kind = ENTRY_FILE, .path = naming->path, .mode = owner->mode & 0666,
		.uid = owner->uid, .gid = owner->gid, .mtime = owner->mtime,
		.mtime_ns = owner->mtime_ns, .size = sample->head.length + sample->body.length,
		.extents = extents,
	};

	if (sample->head.length)
		extents[n++] = (struct entry_extent){ 0, sample->head.offset,
						      sample->head.length,
						      sample->head.volume };
	if (sample->body.length)
		extents[n++] = (struct entry_extent){ sample->head.length,
						      sample->body.offset,
						      sample->body.length,
						      sample->body.volume };
	entry.extent_count = n;
	return entries_add(entries, &entry);
}

static int apply_group(struct view *view, const struct sample_group *group,
		       const struct sample *samples, const struct source_owner *owner,
		       struct entries *entries)
{
	struct array *array = find_array(view, group);
	struct naming naming = { .view = view, .array = array,
				 .extension = group->extension };
	CLEANUP(cleanup_free) char *path = NULL;

	if (!array)
		return -EINVAL; /* it was not measured */
	naming.room = strlen(array->directory) + strlen(group->extension) + 64;
	path = naming.path = malloc(naming.room);
	if (!path)
		return -ENOMEM;
	for (uint64_t i = 0; i < group->rows; i++) {
		write_path(&naming, array->next_row++, samples[i].label);
		if (add_file(&naming, &samples[i], owner, entries) < 0)
			return -ENOMEM;
	}
	return 0;
}

int view_apply(struct view *view, const struct samples *samples,
	       const struct source_owner *owner, struct entries *entries)
{
	int err = seal(view);

	for (size_t i = 0; i < samples_group_count(samples) && !err; i++) {
		const struct sample *first;
		const struct sample_group *group = samples_group(samples, i, &first);

		err = apply_group(view, group, first, owner, entries);
	}
	return err;
}

/* "/train/targets, /val/targets", as far as there is room. */
static void list_labels(const struct view *view, char *text, size_t room)
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < view->arrays.count && n < room; i++) {
		const struct array *array = &view->arrays.items[i];

		if (array->source)
			n += (size_t)snprintf(text + n, room - n, "%s/%s%s%s",
					      n ? ", " : "", array->split,
					      *array->split ? "/" : "", array->source);
	}
}

void view_describe(const struct view *view, struct index_summary *summary)
{
	const int64_t *labels = view->labels.items;
	size_t n = view->labels.count;
	char list[80];

	summary->classes = n;
	if (view->arrays.count == 0) {
		snprintf(summary->names, sizeof(summary->names), "as in the archive");
		snprintf(summary->labels, sizeof(summary->labels), "the directories");
		return;
	}
	snprintf(summary->names, sizeof(summary->names),
		 "made from row numbers: the file holds no names");
	if (n == 0) {
		snprintf(summary->labels, sizeof(summary->labels), "none%s",
			 view->kind == VIEW_TREE ? " (view=tree)" : " in the file");
		return;
	}
	list_labels(view, list, sizeof(list));
	snprintf(summary->labels, sizeof(summary->labels), "%s: %" PRId64 " to %" PRId64,
		 list, labels[0], labels[n - 1]);
}
