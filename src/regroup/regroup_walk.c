/* SPDX-License-Identifier: GPL-3.0-or-later */
/* regroup_walk.c: through the logs of entries, and what the paths in them are. */
#include <errno.h>
#include <string.h>

#include "base/filename.h"
#include "regroup/regroup_parts.h"

void regroup_text_cut(struct regroup_text *t, size_t size)
{
	t->count = size;
	if (t->items)
		t->items[size] = '\0';
}

int regroup_text_add(struct regroup_text *t, const char *bytes, size_t n)
{
	if (vec_reserve(t, n + 1) < 0)
		return -ENOMEM;
	memcpy(t->items + t->count, bytes, n);
	t->count += n;
	t->items[t->count] = '\0';
	return 0;
}

const char *regroup_skip_root(const char *path)
{
	while (*path == '/' || (path[0] == '.' && path[1] == '/'))
		path++;
	return path;
}

const char *regroup_whole_path(struct regroup *r, const char *path)
{
	path = regroup_skip_root(path);
	if (r->prefix.count == 0)
		return path;
	regroup_text_cut(&r->whole, 0);
	if (regroup_text_add(&r->whole, r->prefix.items, r->prefix.count) < 0 ||
	    regroup_text_add(&r->whole, path, strlen(path)) < 0)
		return NULL;
	return regroup_skip_root(r->whole.items);
}

bool regroup_is_file(const struct entry *entry)
{
	return entry->kind == ENTRY_FILE || entry->kind == ENTRY_SYMLINK ||
	       entry->kind == ENTRY_HARDLINK ||
	       (entry->kind == ENTRY_NESTED && entries_failed(entry->nested));
}

/* The folder that a nested packed file is: "a/n01440764.tar" is "a/n01440764/". */
static int enter_nested(struct regroup *r, const char *path)
{
	const char *dot, *name;

	path = regroup_skip_root(path);
	name = filename_of(path);
	dot = strrchr(name, '.');
	if (regroup_text_add(&r->prefix, path,
			     dot && dot > name ? (size_t)(dot - path) : strlen(path)) < 0)
		return -ENOMEM;
	return regroup_text_add(&r->prefix, "/", 1);
}

int regroup_for_each_log(struct regroup *r, struct entries *entries,
			 int (*run)(struct regroup *r, struct entries *log,
				    struct error *e),
			 struct error *e)
{
	int err = 0;

	for (; entries && !err; entries = entries_next(entries)) {
		err = run(r, entries, e);
		for (size_t i = 0; i < entries_count(entries) && !err; i++) {
			const struct entry *entry = entries_get(entries, i);
			size_t size = r->prefix.count;

			if (entry->kind != ENTRY_NESTED || entries_failed(entry->nested))
				continue;
			err = enter_nested(r, entry->path);
			if (!err)
				err = regroup_for_each_log(r, entry->nested, run, e);
			regroup_text_cut(&r->prefix, size);
		}
	}
	return err;
}
