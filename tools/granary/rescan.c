/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rescan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "make_index.h"
#include "walk.h"

/* Each name of one tree is looked up in the other. */
struct comparison {
	const struct tree *had, *has;
	struct mismatches *findings;
	bool is_copy; /* of other packed files, which should hold the same */
};

static void add_change(const struct comparison *c, const char *path, const char *detail)
{
	mismatches_add(c->findings,
		       &(struct mismatch){ .problem = PROBLEM_HEADER, .path = path,
						       .detail = detail });
}

/* Do both files have the same pieces: volume, offset and length of each? */
static bool same_pieces(const struct comparison *c, uint32_t had, uint32_t has,
			uint64_t size)
{
	for (uint64_t at = 0; at < size;) {
		struct tree_piece a, b;

		if (tree_piece(c->had, had, at, &a) < 0 || tree_piece(c->has, has, at, &b) < 0 ||
		    a.hole != b.hole || a.length != b.length || a.length == 0 ||
		    (!a.hole && (a.volume != b.volume || a.offset != b.offset)))
			return false;
		at += a.length;
	}
	return true;
}

static bool same_target(const struct comparison *c, uint32_t had, uint32_t has)
{
	char a[TREE_TARGET_BYTES], b[TREE_TARGET_BYTES];

	return tree_readlink(c->had, had, a) == 0 && tree_readlink(c->has, has, b) == 0 &&
	       strcmp(a, b) == 0;
}

/* The first difference in words, or NULL. */
static const char *rescan_difference(const struct comparison *c, uint32_t had,
				     uint32_t has)
{
	struct tree_stat a, b;

	if (tree_stat(c->had, had, &a) < 0)
		return "the index makes no sense here";
	if (tree_stat(c->has, has, &b) < 0 || a.kind != b.kind)
		return "damaged: its header says another kind than when it was indexed";
	if (a.kind == TREE_FILE && a.size != b.size)
		return "damaged: its header says another size than when it was indexed";
	if (c->is_copy)
		; /* directories without a header have the packed file's owner and time */
	else if (a.mode != b.mode || a.uid != b.uid || a.gid != b.gid || a.links != b.links ||
	    a.mtime != b.mtime || a.mtime_ns != b.mtime_ns)
		return "damaged: its header says other attributes than when it was indexed";
	if (a.kind == TREE_SYMLINK && !same_target(c, had, has))
		return "damaged: its header says another target than when it was indexed";
	if (a.kind == TREE_FILE && !same_pieces(c, had, has, a.size))
		return "damaged: its contents lie elsewhere than when it was indexed";
	return NULL;
}

static int rescan_compare_name(void *context, const struct walk_name *name)
{
	const struct comparison *c = context;
	const char *what;
	uint32_t has;

	if (tree_walk(c->has, TREE_ROOT, name->path, &has) < 0)
		what = "damaged: it was there when the packed files were indexed, and is not now";
	else
		what = rescan_difference(c, name->node, has);
	if (!what)
		return 0;
	add_change(c, name->path, what);
	return 1;
}

static int find_new_name(void *context, const struct walk_name *name)
{
	const struct comparison *c = context;
	uint32_t had;

	if (tree_walk(c->had, TREE_ROOT, name->path, &had) == 0)
		return 0;
	add_change(c, name->path,
		   "damaged: it was not there when the packed files were indexed");
	return 1;
}

static int rescan_compare(const struct comparison *c, struct error *e)
{
	int err = walk_names(c->had, rescan_compare_name, (void *)(uintptr_t)c);

	if (!err)
		err = walk_names(c->has, find_new_name, (void *)(uintptr_t)c);
	if (err == -ENOMEM)
		return error_no_memory(e, NULL);
	if (err)
		add_change(c, "the index", "makes no sense");
	return 0;
}

/* A message's "'PATH' is damaged", without the path. */
static void add_unscanned(const struct source *source, const struct error *e,
			  struct mismatches *findings)
{
	const char *path = source_path(source), *detail = e->text;
	size_t n = strlen(path);

	if (*detail == '\'' && strncmp(detail + 1, path, n) == 0 &&
	    strncmp(detail + 1 + n, "' ", 2) == 0)
		detail += n + 3;
	mismatches_add(findings, &(struct mismatch){
		.problem = e->status == ERROR_SYSTEM ? PROBLEM_READ : PROBLEM_HEADER,
		.path = path, .detail = detail });
}

/* Scans each packed file by itself, to name all that fail: how many did. */
static uint32_t scan_each(const struct request *request, const struct index_wish *wish,
			  const bool *skip, struct mismatches *findings)
{
	uint32_t bad = 0;

	for (uint32_t i = 0; i < wish->sources->count; i++) {
		const struct source_set alone = { wish->sources->sources + i, 1 };
		struct index_wish one = *wish;
		struct index *index;
		struct error e = { 0 };

		one.sources = &alone;
		if (skip[i])
			continue;
		if (make_index_in_memory(request, &one, &index, &e) == 0) {
			index_close(index);
			continue;
		}
		add_unscanned(alone.sources[0], &e, findings);
		bad++;
	}
	return bad;
}

int rescan(const struct request *request, const struct index_wish *wish,
	   const struct index *index, const bool *skip, struct mismatches *findings,
	   struct error *e)
{
	struct comparison c = { .findings = findings };
	struct index *now;
	int err = 0;

	if (memchr(skip, true, wish->sources->count)) {
		scan_each(request, wish, skip, findings);
		return 0;
	}
	if (make_index_in_memory(request, wish, &now, e) < 0) {
		if (scan_each(request, wish, skip, findings) == 0)
			add_unscanned(wish->sources->sources[0], e, findings);
		return 0;
	}
	if (index) {
		c.had = index_tree(index);
		c.has = index_tree(now);
		err = rescan_compare(&c, e);
	}
	index_close(now);
	return err;
}

/* ---- Of a copy ---- */

struct copy {
	struct comparison names;
	const struct index *had, *has;
	const char *what; /* the first that differs, and its path */
	char *path;
	size_t size;
};

static const char *compare_sums(const struct copy *c, uint32_t had, uint32_t has)
{
	uint64_t a = 0, b = 0;
	int first = index_sum(c->had, had, &a), second = index_sum(c->has, has, &b);

	if (!index_has_sums(c->had) || !index_has_sums(c->has))
		return NULL;
	return first == second && a == b ? NULL : "its checksum is another";
}

static int compare_copy(void *context, const struct walk_name *name)
{
	struct copy *c = context;
	uint32_t has;

	if (tree_walk(c->names.has, TREE_ROOT, name->path, &has) < 0)
		c->what = "it is not there now";
	else if (rescan_difference(&c->names, name->node, has))
		c->what = "it is another file now";
	else
		c->what = compare_sums(c, name->node, has);
	if (!c->what)
		return 0;
	snprintf(c->path, c->size, "%s", name->path);
	return -ESTALE;
}

static int find_new_in_copy(void *context, const struct walk_name *name)
{
	struct copy *c = context;
	uint32_t had;

	if (tree_walk(c->names.had, TREE_ROOT, name->path, &had) == 0)
		return 0;
	c->what = "it was not there then";
	snprintf(c->path, c->size, "%s", name->path);
	return -ESTALE;
}

bool rescan_same(const struct index *had, const struct index *has, char *path, size_t size,
		 const char **what)
{
	struct copy c = { .names = { .had = index_tree(had), .has = index_tree(has),
				     .is_copy = true },
			  .had = had, .has = has, .path = path, .size = size,
			  .what = "it makes no sense" };
	int err;

	snprintf(path, size, "the index");
	err = walk_names(c.names.had, compare_copy, &c);
	if (!err)
		err = walk_names(c.names.has, find_new_in_copy, &c);
	*what = c.what;
	return err == 0;
}
