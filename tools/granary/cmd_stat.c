/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_stat.c: granary stat SOURCE... PATH... */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sandbox_child.h"
#include "describe.h"
#include "granary.h"
#include "base/json.h"
#include "base/log.h"

enum { PLACES_SHOWN = 8 }; /* of a file in many pieces; --json has all */

struct subject {
	const struct request *request;
	const char *path;
	uint32_t node;
	struct tree_stat st;
};

static int stat_damaged(const char *path)
{
	log_error("%s: the index is damaged here; make it anew with: granary index --force",
		  path);
	return ERROR_SYSTEM;
}

/* ---- For people ---- */

static void print_place(const struct dataset_place *place)
{
	if (place->hole) {
		printf("a hole of %" PRIu64 " bytes", place->length);
		return;
	}
	print_escaped(place->source ? place->source : "the index");
	printf(", byte %" PRIu64, place->offset);
	if (!place->chunked) {
		printf(", %" PRIu64 " bytes", place->length);
		return;
	}
	printf(", a chunk of %" PRIu64 " bytes (%s)", place->stored,
	       *place->codecs ? place->codecs : "as it is");
	printf("; in it byte %" PRIu64 ", %" PRIu64 " bytes", place->inside, place->length);
}

static int print_places(const struct subject *s)
{
	struct dataset_place place;
	uint64_t offset = 0;
	int err = 0;

	for (int i = 0; offset < s->st.size; i++) {
		if (i == PLACES_SHOWN) {
			puts("        and more; --json has all");
			return 0;
		}
		err = dataset_place(s->request->dataset, s->node, offset, &place);
		if (err)
			return stat_damaged(s->path);
		printf("%s", i ? "        " : " Place: ");
		print_place(&place);
		putchar('\n');
		offset += place.length;
	}
	return 0;
}

static void stat_print_time(const struct tree_stat *st)
{
	char when[32] = "?", zone[16] = "";
	time_t seconds = (time_t)st->mtime;
	struct tm tm;

	if (localtime_r(&seconds, &tm)) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		strftime(zone, sizeof(zone), "%z", &tm);
	}
	printf("Modify: %s.%09u %s\n", when, st->mtime_ns, zone);
}

static int stat_print_text(const struct subject *s)
{
	char mode[MODE_TEXT_BYTES], target[TREE_TARGET_BYTES];

	printf("  File: ");
	print_escaped(*s->path ? s->path : "/");
	if (s->st.kind == TREE_SYMLINK &&
	    tree_readlink(dataset_tree(s->request->dataset), s->node, target) == 0) {
		printf(" -> ");
		print_escaped(target);
	}
	printf("\n  Size: %-15" PRIu64 " Links: %-6u %s\n", s->st.size, s->st.links,
	       describe_kind(s->st.kind));
	printf("Access: (%04o/%s)  Uid: %u  Gid: %u\n", s->st.mode, describe_mode(&s->st, mode),
	       s->st.uid, s->st.gid);
	stat_print_time(&s->st);
	return s->st.kind == TREE_FILE ? print_places(s) : 0;
}

/* ---- For programs ---- */

static void json_place(struct json *json, uint64_t offset, const struct dataset_place *place)
{
	json_open(json, NULL, '{');
	json_uint(json, "file_offset", offset);
	json_uint(json, "length", place->length);
	json_bool(json, "hole", place->hole);
	if (!place->hole) {
		json_text(json, "source", place->source ? place->source : "");
		json_uint(json, "offset", place->offset);
		json_uint(json, "stored", place->stored);
	}
	if (place->chunked) {
		json_uint(json, "chunk_offset", place->inside);
		json_text(json, "codecs", place->codecs);
	}
	json_close(json, '}');
}

static int json_places(struct json *json, const struct subject *s)
{
	struct dataset_place place;
	int err = 0;

	json_open(json, "places", '[');
	for (uint64_t offset = 0; offset < s->st.size && !err; offset += place.length) {
		err = dataset_place(s->request->dataset, s->node, offset, &place);
		if (err)
			break;
		json_place(json, offset, &place);
	}
	json_close(json, ']');
	return err ? stat_damaged(s->path) : 0;
}

static int print_json(const struct subject *s)
{
	struct json json = { .out = stdout };
	int status = 0;

	json_open(&json, NULL, '{');
	describe_json(&json, dataset_tree(s->request->dataset), s->path, s->node, &s->st);
	if (s->st.kind == TREE_FILE)
		status = json_places(&json, s);
	json_close(&json, '}');
	putchar('\n');
	return status;
}

static int stat_show(const struct request *request, const char *path)
{
	struct subject s = { .request = request, .path = path };
	int status = request_node(request, path, &s.node);

	if (status)
		return status;
	if (tree_stat(dataset_tree(request->dataset), s.node, &s.st) < 0)
		return stat_damaged(path);
	s.path += strspn(path, "/");
	return request->json ? print_json(&s) : stat_print_text(&s);
}

/* Goes on after a path that fails, as stat(1) does. */
static int show_all(struct request *request)
{
	int worst = 0, status;

	for (size_t i = 0; i < request->path_count; i++) {
		status = stat_show(request, request->paths[i]);
		if (status)
			worst = status;
	}
	status = finish_output();
	return status ? status : worst;
}

static int run(struct request *request)
{
	int status;

	request_split(request, SOURCES_AND_PATHS);
	if (request->path_count == 0)
		return report_usage(request->command, "a path in the dataset is missing");
	status = request_open(request, SOURCES_AND_PATHS);
	return status ? status : sandbox_child_read(request, show_all);
}

const struct command command_stat = {
	.name = "stat", .usage = "[-o OPTIONS] [--json] SOURCE... PATH...",
	.summary = "Says what a name is, and where its bytes are stored",
	.help = "", .shorts = "", .takes_dataset = true, .run = run,
};
