/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An array's labels lie beside it. Where several could be its labels, the name decides:
 * first the one whose name has the array's key ("train_y" of "train_x"), then one with the
 * name that all courses use ("labels"), then one alone that is called as labels are.
 */
#include "labels/label_rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labels/row_splits.h"
#include "labels/sample_rules.h"
#include "names/label_words.h"

enum {
	RIVALS_MOST = 32, /* that are looked at for one array */
	REPORTED_MOST = 32,   /* sentences with a list of what fits */
};

/* An array that may be labels. */
struct rules_candidate {
	size_t item;
	unsigned rank;
	bool paired; /* labels of an array with its key */
	char key[NAME_KEY_BYTES];
};

/* An item that has the name of an array's labels, and does not fit the array. */
struct label_mismatch {
	size_t array, labels;
};

struct rules {
	struct catalogue *catalogue;
	const struct rule_options *options;
	struct binding_plan *plan;
	VEC(struct rules_candidate) candidates; /* by key, then rank, then name */
	VEC(struct label_mismatch) mismatches;
	VEC(size_t) lists; /* texts that may be names of classes or files */
	size_t split_column, split_texts; /* the second lists names of a split */
	unsigned reported;
};

static struct catalogue_item *item_at(const struct rules *rules, size_t i)
{
	return &rules->catalogue->items.items[i];
}

__attribute__((format(printf, 2, 3)))
static void rules_report(struct rules *rules, const char *format, ...)
{
	char text[1000];
	va_list arguments;

	if (!rules->options->report || rules->options->tree)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	rules->reported++;
	rules->options->report(rules->options->context, text);
}

/* "/train/" before the name of what lies there */
static const char *path_of(const struct rules *rules, size_t i, char out[300])
{
	const char *where = rules->options->where;

	snprintf(out, 300, "%.150s/%.140s", strcmp(where, "/") == 0 ? "" : where,
		 item_at(rules, i)->name);
	return out;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct rules_candidate *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (order == 0)
		order = (x->rank > y->rank) - (x->rank < y->rank);
	return order ? order : (x->item > y->item) - (x->item < y->item);
}

static int list_candidates(struct rules *rules)
{
	for (size_t i = 0; i < rules->catalogue->items.count; i++) {
		const struct catalogue_item *item = item_at(rules, i);
		struct rules_candidate candidate = { .item = i };

		if (item->type == ITEM_TEXT && label_rules_axis(item) == 0 &&
		    (name_class_list_rank(item->name) >= 0 ||
		     name_file_list_rank(item->name) >= 0) &&
		    vec_push(&rules->lists, i) < 0)
			return -ENOMEM;
		if (!label_rules_may_label(item, rules->options->labels))
			continue;
		candidate.rank = name_label_rank(item->name);
		name_key(item->name, candidate.key);
		if (vec_push(&rules->candidates, candidate) < 0)
			return -ENOMEM;
	}
	if (rules->candidates.count)
		qsort(rules->candidates.items, rules->candidates.count,
		      sizeof(struct rules_candidate), compare_candidates);
	return 0;
}

/* The first candidate whose key is not less. */
static size_t first_of_key(const struct rules *rules, const char *key)
{
	const struct rules_candidate *items = rules->candidates.items;
	size_t at = vec_find_last(&rules->candidates, strcmp(items[middle].key, key) < 0);

	return at + (at < rules->candidates.count && strcmp(items[at].key, key) < 0);
}

static bool fits(const struct rules *rules, const struct binding *b, size_t i,
		 enum label_form *form)
{
	const struct catalogue_item *item = item_at(rules, i);
	uint64_t count = label_rules_count(item);

	if (i == b->array || item->type == ITEM_BYTES ||
	    !names_splits_agree(item->name, item_at(rules, b->array)->name))
		return false;
	label_rules_fit(item, b->rows, form);
	return count && (count == b->rows || (rules->options->has_splits && count < b->rows));
}

static bool rules_bind_labels(struct binding *b, size_t item, enum label_form form)
{
	b->labels = item;
	b->label_form = form;
	return true;
}

/* labels=NAME, or train_NAME of train_x. */
static bool bind_chosen(const struct rules *rules, struct binding *b)
{
	const char *name = item_at(rules, b->array)->name;
	enum label_form form;

	for (int exact = 1; exact >= 0; exact--)
		for (size_t i = 0; i < rules->candidates.count; i++) {
			size_t at = rules->candidates.items[i].item;
			const char *of = item_at(rules, at)->name;

			if ((strcmp(of, rules->options->labels) == 0) == exact &&
			    name_is_chosen(of, rules->options->labels, name) &&
			    fits(rules, b, at, &form))
				return rules_bind_labels(b, at, form);
		}
	return false;
}

/* Why labels=NAME does not label it, for the first array where it is so. */
static void note_unfit(const struct rules *rules, const struct binding *b)
{
	struct binding_plan *plan = rules->plan;

	for (size_t i = 0; i < rules->candidates.count && !*plan->unfit; i++) {
		const struct catalogue_item *labels =
			item_at(rules, rules->candidates.items[i].item);

		if (b->array != rules->candidates.items[i].item &&
		    name_is_chosen(labels->name, rules->options->labels,
				   item_at(rules, b->array)->name))
			snprintf(plan->unfit, sizeof(plan->unfit),
				 "'%.100s' cannot have its labels from '%.100s' (%s): there are "
				 "%llu rows, and each wants one integer or string, a whole "
				 "number, a bool, or one-hot", item_at(rules, b->array)->name,
				 labels->name, labels->what, (unsigned long long)b->rows);
	}
}

/* Of the candidates with this key the first that fits. */
static bool bind_key(const struct rules *rules, struct binding *b, const char *key,
		     size_t *mismatch)
{
	enum label_form form;
	size_t first = first_of_key(rules, key);

	for (size_t i = first; i < rules->candidates.count && i - first < RIVALS_MOST; i++) {
		struct rules_candidate *c = &rules->candidates.items[i];

		if (strcmp(c->key, key) != 0)
			break;
		if (fits(rules, b, c->item, &form)) {
			c->paired |= *key != '\0';
			return rules_bind_labels(b, c->item, form);
		}
		if (c->item != b->array && *mismatch == RULE_NONE)
			*mismatch = c->item;
	}
	return false;
}

/* Other items that have names of labels, and fit: these names, and how many. */
struct rivals {
	size_t count, first;
	enum label_form form;
	char names[300]; /* "'fine_labels', 'coarse_labels'" */
};

static bool is_used(const struct rules *rules, size_t i)
{
	return item_at(rules, item_at(rules, i)->same)->used;
}

/* Beside labels that it has, more names are said to be possible than are taken for labels. */
static bool is_rival(const struct rules *rules, const struct binding *b, size_t i)
{
	const char *name = item_at(rules, i)->name;

	return b->labels == RULE_NONE ? name_may_label_any(name) :
	       !is_used(rules, i) && name_class_list_rank(name) < 0 &&
	       (name_may_label_any(name) || name_may_be_rival(name));
}

static void find_rivals(const struct rules *rules, const struct binding *b,
			struct rivals *out)
{
	bool all = b->labels != RULE_NONE;
	size_t count = all ? rules->catalogue->items.count : rules->candidates.count;

	*out = (struct rivals){ 0 };
	for (size_t i = 0; i < count && i < RIVALS_MOST; i++) {
		size_t at = all ? i : rules->candidates.items[i].item;
		size_t n = strlen(out->names);
		enum label_form form;

		if ((!all && rules->candidates.items[i].paired) || !is_rival(rules, b, at) ||
		    !fits(rules, b, at, &form))
			continue;
		if (out->count++ == 0) {
			out->first = at;
			out->form = form;
		}
		snprintf(out->names + n, sizeof(out->names) - n, "%s'%.60s'",
			 n ? ", " : "", item_at(rules, at)->name);
	}
}

static void report_rivals(struct rules *rules, const struct binding *b)
{
	struct rivals rivals;
	char path[300];

	find_rivals(rules, b, &rivals);
	if (rivals.count)
		rules_report(rules, "'%s' has its labels from '%s', and could have them "
			     "from %s: -o labels=%s takes those",
			     path_of(rules, b->array, path),
			     item_at(rules, b->labels)->name, rivals.names,
			     item_at(rules, rivals.first)->name);
}

/* The option is for what it fits, which is not all. */
static void report_unlabelled(struct rules *rules, const struct binding *b)
{
	char path[300];

	rules_report(rules, "nothing beside '%s' is what labels=%s says and holds a "
		     "class for each of its %llu rows: they are shown without labels; "
		     "leave the option away to have others looked for",
		     path_of(rules, b->array, path), rules->options->labels,
		     (unsigned long long)b->rows);
}

/* One alone is taken; several are not. */
static void bind_only_rival(struct rules *rules, struct binding *b)
{
	struct rivals rivals;
	char path[300];

	if (name_has_label_word(item_at(rules, b->array)->name))
		return;
	find_rivals(rules, b, &rivals);
	if (rivals.count == 1)
		rules_bind_labels(b, rivals.first, rivals.form);
	else if (rivals.count && b->form != SAMPLE_NUMBERS)
		rules_report(rules, "'%s' could have its labels from %s: it gets none; "
			     "say which with -o labels=NAME",
			     path_of(rules, b->array, path), rivals.names);
}

static size_t bind_by_key(const struct rules *rules, struct binding *b)
{
	char key[NAME_KEY_BYTES];
	size_t mismatch = RULE_NONE;

	name_key(item_at(rules, b->array)->name, key);
	if (!bind_key(rules, b, key, &mismatch) && *key)
		bind_key(rules, b, "", &mismatch);
	return mismatch;
}

/* Any arrays that fit, for -o labels=: "'a', 'b'" */
static void list_fitting(const struct rules *rules, const struct binding *b, char *out,
			 size_t room)
{
	unsigned found = 0;

	*out = '\0';
	if (rules->reported >= REPORTED_MOST)
		return;
	for (size_t i = 0; i < rules->catalogue->items.count && found < 4; i++) {
		const struct catalogue_item *item = item_at(rules, i);
		size_t n = strlen(out);
		enum label_form form;

		if (item->type == ITEM_FLOAT || name_file_list_rank(item->name) >= 0 ||
		    !fits(rules, b, i, &form))
			continue;
		snprintf(out + n, room - n, "%s-o labels=%.60s", n ? " or " : "", item->name);
		found++;
	}
}

static void report_unfit(struct rules *rules, const struct binding *b, size_t labels)
{
	const struct catalogue_item *item = item_at(rules, labels);
	char path[300], options[400];

	list_fitting(rules, b, options, sizeof(options));
	rules_report(rules, "'%s' (%s) beside '%s' does not hold one class a row (%s): "
		     "the rows get no labels from it%s%s", item->name, item->what,
		     path_of(rules, b->array, path),
		     item->type == ITEM_FLOAT && label_rules_axis(item) >= 0 ?
			"not all are whole numbers" :
			"an integer, a whole number, a bool, a text, or one-hot",
		     *options ? "; what fits: " : "; -o view=tree leaves labels alone",
		     options);
}

/* Once all arrays have their labels: a mismatch that no other array explains is refused. */
static int rules_finish(struct rules *rules, const struct label_mismatch *m)
{
	const struct catalogue_item *array = item_at(rules, m->array);
	const struct catalogue_item *labels = item_at(rules, m->labels);
	uint64_t count = label_rules_count(labels);

	if (is_used(rules, m->labels)) {
		if (count)
			rules_report(rules, "'%s' in '%s' has %llu rows, and the %llu "
				     "labels in '%s' are another array's: its rows are "
				     "shown without", array->name,
				     rules->options->where,
				     (unsigned long long)array->dims[0],
				     (unsigned long long)count, labels->name);
		return 0;
	}
	snprintf(rules->plan->problem, sizeof(rules->plan->problem), "has %llu rows in "
		 "'%.100s', and %llu labels in '%.100s': each row wants one; write the file "
		 "again, say which labels are meant (-o labels=NAME), or leave them out (-o "
		 "view=tree)", (unsigned long long)array->dims[0], array->name,
		 (unsigned long long)count, labels->name);
	return rules->options->tree ? 0 : -EBADMSG;
}

static int add_mismatch(struct rules *rules, const struct binding *b, size_t labels)
{
	const struct catalogue_item *item = item_at(rules, labels);
	uint64_t count = label_rules_count(item);

	if (item->type == ITEM_TEXT && item->rank == 1)
		return 0; /* texts may be names of classes */
	if (count <= 1 || name_is_vague(item->name)) {
		if (!is_used(rules, labels))
			report_unfit(rules, b, labels);
		return 0;
	}
	return vec_push(&rules->mismatches,
			((struct label_mismatch){ b->array, labels })) < 0 ?
		       -ENOMEM : 0;
}

static int find_labels(struct rules *rules, struct binding *b)
{
	size_t mismatch = RULE_NONE;

	if (b->is_class)
		return 0;
	if (rules->options->labels) {
		if (bind_chosen(rules, b))
			rules->plan->chosen_found = true;
		else
			note_unfit(rules, b);
		return 0;
	}
	mismatch = bind_by_key(rules, b);
	if (b->labels == RULE_NONE)
		bind_only_rival(rules, b);
	if (b->labels == RULE_NONE && mismatch != RULE_NONE && sample_rules_shown(rules->catalogue, b))
		return add_mismatch(rules, b, mismatch);
	return 0;
}

static size_t best_list(const struct rules *rules, int (*rank)(const char *),
			size_t labels, uint64_t rows)
{
	size_t best = RULE_NONE;

	for (size_t k = 0; k < rules->lists.count; k++) {
		size_t i = rules->lists.items[k];
		const struct catalogue_item *item = item_at(rules, i);
		int own = rank(item->name);

		if (own < 0 || i == labels || item->dims[0] == 0 ||
		    (rows && item->dims[0] != rows))
			continue;
		if (best == RULE_NONE || own < rank(item_at(rules, best)->name))
			best = i;
	}
	return best;
}

/* Names that are more or fewer than the rows are no names of these. */
static void find_files(struct rules *rules, struct binding *b)
{
	size_t other;
	char path[300];

	b->files = best_list(rules, name_file_list_rank, b->labels, b->rows);
	other = b->files == RULE_NONE ? best_list(rules, name_file_list_rank, b->labels, 0) :
					RULE_NONE;
	if (other != RULE_NONE && !is_used(rules, other))
		rules_report(rules, "'%s' (%s) beside '%s' does not have one name for "
			     "each of its %llu rows: they are named by their numbers; -o "
			     "names=FILE gives names",
			     item_at(rules, other)->name, item_at(rules, other)->what,
			     path_of(rules, b->array, path), (unsigned long long)b->rows);
}

static void find_lists(struct rules *rules, struct binding *b)
{
	if (b->form == SAMPLE_ROWS || b->form == SAMPLE_PADDED)
		find_files(rules, b);
	if (b->labels != RULE_NONE && item_at(rules, b->labels)->type != ITEM_TEXT)
		b->class_list = best_list(rules, name_class_list_rank, b->labels, 0);
}

static int list_splits(struct rules *rules)
{
	char split[SPLIT_BYTES];

	for (size_t i = 0; i < rules->catalogue->items.count; i++) {
		const struct catalogue_item *item = item_at(rules, i);

		if (item->type == ITEM_INTEGER && item->numbered && !item->elsewhere &&
		    label_rules_axis(item) >= 0 && name_is_split_list(item->name, split) &&
		    vec_push(&rules->plan->split_lists, i) < 0)
			return -ENOMEM;
		if (item->type != ITEM_TEXT || label_rules_axis(item) < 0)
			continue;
		if (name_is_split_column(item->name))
			rules->split_column = i;
		else if (name_is_split_list(item->name, split))
			rules->split_texts = i;
	}
	return 0;
}

/* Numbers, and words under a vague name, do not say for sure that they are splits. */
static void say_unused_splits(struct rules *rules, const struct binding *b)
{
	size_t list = rules->plan->split_lists.count ? rules->plan->split_lists.items[0] :
						       rules->split_texts, fold;

	for (size_t i = 0; i < rules->catalogue->items.count; i++) {
		const struct catalogue_item *item = item_at(rules, i);

		if (i != b->labels && i != list && label_rules_may_split(item, b->rows))
			rules_report(rules, "'%s' may say the split of each row, and is "
				     "not used: rows of all splits lie together; -o "
				     "labels=%s has a directory for each of its values",
				     item->name, item->name);
	}
	if (label_rules_find_folds(rules->catalogue, rules->plan, &list, &fold))
		rules_report(rules, "'%s' and '%s' list rows of one split, in different "
			     "folds, and are not used: all rows lie together; -o "
			     "view=arrays shows arrays as they are stored",
			     item_at(rules, list)->name, item_at(rules, fold)->name);
	else if (list != RULE_NONE)
		rules_report(rules, "'%s' may list the rows of a split, and is not used: a "
			     "list for each split is needed, of numbers of rows of '%s', and "
			     "all rows lie together; -o view=arrays shows arrays as they are "
			     "stored", item_at(rules, list)->name, item_at(rules, b->array)->name);
}

/* An array whose name says its split needs no other word for that. */
static void find_splits(struct rules *rules, struct binding *b)
{
	const __typeof__(rules->plan->split_lists) *lists = &rules->plan->split_lists;
	const struct catalogue_item *item = item_at(rules, b->array);
	size_t one, other;

	if (name_has_split_word(item->name) || rules->options->has_splits)
		return;
	if (rules->split_column != RULE_NONE &&
	    label_rules_count(item_at(rules, rules->split_column)) == b->rows)
		b->split_column = rules->split_column;
	b->has_split_lists = b->split_column == RULE_NONE && lists->count > 1 &&
			     lists->count <= ROW_SPLITS_MOST &&
			     !label_rules_find_folds(rules->catalogue, rules->plan, &one,
						     &other);
	for (size_t i = 0; i < lists->count && b->has_split_lists; i++)
		if (label_rules_count(item_at(rules, lists->items[i])) > b->rows)
			b->has_split_lists = false;
	if (b->split_column == RULE_NONE && !b->has_split_lists)
		say_unused_splits(rules, b);
}

static void mark(struct rules *rules, size_t item)
{
	if (item != RULE_NONE)
		item_at(rules, item_at(rules, item)->same)->used = true;
}

static int bind_all(struct rules *rules)
{
	__typeof__(rules->plan->items) *all = &rules->plan->items;
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < all->count && !err; i++) {
		err = find_labels(rules, &all->items[i]);
		mark(rules, all->items[i].labels);
	}
	for (size_t i = 0; i < rules->mismatches.count && !err; i++)
		err = rules_finish(rules, &rules->mismatches.items[i]);
	for (size_t i = 0; i < all->count && !err; i++) {
		struct binding *b = &all->items[i];

		if (!sample_rules_shown(rules->catalogue, b))
			continue;
		if (!rules->options->labels && b->labels != RULE_NONE)
			report_rivals(rules, b);
		if (rules->options->labels && b->labels == RULE_NONE)
			report_unlabelled(rules, b);
		find_lists(rules, b);
		find_splits(rules, b);
		mark(rules, b->split_column);
		for (size_t k = 0; k < rules->plan->split_lists.count && b->has_split_lists; k++)
			mark(rules, rules->plan->split_lists.items[k]);
		mark(rules, b->array);
		mark(rules, b->class_list);
		mark(rules, b->files);
		all->items[kept++] = *b;
	}
	all->count = kept;
	for (size_t i = 0; i < rules->catalogue->items.count; i++)
		item_at(rules, i)->used = is_used(rules, i);
	return err;
}

int label_rules_bind(struct catalogue *catalogue, const struct rule_options *options,
		     struct binding_plan *out)
{
	struct rules rules = { .catalogue = catalogue, .options = options, .plan = out,
			       .split_column = RULE_NONE, .split_texts = RULE_NONE };
	int err;

	*out = (struct binding_plan){ 0 };
	err = catalogue_find_same(catalogue);
	if (!err)
		err = list_candidates(&rules);
	if (!err)
		err = list_splits(&rules);
	if (!err)
		err = sample_rules_list(catalogue, rules.candidates.count > 0 || options->labels,
					out);
	if (!err)
		err = bind_all(&rules);
	vec_free(&rules.lists);
	vec_free(&rules.candidates);
	vec_free(&rules.mismatches);
	return err;
}

void binding_plan_free(struct binding_plan *plan)
{
	vec_free(&plan->split_lists);
	vec_free(&plan->items);
}
