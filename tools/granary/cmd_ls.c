/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_ls.c: granary ls SOURCE... [PATH...] */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sandbox_child.h"
#include "describe.h"
#include "granary.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"

enum { DEPTH_MOST = 4096, PATH_BYTES = 64 * 1024, OUTPUT_BYTES = 1 << 20 };

/* The options, and the state of the output. */
struct ls_listing {
	const struct tree *tree;
	bool details;   /* -l */
	bool human;     /* -h */
	bool recursive; /* -R */
	bool zero;      /* -0: names end in NUL */
	bool json;
	struct json writer;
	int status;

	/* the text of the last time: many files have the same one */
	int64_t when;
	char when_text[32];

	char path[PATH_BYTES];
};

static const char *time_text(struct ls_listing *l, int64_t when)
{
	time_t seconds = (time_t)when;
	struct tm tm;

	if (when == l->when && *l->when_text)
		return l->when_text;
	l->when = when;
	if (!localtime_r(&seconds, &tm) ||
	    !strftime(l->when_text, sizeof(l->when_text), "%Y-%m-%d %H:%M", &tm))
		snprintf(l->when_text, sizeof(l->when_text), "?");
	return l->when_text;
}

static void print_details(struct ls_listing *l, const struct tree_stat *st)
{
	char mode[MODE_TEXT_BYTES], size[HUMAN_TEXT_BYTES];

	if (l->human)
		describe_size(st->size, size);
	else
		snprintf(size, sizeof(size), "%" PRIu64, st->size);
	printf("%s %3u %5u %5u %*s %s ", describe_mode(st, mode), st->links, st->uid, st->gid,
	       l->human ? 6 : 12, size, time_text(l, st->mtime));
}

static void print_json(struct ls_listing *l, uint32_t node, const struct tree_stat *st)
{
	json_open(&l->writer, NULL, '{');
	describe_json(&l->writer, l->tree, l->path, node, st);
	json_close(&l->writer, '}');
	putc_unlocked('\n', stdout);
	l->writer.comma = false; /* one object a line */
}

/* Prints a name unlocked: only this thread prints. */
static void print_name(const struct ls_listing *l, const char *name, size_t length)
{
	if (l->zero) {
		fwrite_unlocked(name, 1, length, stdout);
		putc_unlocked('\0', stdout);
		return;
	}
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f) {
			print_escaped(name);
			return;
		}
	}
	fwrite_unlocked(name, 1, length, stdout);
}

static void ls_damaged(struct ls_listing *l, const char *path)
{
	log_error("%s: the index is damaged here", path);
	l->status = ERROR_SYSTEM;
}

static void print_target(const struct ls_listing *l, uint32_t node)
{
	char target[TREE_TARGET_BYTES];

	if (tree_readlink(l->tree, node, target) < 0)
		return;
	fputs(" -> ", stdout);
	print_name(l, target, strlen(target));
}

/* Prints the name at l->path. Its other attributes are read only if they are printed. */
static void print_node(struct ls_listing *l, uint32_t node, enum tree_kind kind,
		       size_t length)
{
	struct tree_stat st;

	if ((l->details || l->json) && tree_stat(l->tree, node, &st) < 0) {
		ls_damaged(l, l->path);
		return;
	}
	if (l->json) {
		print_json(l, node, &st);
		return;
	}
	if (l->details)
		print_details(l, &st);
	print_name(l, l->path, length);
	if (l->zero)
		return;
	if (l->details && kind == TREE_SYMLINK)
		print_target(l, node);
	putc_unlocked('\n', stdout);
}

static void too_deep(struct ls_listing *l)
{
	log_error("%.200s...: is too deep to be listed from the root; list a directory in it",
		  l->path);
	l->status = ERROR_SYSTEM;
}

/* The first `length` bytes of l->path are the directory's path. */
static void list_children(struct ls_listing *l, uint32_t directory, size_t length,
			  int depth)
{
	struct tree_name name;
	int err;

	for (uint32_t i = 0; (err = tree_child(l->tree, directory, i, &name)) == 0; i++) {
		size_t end = length;

		if (length + name.length + 2 > PATH_BYTES || depth > DEPTH_MOST) {
			too_deep(l);
			return;
		}
		if (length)
			l->path[end++] = '/';
		memcpy(l->path + end, name.name, name.length);
		end += name.length;
		l->path[end] = '\0';
		print_node(l, name.node, name.kind, end);
		if (l->recursive && name.kind == TREE_DIRECTORY)
			list_children(l, name.node, end, depth + 1);
		l->path[length] = '\0';
	}
	if (err != -ENOENT)
		ls_damaged(l, l->path);
}

static void list_path(struct ls_listing *l, struct request *request, const char *given)
{
	struct tree_stat st;
	uint32_t node;
	int status = request_node(request, given, &node);
	size_t length;

	if (status) {
		l->status = status;
		return;
	}
	if (tree_stat(l->tree, node, &st) < 0) {
		ls_damaged(l, given);
		return;
	}
	given += strspn(given, "/");
	snprintf(l->path, sizeof(l->path), "%s", strcmp(given, ".") == 0 ? "" : given);
	for (length = strlen(l->path); length > 0 && l->path[length - 1] == '/'; length--)
		l->path[length - 1] = '\0';
	if (st.kind == TREE_DIRECTORY)
		list_children(l, node, length, 0);
	else
		print_node(l, node, st.kind, length);
}

static int ls_list(struct request *request)
{
	CLEANUP(cleanup_free) struct ls_listing *l = calloc(1, sizeof(*l));
	int status;

	if (!l)
		return report_error(&(struct error){ ERROR_SYSTEM, "out of memory" });
	l->details = request->given['l'];
	l->human = request->given['h'];
	l->recursive = request->given['R'];
	l->zero = request->given['0'];
	l->json = request->json;
	l->writer.out = stdout;
	l->tree = dataset_tree(request->dataset);
	if (request->path_count == 0)
		list_path(l, request, "");
	for (size_t i = 0; i < request->path_count; i++)
		list_path(l, request, request->paths[i]);
	status = finish_output();
	return status ? status : l->status;
}

static int run(struct request *request)
{
	static char output[OUTPUT_BYTES];
	int status;

	setvbuf(stdout, output, _IOFBF, sizeof(output));
	status = request_open(request, SOURCES_AND_PATHS);
	return status ? status : sandbox_child_read(request, ls_list);
}

const struct command command_ls = {
	.name = "ls", .usage = "[-o OPTIONS] [-lRh0] [--json] SOURCE... [PATH...]",
	.summary = "Lists a packed dataset, without a mount",
	.help = "    -l                              permissions, owner, size, time\n"
		"    -R                              everything below, too\n"
		"    -h                              sizes as 110K, 1.3M\n"
		"    -0                              end each name with a NUL\n",
	.shorts = "lRh0", .takes_dataset = true, .run = run,
};
