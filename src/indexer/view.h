/*
 * view.h: the rule that makes paths of samples.
 *
 * A view sees the samples of all shards before it makes the first path: the
 * numbers in names have as many digits as the largest needs, so that the order
 * of the names is the order of the numbers, for ImageFolder too. (Negative labels
 * come before the others, and the largest of them first.)
 *
 *	VIEW_AUTO  <split>/<label>/<row>.<extension> where there are labels, and
 *	           <split>/<array>/<label>/... where a split has several such arrays;
 *	           else as VIEW_TREE
 *	VIEW_TREE  <split>/<array>/<row>.<extension>
 *
 * The rows of an array are counted through all shards, so that no name comes
 * twice. Entries that have names of their own are not touched.
 *
 * Threads: one view belongs to one thread at a time.
 */
#ifndef GRANARY_INDEXER_VIEW_H
#define GRANARY_INDEXER_VIEW_H

#include "format/samples.h"
#include "source/source.h"
#include "tree/entries.h"
#include "tree/index.h"

enum view_kind { VIEW_AUTO, VIEW_TREE, VIEW_CLASS, VIEW_ARRAYS };

struct view;

struct view *view_new(enum view_kind kind);
void view_free(struct view *view);

/* Looks at one shard's samples; each shard once, in order. 0 or -ENOMEM. */
int view_measure(struct view *view, const struct samples *samples);

/*
 * Appends the files that these samples are to the shard's log; each shard once,
 * in the same order, after all have been measured. `owner` gives them what a file
 * has besides its contents. 0 or -ENOMEM.
 */
int view_apply(struct view *view, const struct samples *samples,
	       const struct source_owner *owner, struct entries *entries);

/* Says where names and labels come from: fills in names, labels, classes. */
void view_describe(const struct view *view, struct index_summary *summary);

#endif
