/* SPDX-License-Identifier: GPL-3.0-or-later */
/* regroup_move.c: files that a map knows get their class's folder, and links follow. */
#include <errno.h>
#include <string.h>

#include "base/filename.h"
#include "index/checksum.h"
#include "regroup/regroup_parts.h"

int regroup_new_folder(struct regroup *r, const char *path, const char **out)
{
	const struct name_map_item *item = NULL;
	struct match match;
	const char *name;

	for (size_t i = 0; i < r->map_count && !item; i++)
		if (regroup_match(&r->maps[i], path, &match))
			item = match.item;
	if (!item)
		return 0;
	name = item->class_name;
	if (!name)
		name = regroup_classes_name(r->classes, item->label);
	*out = map_texts_intern(&r->used, name, strlen(name));
	if (!*out)
		return -ENOMEM;
	return !map_has_folder(path, *out, strlen(*out));
}

/* Puts a folder before the last component. */
static int insert_folder(struct regroup_text *out, const char *path, const char *folder)
{
	const char *name = filename_of(path);

	if (regroup_text_add(out, path, (size_t)(name - path)) < 0 ||
	    regroup_text_add(out, folder, strlen(folder)) < 0 ||
	    regroup_text_add(out, "/", 1) < 0)
		return -ENOMEM;
	return regroup_text_add(out, name, strlen(name));
}

const char *regroup_follow(struct regroup *r, const char *path, const char *target,
			   int *err)
{
	const char *name = filename_of(path), *end;
	struct regroup_text *out = &r->path;

	regroup_text_cut(out, 0);
	*err = regroup_text_add(out, path, (size_t)(name - path));
	for (; *target && !*err; target = end + (*end == '/')) {
		end = strchrnul(target, '/');
		if (end - target == 2 && memcmp(target, "..", 2) == 0) {
			if (out->count == 0)
				return NULL;
			while (--out->count && out->items[out->count - 1] != '/')
				;
			regroup_text_cut(out, out->count);
		} else if (end > target && (end - target > 1 || *target != '.')) {
			*err = regroup_text_add(out, target, (size_t)(end - target));
			if (!*err && *end)
				*err = regroup_text_add(out, "/", 1);
		}
	}
	return *err ? NULL : out->items;
}

/* A link that is moved goes one up first; then where the file that it means has gone. */
static int move_symlink(struct regroup *r, const char *path, bool moved,
			struct entry *entry)
{
	const char *target = entry->target, *end, *folder;
	int err, follows = 0;

	if (!target || *target == '/' || !*target)
		return 0;
	end = regroup_follow(r, path, target, &err);
	if (end && *filename_of(target))
		follows = regroup_new_folder(r, end, &folder);
	if (err || follows < 0)
		return -ENOMEM;
	if (!follows && !moved)
		return 0;
	regroup_text_cut(&r->target, 0);
	if (moved)
		err = regroup_text_add(&r->target, "../", 3);
	if (!err && follows)
		err = insert_folder(&r->target, target, folder);
	else if (!err)
		err = regroup_text_add(&r->target, target, strlen(target));
	entry->target = r->target.items;
	return err;
}

static int move_hardlink(struct regroup *r, struct entry *entry)
{
	const char *target = regroup_whole_path(r, entry->target), *folder;
	int follows = target ? regroup_new_folder(r, target, &folder) : -ENOMEM;

	if (follows <= 0)
		return follows;
	regroup_text_cut(&r->target, 0);
	follows = insert_folder(&r->target, entry->target, folder);
	entry->target = r->target.items;
	return follows;
}

static int move_entry(void *context, struct entry *entry)
{
	struct regroup *r = context;
	const char *path, *folder;
	int err = 0, moved;
	uint64_t was;

	if (!regroup_is_file(entry))
		return 0;
	if (entry->kind == ENTRY_HARDLINK)
		err = move_hardlink(r, entry);
	path = regroup_whole_path(r, entry->path);
	if (err || !path)
		return -ENOMEM;
	was = sum_of(path, strlen(path));
	moved = regroup_new_folder(r, path, &folder);
	if (entry->kind == ENTRY_SYMLINK && moved >= 0)
		err = move_symlink(r, path, moved, entry);
	if (err || moved < 0)
		return err ? err : moved;
	if (!moved)
		return regroup_names_add(&r->names, path, was);
	regroup_text_cut(&r->path, 0);
	if (insert_folder(&r->path, entry->path, folder) < 0)
		return -ENOMEM;
	entry->path = r->path.items;
	r->moved++;
	path = regroup_whole_path(r, entry->path);
	return path ? regroup_names_add(&r->names, path, was) : -ENOMEM;
}

static int move_log(struct regroup *r, struct entries *log, struct error *e)
{
	(void)e;
	return entries_rewrite(log, move_entry, r);
}

/* Says which path two files get. */
static int regroup_move_refuse_clash(struct regroup *r, struct entries *log,
				     struct error *e)
{
	for (size_t i = 0; i < entries_count(log); i++) {
		const char *path = regroup_whole_path(r, entries_get(log, i)->path);

		if (path && sum_of(path, strlen(path)) == r->clash)
			return error_set(e, ERROR_DATASET, EBADMSG,
					 "two files would be '%.300s', one of them moved "
					 "there by -o names=; leave names= out, or the file "
					 "out of its map", path);
	}
	return 0;
}

int regroup_apply(struct regroup *r, struct entries *entries, struct error *e)
{
	int err = 0;

	r->names.items.count = 0;
	if (regroup_used(r))
		err = regroup_for_each_log(r, entries, move_log, NULL);
	if (err)
		return error_no_memory(e, NULL);
	return regroup_names_clash(&r->names, &r->clash) ?
		       regroup_for_each_log(r, entries, regroup_move_refuse_clash, e) : 0;
}
