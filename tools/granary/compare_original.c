/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare_original.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "dataset/survey.h"
#include "os/whole.h"
#include "original.h"
#include "walk.h"

enum { PIECE = 64 << 10, PATH_MOST = 64 << 20 };

/* The file that a worker compares at the moment. */
struct compared {
	int fd;          /* -1: none, or a difference is known already */
	char *buffer;    /* PIECE bytes */
	char *path;      /* of the file; owned */
};

struct compare_original {
	const char *directory;
	int fd;
	const struct dataset *dataset;
	const struct tree *tree;
	struct mismatches *findings;
	uint64_t special; /* devices, pipes and sockets of the original */
	uint8_t *wanted; /* by node: its bytes are to be compared */
	struct compared workers[SURVEY_THREADS_MOST];
};

/* Also called at the first difference: one finding a file is enough. */
static void close_compared(struct compared *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	free(c->path);
	c->path = NULL;
}

int compare_original_open(const char *directory, const struct dataset *dataset,
			  struct mismatches *findings, struct compare_original **out,
			  struct error *e)
{
	struct compare_original *a = calloc(1, sizeof(*a));

	if (a)
		a->wanted = calloc(tree_count(dataset_tree(dataset)), 1);
	if (!a || !a->wanted) {
		free(a);
		return error_no_memory(e, NULL);
	}
	a->directory = directory;
	a->dataset = dataset;
	a->tree = dataset_tree(dataset);
	a->findings = findings;
	for (int i = 0; i < SURVEY_THREADS_MOST; i++)
		a->workers[i].fd = -1;
	*out = a;
	return 0;
}

void compare_original_close(struct compare_original *a)
{
	if (!a)
		return;
	for (int i = 0; i < SURVEY_THREADS_MOST; i++) {
		close_compared(&a->workers[i]);
		free(a->workers[i].buffer);
	}
	free(a->wanted);
	free(a);
}

static void compare_original_add(struct compare_original *a, enum problem problem,
				 const char *path, const char *detail)
{
	mismatches_add(a->findings,
		       &(struct mismatch){ .problem = problem, .path = path,
					   .detail = detail });
}

static void add_error(struct compare_original *a, const char *path, int errnum)
{
	char detail[256];

	snprintf(detail, sizeof(detail), "cannot be read in the original: %s",
		 strerror(errnum));
	compare_original_add(a, PROBLEM_READ, path, detail);
}

/* ---- Names ---- */

static bool same_kind(enum tree_kind kind, mode_t mode)
{
	if (kind == TREE_DIRECTORY)
		return S_ISDIR(mode);
	return kind == TREE_SYMLINK ? S_ISLNK(mode) : S_ISREG(mode);
}

static void compare_link(struct compare_original *a, const struct walk_name *name)
{
	char packed[TREE_TARGET_BYTES], original[PATH_MAX];
	int err = original_readlink(name->path, original);

	if (err) {
		add_error(a, name->path, -err);
		return;
	}
	if (tree_readlink(a->tree, name->node, packed) < 0 || strcmp(packed, original) != 0)
		compare_original_add(a, PROBLEM_BYTES, name->path,
				     "is a symbolic link that leads elsewhere in the "
				     "original");
}

/* The node's path, in memory that grows with it and is the caller's. NULL: no memory. */
static char *compare_original_path_of(const struct tree *tree, uint32_t node)
{
	char *path = NULL;

	for (size_t size = PATH_MAX; size <= PATH_MOST; size *= 4) {
		char *larger = realloc(path, size);

		if (!larger)
			break;
		path = larger;
		/* whole names are left out, and none is longer than NAME_MAX */
		if (strlen(tree_path(tree, node, path, size)) + NAME_MAX + 2 < size)
			return path;
	}
	free(path);
	return NULL;
}

/* Are the bytes compared under the file's first name, which is the same original? */
static bool is_compared_already(struct compare_original *a, const struct walk_name *name,
				const struct stat *st)
{
	CLEANUP(cleanup_free) char *first = compare_original_path_of(a->tree, name->node);
	struct stat other;

	if (!first)
		return false;
	if (strcmp(first, name->path) == 0) {
		a->wanted[name->node] = 1;
		return true;
	}
	return original_stat(first, &other) == 0 &&
	       other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

static void compare_piece(struct compare_original *a, unsigned worker, uint64_t offset,
			  const char *bytes, size_t length);
static void open_original(struct compare_original *a, unsigned worker, char *path);

/* A hard link in the dataset that is a file of its own in the original. */
static void compare_other_name(struct compare_original *a, const struct walk_name *name)
{
	CLEANUP(cleanup_free) char *bytes = malloc(PIECE);
	struct read_context context = { .hint = READ_EXACT };
	uint64_t offset = 0;
	ssize_t n = 1;

	open_original(a, 0, strdup(name->path));
	while (bytes && n > 0 && a->workers[0].fd >= 0) {
		n = dataset_read_plain(a->dataset, name->node, bytes, PIECE, offset,
				       &context);
		if (n > 0)
			compare_piece(a, 0, offset, bytes, (size_t)n);
		offset += n > 0 ? (uint64_t)n : 0;
	}
	compare_original_file(a, 0, name->node);
}

static void compare_file(struct compare_original *a, const struct walk_name *name,
			 const struct stat *st)
{
	struct tree_stat packed;
	char detail[128];

	if (tree_stat(a->tree, name->node, &packed) < 0)
		return; /* reading the file reports the damage */
	if (packed.size != (uint64_t)st->st_size) {
		snprintf(detail, sizeof(detail), "has %llu bytes, and %llu in the original",
			 (unsigned long long)packed.size, (unsigned long long)st->st_size);
		compare_original_add(a, PROBLEM_SIZE, name->path, detail);
	} else if (packed.size && !is_compared_already(a, name, st)) {
		compare_other_name(a, name);
	}
}

static int compare_original_compare_name(void *context, const struct walk_name *name)
{
	struct compare_original *a = context;
	struct stat st;

	int err = original_stat(name->path, &st);

	if (err) {
		if (err == -ENOENT || err == -ENOTDIR || err == -ELOOP)
			compare_original_add(a, PROBLEM_EXTRA, name->path,
					     "is not in the original");
		else
			add_error(a, name->path, -err);
		return 1;
	}
	if (!same_kind(name->kind, st.st_mode)) {
		compare_original_add(a, PROBLEM_KIND, name->path,
				     "is of another kind in the original");
		return 1;
	}
	if (name->kind == TREE_SYMLINK)
		compare_link(a, name);
	else if (name->kind == TREE_FILE)
		compare_file(a, name, &st);
	return 0;
}

/* Looks for a name of the original in the tree. True: visit the names below it. */
static bool check_original_name(void *context, const char *path, mode_t mode, int error)
{
	struct compare_original *a = context;
	uint32_t node;

	if (error) {
		add_error(a, path, error);
		return true;
	}
	if (tree_walk(a->tree, TREE_ROOT, path, &node) == 0)
		return true;
	if (!S_ISDIR(mode) && !S_ISREG(mode) && !S_ISLNK(mode)) {
		a->special++;
		return true;
	}
	compare_original_add(a, PROBLEM_MISSING, path,
			     "is in the original, and not in the dataset");
	return false;
}

int compare_original_names(struct compare_original *a, struct error *e)
{
	int err = walk_names(a->tree, compare_original_compare_name, a);

	if (err)
		return error_set(e, err == -ENOMEM ? ERROR_SYSTEM : ERROR_DATASET, -err,
				 "the names cannot be compared: %s",
				 err == -ENOMEM ? "out of memory" : "the index is damaged");
	err = original_walk(check_original_name, a);
	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "--against %s: %s", a->directory,
				 strerror(-err));
	return 0;
}

uint64_t compare_original_special(const struct compare_original *a)
{
	return a->special;
}

/* ---- Bytes ---- */

/* Takes ownership of `path`. */
static void open_original(struct compare_original *a, unsigned worker, char *path)
{
	struct compared *c = &a->workers[worker];

	if (!c->buffer)
		c->buffer = malloc(PIECE);
	c->path = path;
	c->fd = c->buffer && path ? original_open(path) : -ENOMEM;
	if (c->fd < 0)
		add_error(a, path ? path : "", -c->fd);
}

static void describe_difference(struct compare_original *a, const char *path,
				uint64_t offset)
{
	char detail[128];

	snprintf(detail, sizeof(detail), "differs from the original, first at its byte %llu",
		 (unsigned long long)offset);
	compare_original_add(a, PROBLEM_BYTES, path, detail);
}

static void compare_piece(struct compare_original *a, unsigned worker, uint64_t offset,
			  const char *bytes, size_t length)
{
	struct compared *c = &a->workers[worker];

	for (size_t done = 0; done < length && c->fd >= 0;) {
		size_t n = length - done < PIECE ? length - done : PIECE, same = 0;
		ssize_t got = read_whole_at(c->fd, c->buffer, n, offset + done);

		if (got < 0) {
			add_error(a, c->path, (int)-got);
			close_compared(c);
			return;
		}
		if ((size_t)got < n || memcmp(c->buffer, bytes + done, n) != 0) {
			while (same < (size_t)got && c->buffer[same] == bytes[done + same])
				same++;
			describe_difference(a, c->path, offset + done + same);
			close_compared(c);
		}
		done += n;
	}
}

void compare_original_bytes(struct compare_original *a, unsigned worker, uint32_t node,
			    uint64_t offset, const void *bytes, size_t length)
{
	if (!a->wanted[node])
		return;
	if (offset == 0)
		open_original(a, worker, compare_original_path_of(a->tree, node));
	compare_piece(a, worker, offset, bytes, length);
}

void compare_original_file(struct compare_original *a, unsigned worker, uint32_t node)
{
	close_compared(&a->workers[worker]);
}
