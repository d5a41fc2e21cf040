/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "indexer/label_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "build/findings.h"
#include "names/label_words.h"

/* A file whose name says that it has images, or their labels. */
struct pair_half {
	struct scan *scan;
	size_t directory; /* bytes of its label before its name */
	enum name_pair role;
	char key[NAME_KEY_BYTES];
};

static int compare_halves(const struct pair_half *a, const struct pair_half *b)
{
	int order = strcmp(a->key, b->key);

	if (order == 0 && a->directory != b->directory)
		order = a->directory < b->directory ? -1 : 1;
	return order ? order : memcmp(a->scan->label, b->scan->label, a->directory);
}

static int halves_in_order(const void *left, const void *right)
{
	const struct pair_half *a = left, *b = right;
	int order = compare_halves(a, b);

	if (order == 0)
		order = (int)a->role - (int)b->role;
	if (order == 0)
		order = a->scan->source_number < b->scan->source_number ? -1 : 1;
	return order;
}

/*
 * Files with one key, in one directory: one of labels may label those of images before
 * it.
 */
static void join_halves(struct pair_half *halves, size_t n)
{
	size_t labels = 0;

	for (size_t i = 0; i < n; i++)
		labels += halves[i].role == NAME_PAIR_LABELS;
	if (labels == 0 || labels == n)
		return;
	if (labels > 1) {
		struct job *first = halves[0].scan->indexer;

		findings_add(&first->found, FINDING_CHOSEN,
			     "its name pairs with those of several files of labels, '%s' for "
			     "one: none is taken; name one pair alone",
			     filename_of(halves[n - 1].scan->label));
		return;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		halves[i].scan->labels_in = halves[n - 1].scan->source;
		halves[n - 1].scan->labels_of = filename_of(halves[i].scan->label);
	}
}

int label_pairs_join(struct job **jobs, uint32_t count)
{
	CLEANUP(cleanup_free) struct pair_half *halves = calloc(count + 1, sizeof(*halves));
	size_t n = 0;

	if (!halves)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && count > 1; i++) {
		struct scan *scan = &jobs[i]->scan;
		const char *name = filename_of(scan->label);

		halves[n] = (struct pair_half){ .scan = scan,
						.directory = (size_t)(name - scan->label) };
		halves[n].role = name_pair(name, halves[n].key);
		n += halves[n].role != NAME_NO_PAIR;
	}
	if (n)
		qsort(halves, n, sizeof(*halves), halves_in_order);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && compare_halves(&halves[i], &halves[end]) == 0;)
			end++;
		join_halves(&halves[i], end - i);
	}
	return 0;
}
