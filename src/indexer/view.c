#include "indexer/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"
#include "util/cleanup.h"
#include "util/vec.h"

/* One directory of samples, which may come from many shards. */
struct split {
	const char *path;   /* "train"; "train/images" where labels make no paths */
	const char *labels; /* the array that they come from: "targets"; or NULL */
	uint64_t rows;      /* measured */
	uint64_t next_row;  /* applied */
};

struct view {
	enum view_kind kind;
	struct arena arena; /* the texts of splits */
	VEC(struct split) splits;
	VEC(int64_t) labels; /* once sealed: each once, in order */
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
	vec_free(&view->splits);
	vec_free(&view->labels);
	arena_free(&view->arena);
	free(view);
}

static bool uses_labels(const struct view *view, const struct sample_group *group)
{
	return view->kind == VIEW_AUTO && group->labels;
}

/* The directory that a group's files are below; freed by the caller. */
static char *directory_of(const struct view *view, const struct sample_group *group)
{
	char *path = NULL;
	int n = uses_labels(view, group) ?
			asprintf(&path, "%s", group->split) :
			asprintf(&path, "%s%s%s", group->split, *group->split ? "/" : "",
				 group->name);

	return n < 0 ? NULL : path;
}

static struct split *find_split(struct view *view, const char *path)
{
	for (size_t i = 0; i < view->splits.count; i++)
		if (strcmp(view->splits.items[i].path, path) == 0)
			return &view->splits.items[i];
	return NULL;
}

static struct split *add_split(struct view *view, const struct sample_group *group,
			       const char *path)
{
	struct split added = { .path = arena_copy(&view->arena, path, strlen(path)) };

	if (uses_labels(view, group)) {
		added.labels = arena_copy(&view->arena, group->labels,
					  strlen(group->labels));
		if (!added.labels)
			return NULL;
	}
	if (!added.path || vec_push(&view->splits, added) < 0)
		return NULL;
	return &view->splits.items[view->splits.count - 1];
}

static int measure_group(struct view *view, const struct sample_group *group,
			 const struct sample *samples)
{
	CLEANUP(cleanup_free) char *path = directory_of(view, group);
	struct split *split = path ? find_split(view, path) : NULL;

	if (path && !split)
		split = add_split(view, group, path);
	if (!split)
		return -ENOMEM;
	split->rows += group->rows;
	if (!uses_labels(view, group))
		return 0;
	for (uint64_t i = 0; i < group->rows; i++)
		if (vec_push(&view->labels, samples[i].label) < 0)
			return -ENOMEM;
	return 0;
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

static void sort_labels(struct view *view)
{
	size_t kept = 0;

	qsort(view->labels.items, view->labels.count, sizeof(*view->labels.items),
	      by_value);
	for (size_t i = 0; i < view->labels.count; i++)
		if (i == 0 || view->labels.items[i] != view->labels.items[kept - 1])
			view->labels.items[kept++] = view->labels.items[i];
	view->labels.count = kept;
}

/* How wide the numbers are that all have to be as wide as the widest. */
static void seal(struct view *view)
{
	uint64_t most = 1;

	if (view->sealed)
		return;
	view->sealed = true;
	if (view->labels.count) {
		int low, high;

		sort_labels(view);
		low = snprintf(NULL, 0, "%" PRId64, view->labels.items[0]);
		high = snprintf(NULL, 0, "%" PRId64,
				view->labels.items[view->labels.count - 1]);
		view->label_digits = low > high ? low : high;
	}
	for (size_t i = 0; i < view->splits.count; i++)
		if (view->splits.items[i].rows > most)
			most = view->splits.items[i].rows;
	view->row_digits = snprintf(NULL, 0, "%" PRIu64, most - 1);
}

/* What all files of a group have in common, and room for their paths. */
struct naming {
	const struct view *view;
	const struct sample_group *group;
	const char *directory;
	char *path;
	size_t room;
};

static void write_path(const struct naming *naming, uint64_t row, int64_t label)
{
	const struct view *view = naming->view;
	const char *slash = *naming->directory ? "/" : "";

	if (uses_labels(view, naming->group))
		snprintf(naming->path, naming->room, "%s%s%0*" PRId64 "/%0*" PRIu64 ".%s",
			 naming->directory, slash, view->label_digits, label,
			 view->row_digits, row, naming->group->extension);
	else
		snprintf(naming->path, naming->room, "%s%s%0*" PRIu64 ".%s",
			 naming->directory, slash, view->row_digits, row,
			 naming->group->extension);
}

static int add_file(const struct naming *naming, const struct sample *sample,
		    const struct source_owner *owner, struct entries *entries)
{
	struct entry_extent extent = { .offset = sample->offset, .length = sample->length,
				       .volume = sample->volume };
	struct entry entry = {
		.kind = ENTRY_FILE, .path = naming->path, .mode = owner->mode & 0666,
		.uid = owner->uid, .gid = owner->gid, .mtime = owner->mtime,
		.mtime_ns = owner->mtime_ns, .size = sample->length,
		.extents = &extent, .extent_count = sample->length ? 1 : 0,
	};

	return entries_add(entries, &entry);
}

static int apply_group(struct view *view, const struct sample_group *group,
		       const struct sample *samples, const struct source_owner *owner,
		       struct entries *entries)
{
	CLEANUP(cleanup_free) char *directory = directory_of(view, group);
	size_t room = (directory ? strlen(directory) : 0) + strlen(group->extension) + 64;
	CLEANUP(cleanup_free) char *path = malloc(room);
	struct naming naming = { view, group, directory, path, room };
	struct split *split = directory ? find_split(view, directory) : NULL;

	if (!split || !path)
		return -ENOMEM;
	for (uint64_t i = 0; i < group->rows; i++) {
		write_path(&naming, split->next_row++, samples[i].label);
		if (add_file(&naming, &samples[i], owner, entries) < 0)
			return -ENOMEM;
	}
	return 0;
}

int view_apply(struct view *view, const struct samples *samples,
	       const struct source_owner *owner, struct entries *entries)
{
	int err = 0;

	seal(view);
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
	for (size_t i = 0; i < view->splits.count && n < room; i++) {
		const struct split *split = &view->splits.items[i];

		if (split->labels)
			n += (size_t)snprintf(text + n, room - n, "%s/%s%s%s",
					      n ? ", " : "", split->path,
					      *split->path ? "/" : "", split->labels);
	}
}

void view_describe(const struct view *view, struct index_summary *summary)
{
	const int64_t *labels = view->labels.items;
	size_t n = view->labels.count;
	char list[80];

	summary->classes = n;
	if (view->splits.count == 0) {
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
