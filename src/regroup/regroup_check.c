/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * regroup_check.c: does a name say one file only?
 *
 * Where a map says "0", and train/0.jpg and test/0.jpg are there, one of the two would
 * have its label by chance. What lies in its class's folder already is moved by no name:
 * copies of it are no fault, but a file elsewhere that would be moved beside it is.
 */
#include <errno.h>
#include <string.h>

#include "base/filename.h"
#include "index/checksum.h"
#include "regroup/regroup_parts.h"

static int refuse_namesakes(const struct match *match, const struct regroup_claim *a,
			    const struct regroup_claim *b, struct error *e)
{
	const char *key = filename_of(match->item->key);

	return error_set(e, ERROR_DATASET, EBADMSG,
			 "%s: its name '%.200s' is that of '%s%.300s' and of '%s%.300s', and "
			 "one of them would get the other's label; say which is meant by its "
			 "path, '%s%.300s', in place of the name alone",
			 match->state->path, key, a->prefix, a->path, b->prefix, b->path,
			 a->prefix, a->path);
}

/* Of an item there is one claim for each kind of file. */
static int add_claim(struct regroup *r, const struct match *match,
		     struct regroup_claim *claim, struct error *e)
{
	uint32_t *first = &match->state->claims[regroup_item_number(match)];

	for (uint32_t at = *first; at; at = r->claims.items[at - 1].next) {
		struct regroup_claim *before = &r->claims.items[at - 1];

		if (!regroup_same_kind(before->path, claim->path))
			continue;
		if (before->folder != claim->folder && (before->moves || claim->moves))
			return refuse_namesakes(match, before, claim, e);
		return 0;
	}
	claim->next = *first;
	if (r->claims.count >= UINT32_MAX - 1 || vec_push(&r->claims, *claim) < 0)
		return -ENOMEM;
	*first = (uint32_t)r->claims.count;
	return 0;
}

/* Where a link leads to, by the texts alone; NULL: not to a file, or (*err) no memory. */
static const char *end_of_link(struct regroup *r, const struct entry *entry, int *err)
{
	if (entry->kind == ENTRY_HARDLINK)
		return regroup_whole_path(r, entry->target);
	if (entry->kind != ENTRY_SYMLINK || !entry->target || *entry->target == '/')
		return NULL;
	return regroup_follow(r, regroup_whole_path(r, entry->path), entry->target, err);
}

/* A link to a file of the same name is that file. */
static int follow_link(struct regroup *r, const struct entry *entry,
		       const struct match *match, struct regroup_claim *claim)
{
	struct match there;
	int err = 0;
	const char *end = end_of_link(r, entry, &err);

	if (err || !end || !regroup_find(match->state, end, &there) ||
	    there.item != match->item)
		return err;
	claim->prefix = "";
	claim->path = map_texts_intern(&r->kept, end, strlen(end));
	return claim->path ? 0 : -ENOMEM;
}

/*
 * Leaves in r->target the folder where the file will be: the one that it is in, or one of
 * a class below that. 1: it is moved, 0, or -ENOMEM.
 */
static int regroup_check_find_folder(struct regroup *r, const char *prefix,
				     const char *path)
{
	struct regroup_text *whole = &r->target;
	const char *class_folder;
	int moves;

	regroup_text_cut(whole, 0);
	if (regroup_text_add(whole, prefix, strlen(prefix)) < 0 ||
	    regroup_text_add(whole, path, strlen(path)) < 0)
		return -ENOMEM;
	moves = regroup_new_folder(r, whole->items, &class_folder);
	if (moves < 0)
		return moves;
	regroup_text_cut(whole, (size_t)(filename_of(whole->items) - whole->items));
	if (moves && (regroup_text_add(whole, class_folder, strlen(class_folder)) < 0 ||
		      regroup_text_add(whole, "/", 1) < 0))
		return -ENOMEM;
	return moves;
}

static int claim_of(struct regroup *r, const struct entry *entry,
		    const struct match *match, struct regroup_claim *claim)
{
	int err, moves;

	*claim = (struct regroup_claim){ .prefix = "",
					 .path = regroup_skip_root(entry->path) };
	if (r->prefix.count)
		claim->prefix = map_texts_intern(&r->kept, r->prefix.items,
						 r->prefix.count);
	if (!claim->prefix)
		return -ENOMEM;
	err = follow_link(r, entry, match, claim);
	if (err)
		return err;
	moves = regroup_check_find_folder(r, claim->prefix, claim->path);
	claim->moves = moves > 0;
	claim->folder = moves < 0 ? 0 : sum_of(r->target.items, r->target.count);
	return moves < 0 ? moves : 0;
}

static int check_file(struct regroup *r, const struct entry *entry, struct error *e)
{
	bool named = false, moves = false;
	struct regroup_claim claim;
	struct match match;
	int err = 0;

	for (size_t i = 0; i < r->map_count && !err; i++) {
		const char *path = regroup_whole_path(r, entry->path);

		if (!path)
			return -ENOMEM;
		if (!regroup_find(&r->maps[i], path, &match))
			continue;
		named = true;
		r->maps[i].elsewhere += regroup_is_in_other_folder(&match, path);
		if (!regroup_match(&r->maps[i], path, &match))
			continue;
		err = claim_of(r, entry, &match, &claim);
		if (!err)
			err = add_claim(r, &match, &claim, e);
		moves |= !err && claim.moves;
	}
	return err ? err : regroup_count(r, entry, named, moves);
}

/* Of which split are the files in the folder where this one will be? */
static int check_split(struct regroup *r, const struct entry *entry)
{
	const char *path = regroup_whole_path(r, entry->path);
	int moves = path ? regroup_check_find_folder(r, "", path) : -ENOMEM;

	return moves < 0 ? moves : regroup_count_split(r, r->target.items, moves);
}

static int check_log(struct regroup *r, struct entries *log, struct error *e)
{
	int err = 0;

	for (size_t i = 0; i < entries_count(log) && !err; i++) {
		const struct entry *entry = entries_get(log, i);

		if (regroup_is_file(entry))
			err = check_file(r, entry, e);
		if (regroup_is_file(entry) && !err && r->split)
			err = check_split(r, entry);
	}
	return err;
}

int regroup_check(struct regroup *r, struct entries *entries, const char *split,
		  struct error *e)
{
	int err;

	r->split = split;
	err = regroup_for_each_log(r, entries, check_log, e);
	return err == -ENOMEM ? error_no_memory(e, NULL) : err;
}
