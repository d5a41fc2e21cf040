/* cmd_ls.c: granary ls SOURCE... [PATH...] */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "granary.h"
#include "util/json.h"
#include "util/log.h"

/* How to list; and what is printed so far. */
struct listing {
	const struct tree *tree;
	bool details;   /* -l */
	bool recursive; /* -R */
	bool zero;      /* -0: names end in NUL */
	bool json;
	struct json writer;
	int status;
};

enum { DEPTH_MOST = 4096, PATH_BYTES = 64 * 1024 };

static const char KIND_LETTERS[] = { [TREE_DIRECTORY] = 'd', [TREE_FILE] = '-',
				     [TREE_SYMLINK] = 'l', [TREE_ALIAS] = '?' };
static const char *const KIND_WORDS[] = { [TREE_DIRECTORY] = "directory",
					  [TREE_FILE] = "file",
					  [TREE_SYMLINK] = "symlink",
					  [TREE_ALIAS] = "?" };

static const char *mode_text(const struct tree_stat *st, char out[11])
{
	out[0] = KIND_LETTERS[st->kind];
	for (int bit = 0; bit < 9; bit++)
		out[1 + bit] = st->mode & (0400U >> bit) ? "rwxrwxrwx"[bit] : '-';
	out[10] = '\0';
	return out;
}

static void print_details(const struct tree_stat *st)
{
	char mode[11], when[32] = "?";
	time_t seconds = (time_t)st->mtime;
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	printf("%s %3u %5u %5u %12" PRIu64 " %s ", mode_text(st, mode), st->links,
	       st->uid, st->gid, st->size, when);
}

static void print_json(struct listing *l, uint32_t node, const struct tree_stat *st,
		       const char *path)
{
	char target[TREE_TARGET_BYTES];

	json_open(&l->writer, NULL, '{');
	json_text(&l->writer, "path", path);
	json_text(&l->writer, "kind", KIND_WORDS[st->kind]);
	json_uint(&l->writer, "size", st->size);
	json_uint(&l->writer, "mode", st->mode);
	json_uint(&l->writer, "uid", st->uid);
	json_uint(&l->writer, "gid", st->gid);
	json_uint(&l->writer, "links", st->links);
	json_int(&l->writer, "mtime", st->mtime);
	json_uint(&l->writer, "mtime_ns", st->mtime_ns);
	if (st->kind == TREE_SYMLINK && tree_readlink(l->tree, node, target) == 0)
		json_text(&l->writer, "target", target);
	json_close(&l->writer, '}');
	putchar('\n');
	l->writer.comma = false; /* one object a line */
}

static void print_name(const struct listing *l, const char *name)
{
	if (l->zero) {
		fputs(name, stdout);
		putchar('\0');
		return;
	}
	print_plain(name);
}

static void damaged(struct listing *l, const char *path)
{
	log_error("%s: the index is damaged here", path);
	l->status = ERROR_SYSTEM;
}

static void print_node(struct listing *l, uint32_t node, const char *path)
{
	struct tree_stat st;
	char target[TREE_TARGET_BYTES];

	if (tree_stat(l->tree, node, &st) < 0) {
		damaged(l, path);
		return;
	}
	if (l->json) {
		print_json(l, node, &st, path);
		return;
	}
	if (l->details)
		print_details(&st);
	print_name(l, path);
	if (l->zero)
		return;
	if (l->details && st.kind == TREE_SYMLINK &&
	    tree_readlink(l->tree, node, target) == 0) {
		fputs(" -> ", stdout);
		print_name(l, target);
	}
	putchar('\n');
}

/* `path` is a buffer of PATH_BYTES; what is below is written behind `length`. */
static void list_children(struct listing *l, uint32_t directory, char *path,
			  size_t length, int depth)
{
	struct tree_name name;
	int err;

	for (uint32_t i = 0; (err = tree_child(l->tree, directory, i, &name)) == 0; i++) {
		size_t end = length;

		if (length + name.length + 2 > PATH_BYTES || depth > DEPTH_MOST) {
			log_error("%.200s...: is too deep to be listed from the root; "
				  "list a folder in it", path);
			l->status = ERROR_SYSTEM;
			return;
		}
		if (length)
			path[end++] = '/';
		memcpy(path + end, name.name, name.length);
		end += name.length;
		path[end] = '\0';
		print_node(l, name.node, path);
		if (l->recursive && name.kind == TREE_DIRECTORY)
			list_children(l, name.node, path, end, depth + 1);
		path[length] = '\0';
	}
	if (err != -ENOENT)
		damaged(l, path);
}

static void list_path(struct listing *l, struct request *request, const char *given)
{
	static char path[PATH_BYTES];
	struct tree_stat st;
	uint32_t node;
	int status = request_node(request, given, &node);

	if (status) {
		l->status = status;
		return;
	}
	if (tree_stat(l->tree, node, &st) < 0) {
		damaged(l, given);
		return;
	}
	given += strspn(given, "/");
	snprintf(path, sizeof(path), "%s", strcmp(given, ".") == 0 ? "" : given);
	while (*path && path[strlen(path) - 1] == '/')
		path[strlen(path) - 1] = '\0';
	if (st.kind == TREE_DIRECTORY)
		list_children(l, node, path, strlen(path), 0);
	else
		print_node(l, node, path);
}

static int run(struct request *request)
{
	struct listing l = {
		.details = request->given['l'], .recursive = request->given['R'],
		.zero = request->given['0'], .json = request->json,
		.writer = { .out = stdout },
	};
	int status = request_open(request, SOURCES_AND_PATHS);

	if (status)
		return status;
	l.tree = dataset_tree(request->dataset);
	if (request->path_count == 0)
		list_path(&l, request, "");
	for (size_t i = 0; i < request->path_count; i++)
		list_path(&l, request, request->paths[i]);
	status = finish_output();
	return status ? status : l.status;
}

const struct command command_ls = {
	.name = "ls", .usage = "[-o OPTIONS] [-lR0] [--json] SOURCE... [PATH...]",
	.summary = "Lists a packed dataset, without a mount",
	.help = "    -l                              permissions, owner, size, time\n"
		"    -R                              everything below, too\n"
		"    -0                              end each name with a NUL\n",
	.shorts = "lR0", .takes_dataset = true, .run = run,
};
