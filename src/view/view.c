/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "view/view_parts.h"

enum { RELEASE_EVERY = 4096 };

struct view *view_new(const struct view_config *config)
{
	struct view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->config = *config;
	view->map_used = calloc(config->name_count + 1, sizeof(*view->map_used));
	if (view->map_used)
		return view;
	free(view);
	return NULL;
}

static void free_array(struct array *array)
{
	vec_free(&array->pieces);
	vec_free(&array->labels);
	vec_free(&array->texts);
	vec_free(&array->names);
	vec_free(&array->keys);
}

void view_free(struct view *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < view->arrays.count; i++)
		free_array(&view->arrays.items[i]);
	vec_free(&view->arrays);
	vec_free(&view->labels);
	vec_free(&view->key_names);
	spellings_free(&view->spellings);
	arena_free(&view->arena);
	free(view->map_used);
	free(view);
}

/* ---- What there is ---- */

static const char *view_store_text(struct view *view, const char *text)
{
	return arena_copy(&view->arena, text, strlen(text));
}

static int measure_group(struct view *view, struct samples *samples, size_t number,
			 const char *path)
{
	const struct sample_group *group = samples_group(samples, number);
	struct array array = {.split = view_store_text(view, group->split),
			      .name = view_store_text(view, group->name),
			      .source = group->labels
						? view_store_text(view, group->labels)
						: NULL,
			      .path = path,
			      .rows = group->rows,
			      .one_class = group->class_name != NULL,
			      .in_words = group->labels_in_words};
	struct view_piece piece = { path, group, samples, number };

	if (!array.split || !array.name || (group->labels && !array.source) ||
	    vec_push(&array.pieces, piece) < 0)
		return -ENOMEM;
	if (vec_push(&view->arrays, array) == 0)
		return 0;
	free_array(&array);
	return -ENOMEM;
}

int view_measure(struct view *view, struct samples *samples, const char *path)
{
	int err = 0;

	for (size_t i = 0; i < samples_group_count(samples) && !err; i++)
		err = measure_group(view, samples, i, path);
	return err;
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

/* A sort that keeps the order of the shards: pieces are told by where they were. */
static int view_by_place(const void *left, const void *right)
{
	const struct array *a = left, *b = right;
	int order = compare_arrays(a, b);

	return order ? order : (a->next_row > b->next_row) - (a->next_row < b->next_row);
}

/* Rows of shards that take their labels from different places are of no common classes. */
static bool join_differ(const struct array *a, const struct array *b)
{
	if (!a->source || !b->source || !a->rows || !b->rows)
		return false;
	return a->in_words != b->in_words || (!a->in_words && strcmp(a->source, b->source) != 0);
}

static void join_report(const struct view *view, const struct array *array,
			const struct array *other)
{
	if (join_differ(array, other))
		findings_add(view->config.findings, FINDING_LEFT_OUT,
			     "'%s' in '/%s' has its labels in '%.60s' of '%s', and in '%.60s' of "
			     "'%s': its rows are shown without; labels=NAME takes the same "
			     "ones in all", array->name, array->split, array->source, array->path,
			     other->source, other->path);
	else if (!array->labels_differ && !array->source != !other->source)
		findings_add(view->config.findings, FINDING_LEFT_OUT,
			     "'%s' in '/%s' has labels in some of the files only: its "
			     "rows are shown without", array->name, array->split);
}

/* Shards may have their labels in different members: ".cls, .json". */
static int join_sources(struct view *view, struct array *array, const struct array *other)
{
	join_report(view, array, other);
	array->labels_differ |= join_differ(array, other);
	if (!other->source || array->labels_differ)
		array->source = NULL;
	if (array->source && array->rows == 0) {
		array->source = other->source;
		array->in_words = other->in_words;
	}
	if (!array->source || !array->in_words || strstr(array->source, other->source))
		return 0;
	array->source = arena_print(&view->arena, "%s, %s", array->source, other->source);
	return array->source ? 0 : -ENOMEM;
}

/* Adds what another shard has. Labels that one of them lacks are no labels. */
static int join_array(struct view *view, struct array *array, struct array *other)
{
	if (join_sources(view, array, other) < 0)
		return -ENOMEM;
	array->rows += other->rows;
	array->one_class &= other->one_class;
	if (vec_push(&array->pieces, other->pieces.items[0]) < 0)
		return -ENOMEM;
	free_array(other);
	return 0;
}

static int join_arrays(struct view *view)
{
	struct array *arrays = view->arrays.items;
	size_t kept = 0, i;
	int err = 0;

	if (view->arrays.count == 0)
		return 0;
	for (i = 0; i < view->arrays.count; i++)
		arrays[i].next_row = i;
	qsort(arrays, view->arrays.count, sizeof(*arrays), view_by_place);
	for (i = 1; i < view->arrays.count && !err; i++) {
		if (compare_arrays(&arrays[kept], &arrays[i]) == 0)
			err = join_array(view, &arrays[kept], &arrays[i]);
		else if (++kept != i) {
			arrays[kept] = arrays[i];
			arrays[i] = (struct array){ 0 };
		}
	}
	if (err)
		return err;
	view->arrays.count = kept + 1;
	for (i = 0; i <= kept; i++)
		arrays[i].next_row = 0;
	return 0;
}

bool view_next_row(struct rows *rows, struct row *out)
{
	const struct array *array = rows->array;

	for (; rows->piece < array->pieces.count; rows->piece++, rows->at = 0) {
		const struct view_piece *piece = &array->pieces.items[rows->piece];

		for (; rows->at < piece->group->rows; rows->at++, rows->number++) {
			samples_get(piece->samples, piece->number, rows->at, &out->sample);
			if (out->sample.body.volume != SAMPLE_MISSING)
				break;
		}
		if (rows->at == piece->group->rows)
			continue;
		out->group = piece->group;
		out->key = array->keys.count ? &array->keys.items[rows->number] : NULL;
		out->number = rows->number++;
		out->piece = rows->piece;
		rows->at++;
		return true;
	}
	return false;
}

/* ---- How it is shown ---- */

/* A map's directory is a class where there is no number that could be called so. */
static const char *key_class(const struct map_key *key)
{
	return key->item->class_name;
}

static const char *stored_class_text(const struct array *array, const struct row *row)
{
	if (!array->source && !row->key)
		return NULL;
	if (row->sample.class_name)
		return row->sample.class_name;
	if (row->group->class_name)
		return row->group->class_name;
	return row->key && !array->numbered ? key_class(row->key) : NULL;
}

const char *view_class_text(const struct array *array, const struct row *row)
{
	const char *text = stored_class_text(array, row);

	const struct spelling *spelling =
		text && array->spellings ? spellings_get(array->spellings, text) : NULL;

	return spelling ? spelling->class : text;
}

/* Of a text that is one of the labels that are numbers. */
static bool get_spelled_label(const struct array *array, const struct row *row,
			      int64_t *label)
{
	const char *text = array->spellings ? stored_class_text(array, row) : NULL;
	const struct spelling *spelling = text ? spellings_get(array->spellings, text) : NULL;

	if (spelling)
		*label = spelling->number;
	return spelling && !spelling->class;
}

bool view_label(const struct array *array, const struct row *row, int64_t *label)
{
	if (get_spelled_label(array, row, label))
		return *label >= 0 || array->below_zero;
	if (array->numbered)
		*label = row->sample.label;
	else if (row->key && !row->key->item->class_name)
		*label = row->key->item->label;
	else
		return false;
	return *label >= 0 || (array->below_zero && *label != SAMPLE_UNLABELLED);
}

const char *view_row_name(const struct array *array, const struct row *row)
{
	if (!row->key)
		return row->sample.name;
	return array->form == FORM_CLASSES ? filename_of(row->key->rest) : row->key->rest;
}

enum { SEEN_0 = 1, SEEN_1 = 2, SEEN_MINUS_1 = 4, SEEN_OTHER = 8 };

static unsigned label_bit(int64_t label)
{
	if (label == SAMPLE_UNLABELLED)
		return 0;
	return label == 0 ? SEEN_0 : label == 1 ? SEEN_1 : label == -1 ? SEEN_MINUS_1 : SEEN_OTHER;
}

/* Counts the names, and finds whether labels are numbers. */
static void inspect_rows(struct array *array, unsigned *seen)
{
	struct rows rows = { .array = array };
	char path[VIEW_PATH_BYTES];
	struct row row;

	while (view_next_row(&rows, &row)) {
		const char *name = row.sample.name;

		if (!row.sample.class_name && !row.group->class_name) {
			array->numbered |= array->source &&
					   row.sample.label != SAMPLE_UNLABELLED;
			*seen |= label_bit(row.sample.label);
		}
		if (!name)
			continue;
		if (view_safe_path(name, path)) {
			array->named++;
			array->directories |= strchr(path, '/') != NULL;
		} else {
			array->unusable++;
		}
	}
}

/*
 * Labels below 0 are none: -1 of Hugging Face's test splits, -100 of PyTorch's losses. Where
 * all others are 1, -1 is one of two classes.
 */
static void inspect_arrays(struct view *view)
{
	unsigned seen = 0;

	for (size_t i = 0; i < view->arrays.count; i++)
		inspect_rows(&view->arrays.items[i], &seen);
	for (size_t i = 0; i < view->arrays.count; i++)
		view->arrays.items[i].below_zero = seen == (SEEN_1 | SEEN_MINUS_1);
	view->has_0 = seen & SEEN_0;
}

static enum form choose_form(const struct view *view, const struct array *array)
{
	bool names = array->named || array->keys.count;
	bool classes = array->rows && (array->source || array->keys.count);

	if (view->config.kind == VIEW_TREE || !classes)
		return names ? FORM_NAMES : FORM_ROWS;
	return array->class_directories ? FORM_NAMES : FORM_CLASSES;
}

/*
 * Where nobody asked for classes, names whose directories are these are a tree already.
 */
static int choose_forms(struct view *view)
{
	for (size_t i = 0; i < view->arrays.count; i++) {
		struct array *array = &view->arrays.items[i];
		bool ask = view->config.kind != VIEW_CLASS && array->directories &&
			   array->source && array->keys.count == 0;
		bool several = false;
		int is = ask ? view_directories_are_classes(array, &several) : 0;

		if (is < 0)
			return is;
		array->class_directories = is;
		array->form = choose_form(view, array);
		if (several && array->form == FORM_CLASSES && view->config.kind == VIEW_AUTO)
			findings_add(view->config.findings, FINDING_CHOSEN,
				     "the samples in '/%s' lie in several directories, "
				     "which are not their labels (%s): they are shown by "
				     "label; -o view=tree shows the directories as they "
				     "are stored", array->split, array->source);
	}
	return 0;
}

static int choose_directory(struct view *view, struct array *array, bool split_is_enough)
{
	array->directory = split_is_enough ? array->split :
		arena_print(&view->arena, "%s%s%s", array->split, *array->split ? "/" : "",
			    array->name);
	return array->directory ? 0 : -ENOMEM;
}

/* Arrays that are a class each share a split's directory; no two are the same class. */
static bool view_are_classes(const struct array *arrays, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = arrays[i].pieces.items[0].group->class_name;

		if (arrays[i].form != FORM_CLASSES)
			continue;
		if (!arrays[i].one_class || strcmp(name, arrays[i].name) != 0)
			return false;
	}
	return true;
}

/* If only one array of a split has labels, or names, its own name says nothing. */
static int choose_directories(struct view *view)
{
	struct array *arrays = view->arrays.items;
	size_t n = view->arrays.count, first = 0, end;
	int err = 0;

	for (; first < n && !err; first = end) {
		size_t forms[FORM_CLASSES + 1] = { 0 };

		for (end = first; end < n; end++) {
			if (strcmp(arrays[end].split, arrays[first].split) != 0)
				break;
			forms[arrays[end].form]++;
		}
		if (view_are_classes(arrays + first, end - first))
			forms[FORM_CLASSES] = 1;
		for (size_t i = first; i < end && !err; i++)
			err = choose_directory(view, &arrays[i],
					       arrays[i].form != FORM_ROWS &&
					       forms[arrays[i].form] == 1);
	}
	return err;
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

static int choose_prefixes(struct view *view)
{
	int err = 0;

	for (size_t i = 0; i < view->arrays.count && !err; i++)
		err = view_choose_prefix(view, &view->arrays.items[i]);
	return err;
}

/* Samples of classes that nobody takes for images. */
static void report_unknown(const struct view *view)
{
	const char *where = NULL;
	size_t others = 0;

	for (size_t i = 0; i < view->arrays.count; i++) {
		const struct array *array = &view->arrays.items[i];
		const struct sample_group *group = array->pieces.items[0].group;

		if (array->form != FORM_CLASSES || array->named == array->rows ||
		    array->keys.count || strcmp(group->extension, SAMPLES_UNKNOWN) != 0)
			continue;
		others += where != NULL;
		where = where ? where : array->directory;
	}
	if (where)
		findings_add(view->config.findings, FINDING_LEFT_OUT,
			     "what the samples in '/%s'%s are is not known by their "
			     "first bytes: they are called ." SAMPLES_UNKNOWN ", which "
			     "ImageFolder passes by; DatasetFolder(root, loader, "
			     "extensions=('." SAMPLES_UNKNOWN "',)) takes them", where,
			     others ? " and others" : "");
}

static void report_idle_maps(const struct view *view)
{
	if (view->arrays.count == 0 || view->config.name_count == 0 || view_used_names(view))
		return;
	findings_add(view->config.findings, FINDING_UNUSED, "names= does nothing here: %s",
		     view_has_named_rows(view) ?
		     "the rows have names and labels in the file, which do not contradict it; "
		     "classes= says what labels are called" : "no row gets a name from it");
}

int view_seal(struct view *view, struct error *e)
{
	int err;

	if (join_arrays(view) < 0)
		return error_no_memory(e, NULL);
	inspect_arrays(view);
	err = view_match_maps(view, e);
	if (err)
		return err;
	if (choose_forms(view) < 0 || view_collect_classes(view) < 0)
		return error_no_memory(e, NULL);
	view_drop_fractions(view);
	if (view_join_spellings(view) < 0)
		return error_no_memory(e, NULL);
	err = view_compare_maps(view, e);
	if (!err)
		err = view_name_classes(view, e);
	if (err)
		return err;
	report_idle_maps(view);
	count_digits(view);
	if (choose_directories(view) < 0 || choose_prefixes(view) < 0)
		return error_no_memory(e, NULL);
	report_unknown(view);
	view_report_label_order(view);
	return 0;
}

/* ---- The files ---- */

static int view_add_file(const char *path, const struct sample *sample,
			 const struct source_owner *owner, struct entries *entries)
{
	struct entry_extent extents[2];
	size_t n = 0;
	struct entry entry = {
		.kind = ENTRY_FILE, .path = path, .mode = owner->mode & 0666,
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

/* Of a view that is sealed, and has it. */
static struct array *find_array(const struct view *view, const struct sample_group *group)
{
	const struct array key = { .split = group->split, .name = group->name };

	return bsearch(&key, view->arrays.items, view->arrays.count, sizeof(key),
		       by_split_and_name);
}

/* Stems are compared with the first row's own name, which has to stay. */
static bool may_release(const struct array *array, uint64_t row)
{
	return row % RELEASE_EVERY == 0 && array->prefix != PREFIX_STEM;
}

static int apply_group(struct view *view, struct samples *samples, size_t number,
		       const struct source_owner *owner, struct entries *entries)
{
	struct row row = { .group = samples_group(samples, number) };
	struct array *array = find_array(view, row.group);
	struct naming naming;
	int err;

	if (!array)
		return -EINVAL;
	err = view_begin_naming(view, array, &naming);
	for (uint64_t i = 0; i < row.group->rows && !err; i++) {
		samples_get(samples, number, i, &row.sample);
		row.number = array->next_row++;
		if (row.sample.body.volume == SAMPLE_MISSING)
			continue;
		row.key = array->keys.count ? &array->keys.items[row.number] : NULL;
		view_write_path(&naming, &row);
		err = view_add_file(naming.path, &row.sample, owner, entries);
		if (may_release(array, i))
			samples_release(samples, number, i);
	}
	view_end_naming(&naming);
	return err;
}

int view_apply(struct view *view, struct samples *samples, const struct source_owner *owner,
	       struct entries *entries)
{
	int err = 0;

	for (size_t i = 0; i < samples_group_count(samples) && !err; i++)
		err = apply_group(view, samples, i, owner, entries);
	return err;
}
