/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.h: the rule that makes paths of samples.
 *
 * A view sees the samples of all shards before it makes the first path: the numbers in
 * names have as many digits as the largest needs, so that the order of the names is the
 * order of the numbers, for ImageFolder too. (Negative labels come before the others,
 * and the largest of them first.)
 *
 *	VIEW_CLASS   <split>/<class>/<name or row>.<extension> where there are labels,
 *	             and <split>/<array>/<class>/... where a split has several such
 *	             arrays; else as VIEW_TREE
 *	VIEW_TREE    <split>/<name>, or where samples have no names
 *	             <split>/<array>/<row>.<extension>
 *	VIEW_AUTO    as VIEW_CLASS, but where the directories in names are those of the
 *	             classes already: these are shown as they are
 *	VIEW_ARRAYS  what formats make of it; samples as with VIEW_AUTO
 *
 * A class is called as the list of -o classes= says, or the maps of -o names=, or the
 * file itself; else it is its number. The rows of an array are counted through all
 * shards, so that no name comes twice; names that do come twice get the number of the
 * row before them. Entries that have names of their own are not touched.
 *
 * Threads: one view belongs to one thread at a time.
 */
#ifndef GRANARY_VIEW_VIEW_H
#define GRANARY_VIEW_VIEW_H

#include "base/error.h"
#include "build/entries.h"
#include "build/findings.h"
#include "build/samples.h"
#include "index/index.h"
#include "maps/name_map.h"
#include "source/source.h"

enum view_kind { VIEW_AUTO, VIEW_TREE, VIEW_CLASS, VIEW_ARRAYS };

struct view_config {
	enum view_kind kind;
	const struct class_list *classes; /* NULL: none is given */
	const char *classes_path;         /* for messages */
	const struct view_map *names;
	size_t name_count;
	struct findings *findings;        /* added to; may be NULL */
};

struct view;

/* The memory that `config` points to must outlive the view. NULL: out of memory. */
struct view *view_new(const struct view_config *config);
void view_free(struct view *view);

/*
 * Looks at one shard's samples; each shard once, in order. They must stay as they are
 * until they have been applied, and its path, which is for messages, as long as the view.
 * 0 or -ENOMEM.
 */
int view_measure(struct view *view, struct samples *samples, const char *path);

/*
 * All have been measured: decides on all names. -ENOMEM, or -EBADMSG with a sentence,
 * where maps or lists do not fit the samples.
 */
int view_seal(struct view *view, struct error *e);

/*
 * Appends the files that these samples are to the shard's log; each shard once, in the
 * order in which they were measured, when the view is sealed. `owner` gives them what a
 * file has besides its contents. Samples are freed as they are applied. 0 or -ENOMEM.
 */
int view_apply(struct view *view, struct samples *samples, const struct source_owner *owner,
	       struct entries *entries);

/*
 * Says where paths, names and labels come from: fills in view, names, labels, classes,
 */
void view_describe(const struct view *view, struct index_summary *summary);

/* Were there any samples, and classes? Has something come of -o classes=, of -o names=? */
bool view_has_samples(const struct view *view);
size_t view_class_count(const struct view *view);
bool view_used_classes(const struct view *view);
bool view_used_names(const struct view *view);

/* Has some row a name in the file, so that no map is asked for it? */
bool view_has_named_rows(const struct view *view);

/* Are these labels of an array of that name? */
bool view_has_labels(const struct view *view, const char *name);

#endif
