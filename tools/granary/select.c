/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "select.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>

enum { PATH_BYTES = 64 * 1024, DEPTH_MOST = 4096 };

struct select_walk {
	struct selection *out;
	struct error *error;
	bool globs;             /* at least one pattern has wildcards */
	char path[PATH_BYTES];
};

/* ---- Patterns ---- */

static int select_add_pattern(struct selection *s, const char *given)
{
	struct select_pattern pattern = { .given = given };
	const char *text = given;
	size_t n;

	while (*text == '/' || strncmp(text, "./", 2) == 0)
		text++;
	pattern.path = strdup(strcmp(text, ".") == 0 ? "" : text);
	if (!pattern.path)
		return -ENOMEM;
	for (n = strlen(pattern.path); n > 0 && pattern.path[n - 1] == '/'; n--)
		pattern.path[n - 1] = '\0';
	pattern.glob = strpbrk(pattern.path, "*?[\\") != NULL;
	if (vec_push(&s->patterns, pattern) == 0)
		return 0;
	free(pattern.path);
	return -ENOMEM;
}

/* Is `path` at or below `prefix`? */
static bool is_within(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(path, prefix, n) == 0 && (n == 0 || path[n] == '\0' || path[n] == '/');
}

/* A name may hold wildcard characters: the pattern is compared literally first. */
static bool is_match(const struct select_pattern *pattern, const char *path)
{
	return is_within(path, pattern->path) ||
	       (pattern->glob && fnmatch(pattern->path, path, 0) == 0);
}

static bool select_matches(struct select_walk *w)
{
	struct selection *s = w->out;
	bool wanted = s->patterns.count == 0;

	for (size_t i = 0; i < s->patterns.count; i++) {
		if (is_match(&s->patterns.items[i], w->path))
			wanted = s->patterns.items[i].used = true;
	}
	return wanted;
}

/* Can a pattern match anything below this directory? */
static bool may_contain(const struct select_walk *w)
{
	const struct selection *s = w->out;

	for (size_t i = 0; i < s->patterns.count; i++) {
		if (s->patterns.items[i].glob || is_within(s->patterns.items[i].path, w->path))
			return true;
	}
	return false;
}

/* ---- The walk ---- */

static int select_damaged(struct select_walk *w)
{
	return error_set(w->error, ERROR_DATASET, EBADMSG,
			 "%.1024s/: the index is damaged here: it holds a name that no "
			 "directory can have; make it anew with: granary index --force",
				 w->path);
}

static void mark_directory(struct selection *s, uint32_t directory)
{
	while (!s->directories.items[directory].wanted) {
		s->directories.items[directory].wanted = true;
		directory = s->directories.items[directory].parent;
	}
}

static uint64_t select_place_of(const struct tree *tree, uint32_t node)
{
	const uint64_t most = (UINT64_C(1) << 40) - 1;
	struct tree_piece piece;

	if (tree_piece(tree, node, 0, &piece) < 0 || piece.hole)
		return 0;
	return (uint64_t)piece.volume << 40 | (piece.offset < most ? piece.offset : most);
}

static int select_add_file(struct select_walk *w, uint32_t directory, uint32_t child,
			   const struct tree_name *name)
{
	struct selection *s = w->out;
	struct select_item item = { .directory = directory, .child = child };
	struct tree_stat st;

	if (tree_stat(s->tree, name->node, &st) < 0)
		return select_damaged(w);
	mark_directory(s, directory);
	if (st.kind == TREE_SYMLINK)
		return vec_push(&s->symlinks, item) < 0 ? error_no_memory(w->error, NULL) :
				0;
	item.place = select_place_of(s->tree, name->node);
	if (st.links > 1) {
		struct select_link link = { .node = name->node, .name = item };

		return vec_push(&s->links, link) < 0 ? error_no_memory(w->error, NULL) :
				0;
	}
	s->bytes += st.size;
	return vec_push(&s->files, item) < 0 ? error_no_memory(w->error, NULL) : 0;
}

static int walk_directory(struct select_walk *w, uint32_t directory, size_t length,
			  int depth,
		       bool all);

static int add_directory(struct select_walk *w, uint32_t parent,
		      const struct tree_name *name, size_t length, int depth,
		      bool wanted)
{
	struct selection *s = w->out;
	const struct select_directory directory = { .name = name->name,
					      .length = (uint8_t)name->length,
					      .node = name->node, .parent = parent };
	uint32_t number = (uint32_t)s->directories.count;

	if (!wanted && !may_contain(w))
		return 0;
	if (vec_push(&s->directories, directory) < 0)
		return error_no_memory(w->error, NULL);
	if (wanted)
		mark_directory(s, number);
	return walk_directory(w, number, length, depth + 1, wanted);
}

/* `all`: the directory is wanted with everything below it. */
static int walk_directory(struct select_walk *w, uint32_t directory, size_t length,
			  int depth,
		       bool all)
{
	const uint32_t node = w->out->directories.items[directory].node;
	struct tree_name name;
	int err;

	for (uint32_t i = 0; (err = tree_child(w->out->tree, node, i, &name)) == 0; i++) {
		size_t end = length;
		bool wanted;

		if (length + name.length + 2 > PATH_BYTES || depth > DEPTH_MOST)
			return error_set(w->error, ERROR_SYSTEM, ENAMETOOLONG,
					 "%.200s...: is too deep; name a directory in it "
					 "with -o subdir=", w->path);
		if (end)
			w->path[end++] = '/';
		memcpy(w->path + end, name.name, name.length);
		end += name.length;
		w->path[end] = '\0';
		wanted = all || select_matches(w);
		if (name.kind == TREE_DIRECTORY)
			err = add_directory(w, directory, &name, end, depth, wanted);
		else if (wanted)
			err = select_add_file(w, directory, i, &name);
		if (err)
			return err;
		w->path[length] = '\0';
	}
	return err == -ENOENT ? 0 : select_damaged(w);
}

/* ---- Afterwards ---- */

static int compare_links(const void *a, const void *b)
{
	const struct select_link *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->name.directory != y->name.directory)
		return x->name.directory < y->name.directory ? -1 : 1;
	return x->name.child < y->name.child ? -1 : x->name.child > y->name.child;
}

static int select_compare_places(const void *a, const void *b)
{
	const struct select_item *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

/* The contents are extracted under a file's first name; further names become links. */
static int sort_links(struct selection *s)
{
	size_t kept = 0;
	struct select_link first = { .node = UINT32_MAX };

	if (s->links.count)
		qsort(s->links.items, s->links.count, sizeof(*s->links.items), compare_links);
	for (size_t i = 0; i < s->links.count; i++) {
		struct select_link link = s->links.items[i];
		struct tree_stat st;

		if (link.node == first.node) {
			link.first = first.name;
			s->links.items[kept++] = link;
			continue;
		}
		first = link;
		if (tree_stat(s->tree, link.node, &st) == 0)
			s->bytes += st.size;
		if (vec_push(&s->files, link.name) < 0)
			return -ENOMEM;
	}
	s->links.count = kept;
	return 0;
}

static int check_used(const struct selection *s, struct error *e)
{
	for (size_t i = 0; i < s->patterns.count; i++) {
		if (!s->patterns.items[i].used)
			return error_set(e, ERROR_SYSTEM, ENOENT,
					 "%s: matches nothing; granary ls -R lists what there is",
					 s->patterns.items[i].given);
	}
	return 0;
}

static int select_walk(const struct dataset *dataset, struct select_walk *w)
{
	struct selection *s = w->out;
	const struct select_directory root = { .node = dataset_root(dataset) };
	bool all = select_matches(w); /* "." is the root */
	int err;

	if (vec_push(&s->directories, root) < 0)
		return error_no_memory(w->error, NULL);
	s->directories.items[0].wanted = true;
	err = walk_directory(w, 0, 0, 0, all);
	if (!err)
		err = check_used(s, w->error);
	if (!err && sort_links(s) < 0)
		err = error_no_memory(w->error, NULL);
	if (!err && s->files.count)
		qsort(s->files.items, s->files.count, sizeof(*s->files.items),
		      select_compare_places);
	return err;
}

int select_make(const struct dataset *dataset, char *const *patterns, size_t count,
		struct selection *out, struct error *e)
{
	struct select_walk *w = calloc(1, sizeof(*w));
	int err = w ? 0 : error_no_memory(e, NULL);

	*out = (struct selection){ .tree = dataset_tree(dataset) };
	for (size_t i = 0; i < count && !err; i++) {
		if (select_add_pattern(out, patterns[i]) < 0)
			err = error_no_memory(e, NULL);
	}
	if (!err) {
		w->out = out;
		w->error = e;
		err = select_walk(dataset, w);
	}
	free(w);
	return err;
}

void select_free(struct selection *s)
{
	for (size_t i = 0; i < s->patterns.count; i++)
		free(s->patterns.items[i].path);
	vec_free(&s->patterns);
	vec_free(&s->directories);
	vec_free(&s->files);
	vec_free(&s->symlinks);
	vec_free(&s->links);
}

static char *prepend(char *at, const char *begin, const char *name, size_t length)
{
	if ((size_t)(at - begin) < length + 1)
		return NULL;
	if (*at)
		*--at = '/';
	at -= length;
	return memcpy(at, name, length);
}

char *select_path(const struct selection *s, uint32_t directory, const char *name,
		  size_t length, char *out, size_t size)
{
	char *at = out + size - 1, *next = at;

	*at = '\0';
	if (length)
		next = prepend(at, out, name, length);
	for (; next && directory; directory = s->directories.items[directory].parent) {
		at = next;
		next = prepend(at, out, s->directories.items[directory].name,
			       s->directories.items[directory].length);
	}
	if (next)
		at = next;
	return memmove(out, at, (size_t)(out + size - at));
}
