/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packing.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/brace.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/size.h"
#include "base/text.h"
#include "make_index.h"
#include "place/find.h"
#include "progress.h"

enum { SHOWN_PROBLEMS = 20, LEVEL_MOST = 999, THREADS_LIMIT = 256 };

/* A number in an option: 0, or the error printed and an exit status. */
static int pack_parse_number(const struct request *request, char letter,
			     const char *option, uint64_t least, uint64_t most,
			     uint64_t *out)
{
	const char *text = request->value[(int)letter];
	char *end;

	if (!request->given[(int)letter])
		return 0;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *out >= least && *out <= most)
		return 0;
	log_error("%s=%s: a number from %llu to %llu is wanted", option, text,
		  (unsigned long long)least, (unsigned long long)most);
	return ERROR_USAGE;
}

static int parse_numbers(const struct request *request, struct pack_options *o)
{
	uint64_t threads = 0;
	int status = pack_parse_number(request, 'n', "--shards", 1, BRACE_MAX_WORDS,
				       &o->shards);

	if (!status)
		status = pack_parse_number(request, 'm', "--multiple-of", 1,
					   BRACE_MAX_WORDS, &o->multiple_of);
	if (!status)
		status = pack_parse_number(request, 's', "--shuffle", 0, UINT64_MAX,
					   &o->seed);
	if (!status)
		status = pack_parse_number(request, 't', "--threads", 1, THREADS_LIMIT,
					   &threads);
	o->threads = (unsigned)threads;
	if (status || !request->given['z'])
		return status;
	if (size_parse(request->value['z'], &o->shard_size) < 0 || !o->shard_size) {
		log_error("--shard-size=%s: a size is wanted, such as 1G", request->value['z']);
		return ERROR_USAGE;
	}
	return 0;
}

/* Finds one of the words: 0 and its number, or the error printed and an exit status. */
static int parse_word(const char *option, const char *text, const char *const *words,
		      int *which)
{
	char known[80] = "";

	for (int i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0) {
			*which = i;
			return 0;
		}
	}
	for (int i = 0; words[i]; i++)
		buffer_print(known, sizeof(known), "%s%s", i ? ", " : "", words[i]);
	log_error("%s=%s: is not known; known are %s", option, text, known);
	return ERROR_USAGE;
}

/* NAME[:LEVEL]; the name is copied to *name, which the caller frees. */
static int parse_compressor(const char *text, char **name, int *level)
{
	static const char *const words[] = { "none", "lz4", "zstd", "gzip", "xz", NULL };
	const char *colon = strchrnul(text, ':');
	char *end;
	int which;

	*name = strndup(text, (size_t)(colon - text));
	if (!*name || parse_word("--compress", *name, words, &which))
		return ERROR_USAGE;
	if (!*colon)
		return 0;
	*level = (int)strtol(colon + 1, &end, 10);
	if (colon[1] >= '0' && colon[1] <= '9' && !*end && *level <= LEVEL_MOST)
		return 0;
	log_error("--compress=%s: a level is a number, as in gzip:6", text);
	return ERROR_USAGE;
}

/* No time is later: https://reproducible-builds.org/specs/source-date-epoch */
static int parse_epoch(struct pack_options *o)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");
	char *end;

	if (!text || !*text)
		return 0;
	errno = 0;
	o->epoch = strtoll(text, &end, 10);
	o->has_epoch = true;
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return 0;
	log_error("SOURCE_DATE_EPOCH is '%s'; seconds since 1970 are wanted, or no such variable",
		  text);
	return ERROR_USAGE;
}

static int parse_pack_options(const struct request *request, struct pack_options *o,
			      char **compressor)
{
	static const char *const layouts[] = { "tree", "webdataset", NULL };
	static const char *const hdf5_layouts[] = { "tree", "jsc", NULL };
	int status = parse_numbers(request, o), layout = PACK_TREE;

	if (!status && request->given['l'])
		status = parse_word("--layout", request->value['l'], layouts, &layout);
	if (!status && request->given['H'])
		status = parse_word("--hdf5-layout", request->value['H'], hdf5_layouts,
				    &(int){ 0 });
	if (!status && request->given['c'])
		status = parse_compressor(request->value['c'], compressor, &o->level);
	if (!status)
		status = parse_epoch(o);
	o->layout = (enum pack_layout)layout;
	o->hdf5_layout = request->value['H'];
	o->compressor = *compressor;
	o->shuffle = request->given['s'];
	o->decode = request->given['d'];
	o->keep_going = request->given['k'];
	o->force = request->given['f'];
	o->resume = request->given['r'];
	return status;
}

int packing_prepare(struct request *request, struct pack_options *o, char **compressor)
{
	signal(SIGXFSZ, SIG_IGN); /* a size limit is an error like a full disk */
	if (request->given['x'] && request->given['i'])
		return report_usage(request->command, "--index and --no-index: choose one");
	if (request->given['f'] && request->given['r'])
		return report_usage(request->command, "--force begins anew, and --resume goes "
				    "on: choose one");
	request->part = true;
	return parse_pack_options(request, o, compressor);
}

static void report_problems(const struct problems *problems)
{
	size_t count = problems_count(problems), shown = problems->items.count;
	char text[SIZE_TEXT_BYTES];

	if (shown > SHOWN_PROBLEMS)
		shown = SHOWN_PROBLEMS;
	for (size_t i = 0; i < shown; i++)
		log_warn("%s: %s", problems->items.items[i].path,
			 problems->items.items[i].reason);
	if (count > shown)
		log_warn("and %s more; --json lists all", count_text(count - shown, text));
}

static void pack_report_left_out(const struct pack_result *result)
{
	char text[SIZE_TEXT_BYTES];

	if (result->special)
		log_warn("FIFOs, sockets and devices were left out: %s",
			 count_text(result->special, text));
	if (result->no_class)
		log_warn("files in no class's directory were left out: %s",
			 count_text(result->no_class, text));
	if (result->no_name)
		log_warn("hidden files, links and files without an extension can be in no "
			 "sample, and were left out: %s", count_text(result->no_name, text));
	if (result->splits)
		log_warn("the classes are directories such as train and val; if those are parts of the "
			 "dataset, pack each by itself");
	if (result->clamped)
		log_warn("a squashfs image has no times before 1970 or after 2106; the nearest it "
			 "has was taken for %s entries", count_text(result->clamped, text));
	/* the manual page promises one in a hundred */
	if (result->imbalance > 10)
		log_warn("the shards' sizes differ by %u.%u %%: there are too few files in each "
			 "to even out large ones; make fewer shards", result->imbalance / 10,
			 result->imbalance % 10);
}

static uint64_t packed_bytes(const struct pack_result *result)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < result->shards.count; i++)
		bytes += result->shards.items[i].bytes;
	return bytes;
}

static void print_plainly(const struct pack_result *result)
{
	char files[SIZE_TEXT_BYTES], bytes[SIZE_TEXT_BYTES], shards[SIZE_TEXT_BYTES];
	size_t kept = 0;

	for (size_t i = 0; i < result->shards.count; i++)
		kept += result->shards.items[i].kept;
	print_escaped(result->source);
	printf(": %s files packed", count_text(result->files, files));
	if (result->shards.count > 1)
		printf(", %s shards", count_text(result->shards.count, shards));
	if (kept)
		printf(" (%s were there)", count_text(kept, shards));
	printf(", %s\n", size_text(packed_bytes(result), bytes));
}

static void print_shards(struct json *json, const struct pack_result *result)
{
	json_open(json, "packed", '[');
	for (size_t i = 0; i < result->shards.count; i++) {
		const struct pack_shard *shard = &result->shards.items[i];

		json_open(json, NULL, '{');
		json_text(json, "path", shard->path);
		json_uint(json, "bytes", shard->bytes);
		json_uint(json, "members", shard->members);
		json_bool(json, "kept", shard->kept);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_problems(struct json *json, const struct problems *problems)
{
	json_open(json, "problems", '[');
	for (size_t i = 0; i < problems->items.count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "path", problems->items.items[i].path);
		json_text(json, "reason", problems->items.items[i].reason);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_json(const struct pack_result *result, bool indexed, const char *error)
{
	struct json json = { .out = stdout };

	json_open(&json, NULL, '{');
	json_bool(&json, "complete", !error);
	if (error)
		json_text(&json, "error", error);
	json_uint(&json, "files", result->files);
	json_uint(&json, "directories", result->directories);
	json_uint(&json, "symlinks", result->symlinks);
	json_uint(&json, "hardlinks", result->hardlinks);
	json_uint(&json, "labels", result->labels);
	json_uint(&json, "decoded", result->decoded);
	json_uint(&json, "classes", result->classes);
	json_uint(&json, "content_bytes", result->bytes);
	json_uint(&json, "packed_bytes", packed_bytes(result));
	json_uint(&json, "left_out", result->special + result->no_class + result->no_name);
	json_uint(&json, "clamped_times", result->clamped);
	json_bool(&json, "indexed", indexed);
	if (result->source)
		json_text(&json, "source", result->source);
	print_shards(&json, result);
	print_problems(&json, &result->problems);
	json_close(&json, '}');
	putchar('\n');
}

static int index_open_sources(const struct request *request,
			      const struct source_set *sources)
{
	/* its letters mean other things to make_index, and its -o is of what was read */
	struct request own = { .command = request->command, .json = request->json,
			       .part = true, .quiet = request->quiet };
	struct index_wish wish;
	struct error e;
	int status;

	own.given['f'] = request->given['f'];
	if (index_wish_make(&own.config, sources, &wish, &e) < 0)
		return report_error(&e);
	wish.checksums = true; /* later nothing is left to compare with */
	status = make_index(&own, &wish);
	index_wish_free(&wish);
	return status;
}

/* Another user may have replaced a shard by now, with a file or a link. */
static int check_shards(const struct pack_result *result, const struct source_set *sources,
			struct error *e)
{
	for (uint32_t i = 0; i < sources->count && i < result->shards.count; i++) {
		const struct pack_shard *shard = &result->shards.items[i];
		const struct source_info *is = source_info(sources->sources[i]);

		/* the generation number may change with the rename */
		if (is->number && (is->id.inode != shard->inode || is->id.device != shard->device))
			return error_set(e, ERROR_SYSTEM, ESTALE,
					 "%s: it is no longer the file that was packed, and has got no "
					 "index; pack it again, in a directory where nobody else may write",
					 shard->path);
	}
	return 0;
}

/* Writes the index of the packed files, as granary index does. */
static int write_index(const struct request *request, const struct pack_result *result)
{
	CLEANUP(cleanup_free) char **paths = calloc(result->shards.count, sizeof(*paths));
	struct source_set sources;
	struct error e;
	int status;

	if (!paths) {
		log_error("out of memory");
		return ERROR_SYSTEM;
	}
	for (size_t i = 0; i < result->shards.count; i++)
		paths[i] = result->shards.items[i].path;
	if (source_set_open(paths, result->shards.count, false, &sources, &e) < 0)
		return report_error(&e);
	if (check_shards(result, &sources, &e) < 0)
		status = report_error(&e);
	else
		status = index_open_sources(request, &sources);
	source_set_close(&sources);
	return status;
}

/* The total is unknown until the tree is listed. */
static void pack_update_progress(struct progress *p, const void *context)
{
	const struct pack_progress *counters = context;
	bool listing = counters->phase == PACK_LISTING;

	p->subject = listing ? "listing" : counters->phase == PACK_SYNCING ?
		     "packed, waiting for the storage" : "packing";
	p->count = listing ? counters->found : counters->files;
	p->count_total = listing ? 0 : counters->all_files;
	p->bytes = counters->bytes;
	p->bytes_total = counters->all_bytes;
}

int packing_run(const struct request *request, const struct pack_options *options,
		struct pack_result *result, struct error *e)
{
	struct pack_progress counters = { 0 };
	struct progress progress = { .subject = "packing", .unit = "files",
				     .look = pack_update_progress, .context = &counters };
	int err;

	progress_start(&progress, request->given['q']);
	err = packer_run(options, &counters, result, e);
	progress_stop(&progress);
	return err;
}

int packing_report(const struct request *request, const struct pack_result *result, int err,
		   const struct error *e)
{
	bool index = !err && !request->given['x'];
	int output, status = index ? write_index(request, result) : 0;

	if (request->json)
		print_json(result, index && !status, err ? e->text : NULL);
	else if (!err && !request->given['q'])
		print_plainly(result);
	if (err) {
		status = report_error(e);
	} else {
		pack_report_left_out(result);
		report_problems(&result->problems);
		if (!status && problems_count(&result->problems))
			status = ERROR_PARTIAL;
	}
	output = finish_output();
	return status ? status : output;
}

const struct option packing_options[] = {
	{ "shards", required_argument, NULL, 'n' },
	{ "shard-size", required_argument, NULL, 'z' },
	{ "multiple-of", required_argument, NULL, 'm' },
	{ "shuffle", required_argument, NULL, 's' },
	{ "layout", required_argument, NULL, 'l' },
	{ "hdf5-layout", required_argument, NULL, 'H' },
	{ "compress", required_argument, NULL, 'c' },
	{ "threads", required_argument, NULL, 't' },
	{ "decode", no_argument, NULL, 'd' },
	{ "index", no_argument, NULL, 'i' },
	{ "no-index", no_argument, NULL, 'x' },
	{ "keep-going", no_argument, NULL, 'k' },
	{ "resume", no_argument, NULL, 'r' },
	{ "force", no_argument, NULL, 'f' },
	{ NULL, 0, NULL, 0 },
};

