/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/mountline.h"

enum {
	LEVELS_MOST = 64,
	READ_BYTES = 16 * 1024,
	TABLE_MOST = 64 << 20, /* of /proc/self/mountinfo */
};

enum version { OLD, NEW, VERSIONS };

/* One hierarchy. */
struct hierarchy {
	char *own;         /* this process's group, as the kernel names it; or NULL */
	char *mountpoint;  /* or NULL */
	const char *below; /* path from the mounted root to the group; within `own` */
	size_t hidden;     /* length of the part of the path that is not mounted */
};

char *cgroup_read_text(const char *directory, const char *name)
{
	CLEANUP(cleanup_free) char *path = NULL;
	CLEANUP(cleanup_close) int fd = -1;
	VEC(char) text = VEC_INIT;
	ssize_t n = 1;

	if (asprintf(&path, "%s/%s", directory, name) < 0) {
		path = NULL;
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (n > 0 && text.count < TABLE_MOST) {
		if (vec_reserve(&text, READ_BYTES + 1) < 0) {
			vec_free(&text);
			return NULL;
		}
		n = fd < 0 ? 0 : read(fd, text.items + text.count, READ_BYTES);
		text.count += n > 0 ? (size_t)n : 0;
	}
	text.items[text.count] = '\0';
	return text.items;
}

/* Is `word` in a comma-separated list? */
static bool cgroup_has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0'))
			return true;
	}
	return false;
}

/* The next line, ended with a NUL; NULL: there is none. */
static char *next_line(char **at)
{
	char *line = *at, *end;

	if (!*line)
		return NULL;
	end = line + strcspn(line, "\n");
	*at = *end ? end + 1 : end;
	*end = '\0';
	return line;
}

/* `4:memory:/job_7/step_0`, or of version 2 `0::/job_7/step_0`. */
static void parse_group(char *line, const char *controller, struct hierarchy *hierarchies)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path || path[1] != '/')
		return;
	*controllers++ = '\0';
	*path++ = '\0';
	if (strcmp(line, "0") == 0 && *controllers == '\0')
		hierarchies[NEW].own = path;
	else if (cgroup_has_word(controllers, controller))
		hierarchies[OLD].own = path;
}

/* The next component of a path, and its length: 0 at the end. */
static size_t component(const char **at)
{
	*at += strspn(*at, "/");
	return strcspn(*at, "/");
}

/* Is there a component `..` (`ups`), or any other (not `ups`)? */
static bool has_component(const char *path, bool ups)
{
	for (size_t n = component(&path); n > 0; n = component(&path)) {
		if ((n == 2 && strncmp(path, "..", 2) == 0) == ups)
			return true;
		path += n;
	}
	return false;
}

/*
 * The path from `root`, the mounted part of the hierarchy, to `own`. Either may begin
 * with `..`, outside of the process's cgroup namespace. NULL: `own` is not below; "" also
 * where the path is unknown.
 */
static const char *relative_path(const char *root, const char *own)
{
	size_t r = component(&root), o = component(&own);

	while (r > 0 && r == o && strncmp(root, own, r) == 0) {
		root += r;
		own += o;
		r = component(&root);
		o = component(&own);
	}
	if (r == 0)
		return has_component(own, true) ? NULL : own;
	return has_component(root, false) ? NULL : "";
}

/* Keeps the mount that shows most of the hierarchy; of two equal ones the later. */
static void offer_mount(struct hierarchy *hierarchy, const char *root, char *mountpoint)
{
	const char *below = hierarchy->own ? relative_path(root, hierarchy->own) : NULL;

	if (!below || (hierarchy->mountpoint && strlen(root) > hierarchy->hidden))
		return;
	hierarchy->mountpoint = mountpoint;
	hierarchy->below = below;
	hierarchy->hidden = strlen(root);
}

static void parse_mount(char *line, const char *controller, struct hierarchy *hierarchies)
{
	char *root, *mountpoint, *type, *word;

	for (int i = 0; i < 3; i++)
		mountline_field(&line);
	root = mountline_unescape(mountline_field(&line));
	mountpoint = mountline_unescape(mountline_field(&line));
	do {
		word = mountline_field(&line);
	} while (*line && strcmp(word, "-") != 0);
	type = mountline_field(&line);
	mountline_field(&line); /* the source */
	if (*root != '/' || *mountpoint != '/')
		return;
	if (strcmp(type, "cgroup2") == 0)
		offer_mount(&hierarchies[NEW], root, mountpoint);
	else if (strcmp(type, "cgroup") == 0 &&
		 cgroup_has_word(mountline_field(&line), controller))
		offer_mount(&hierarchies[OLD], root, mountpoint);
}

static int add_level(struct cgroup_levels *out, const char *path, size_t length, bool old)
{
	char *copy = strndup(path, length);

	if (copy && vec_push(&out->list, ((struct cgroup_level){ copy, old })) == 0)
		return 0;
	free(copy);
	return -ENOMEM;
}

/* The group's directory and its parents, up to the mount point. */
static int add_levels(const char *root, const struct hierarchy *hierarchy, bool old,
		      struct cgroup_levels *out)
{
	CLEANUP(cleanup_free) char *path = NULL;
	size_t least = strlen(root) + strlen(hierarchy->mountpoint);
	int length = asprintf(&path, "%s%s/%s", root, hierarchy->mountpoint,
			      hierarchy->below);

	if (length < 0) {
		path = NULL;
		return -ENOMEM;
	}
	for (size_t n = (size_t)length, i = 0; i < LEVELS_MOST; i++) {
		while (n > least && path[n - 1] == '/')
			n--;
		if (add_level(out, path, n, old) < 0)
			return -ENOMEM;
		if (n <= least)
			break;
		while (n > least && path[n - 1] != '/')
			n--;
	}
	return 0;
}

int cgroup_find_levels(const char *root, const char *controller, const char *cgroup,
		       const char *mountinfo, struct cgroup_levels *out)
{
	struct hierarchy hierarchies[VERSIONS] = { { 0 } };
	CLEANUP(cleanup_free) char *groups = strdup(cgroup);
	CLEANUP(cleanup_free) char *mounts = strdup(mountinfo);
	char *at, *line;
	int err = groups && mounts ? 0 : -ENOMEM;

	if (err)
		return err;
	for (at = groups; (line = next_line(&at));)
		parse_group(line, controller, hierarchies);
	for (at = mounts; (line = next_line(&at));)
		parse_mount(line, controller, hierarchies);
	for (int i = 0; i < VERSIONS && !err; i++) {
		if (hierarchies[i].mountpoint)
			err = add_levels(root, &hierarchies[i], i == OLD, out);
	}
	return err;
}

void cgroup_levels_free(struct cgroup_levels *levels)
{
	for (size_t i = 0; i < levels->list.count; i++)
		free(levels->list.items[i].path);
	vec_free(&levels->list);
}
