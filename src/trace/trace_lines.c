/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/trace_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/vec.h"
#include "stats/stats.h"

/* DFTracer's numbers for layers and phases. */
enum { LAYER_DFTRACER = 1, LAYER_C_APP = 2, LAYER_LIBC_IO = 3 };
enum { PHASE_COMPLETE = 1, PHASE_COUNTER = 2, PHASE_METADATA = 4 };

enum { PATH_BYTES = 8192, HOST_BYTES = 256 };

struct event_words {
	const char *name, *category;
	int layer;
};

static const struct event_words words[TRACE_KINDS] = {
	[TRACE_READ] = { "read", "POSIX", LAYER_LIBC_IO },
	[TRACE_LOOKUP] = { "lookup", "FUSE", LAYER_C_APP },
	[TRACE_GETATTR] = { "getattr", "FUSE", LAYER_C_APP },
	[TRACE_READDIR] = { "readdir", "FUSE", LAYER_C_APP },
	[TRACE_IOCTL] = { "ioctl", "FUSE", LAYER_C_APP },
	[TRACE_OTHER] = { "other", "FUSE", LAYER_C_APP },
	[TRACE_STORAGE] = { "storage_read", "STORAGE", LAYER_C_APP },
	[TRACE_DECODE] = { "decode", "DECODE", LAYER_C_APP },
	[TRACE_PUSH] = { "push", "PUSH", LAYER_C_APP },
};

struct trace_source {
	uint64_t subject, hash;
};

struct trace_lines {
	const struct trace_names *names;
	FILE *out;
	uint64_t host;     /* its hash */
	uint64_t next_id;
	int64_t to_epoch;  /* nanoseconds from stats_clock to 1970 */
	uint64_t dropped;
	unsigned char *is_named; /* a bit a node */
	VEC(struct trace_source) sources;
	char path[PATH_BYTES];
};

static int64_t clock_to_epoch(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)stats_clock();
}

struct trace_lines *trace_lines_new(const struct trace_names *names, FILE *out)
{
	struct trace_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->names = names;
	lines->out = out;
	lines->to_epoch = clock_to_epoch();
	lines->is_named = calloc(1, names->nodes / 8 + 1);
	if (lines->is_named)
		return lines;
	free(lines);
	return NULL;
}

void trace_lines_free(struct trace_lines *lines)
{
	if (!lines)
		return;
	vec_free(&lines->sources);
	free(lines->is_named);
	free(lines);
}

static uint64_t epoch_us(const struct trace_lines *lines, uint64_t clock)
{
	return ((uint64_t)lines->to_epoch + clock) / 1000;
}

static uint64_t hash_of_text(const char *text)
{
	return hash_digest(0, text, strlen(text));
}

/* A line of metadata: `record` is FH, HH or SH. */
static void add_name(struct trace_lines *lines, const char *record, const char *name,
		     uint64_t hash)
{
	struct json json = { .out = lines->out };

	fprintf(lines->out,
		"{\"name\":\"%s\",\"cat\":\"dftracer\",\"type\":%d,\"pid\":%ld,\"tid\":%ld,"
		"\"ph\":%d,\"args\":{\"hhash\":\"%016" PRIx64 "\",",
		record, LAYER_DFTRACER, (long)getpid(), (long)getpid(), PHASE_METADATA,
		lines->host);
	json_text(&json, "name", name);
	fprintf(lines->out, ",\"value\":\"%016" PRIx64 "\"}}\n", hash);
}

/* The beginning of a line about the writer itself, up to its arguments. */
static void add_own(struct trace_lines *lines, const char *name)
{
	fprintf(lines->out,
		"{\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"dftracer\",\"type\":%d,"
		"\"pid\":%ld,\"tid\":%ld,\"ts\":%" PRIu64 ",\"dur\":0,\"ph\":%d,"
		"\"args\":{\"hhash\":\"%016" PRIx64 "\"",
		lines->next_id++, name, LAYER_DFTRACER, (long)getpid(), (long)getpid(),
		epoch_us(lines, stats_clock()), PHASE_COMPLETE, lines->host);
}

static int compare_sources(const void *a, const void *b)
{
	uint64_t left = ((const struct trace_source *)a)->subject;
	uint64_t right = ((const struct trace_source *)b)->subject;

	return (left > right) - (left < right);
}

static void add_sources(struct trace_lines *lines)
{
	const struct trace_names *names = lines->names;
	struct trace_source source;
	const char *path;

	for (size_t i = 0; (path = names->source(names->context, i, &source.subject)); i++) {
		source.hash = hash_of_text(path);
		if (vec_push(&lines->sources, source) < 0)
			break;
		add_name(lines, "FH", path, source.hash);
	}
	if (lines->sources.count)
		qsort(lines->sources.items, lines->sources.count,
		      sizeof(*lines->sources.items), compare_sources);
}

void trace_lines_name_again(struct trace_lines *lines)
{
	memset(lines->is_named, 0, lines->names->nodes / 8 + 1);
	lines->sources.count = 0;
	add_sources(lines);
}

void trace_lines_begin(struct trace_lines *lines)
{
	struct json json = { .out = lines->out, .comma = true };
	char host[HOST_BYTES] = "";

	gethostname(host, sizeof(host) - 1);
	lines->host = hash_of_text(host);
	add_name(lines, "HH", host, lines->host);
	add_own(lines, "start");
	json_text(&json, "writer", PACKAGE_STRING);
	json_text(&json, "dataset", lines->names->dataset);
	json_text(&json, "mountpoint", lines->names->mountpoint);
	fputs("}}\n", lines->out);
	add_sources(lines);
}

/* Of a file of the mount; its path comes before. */
static uint64_t hash_of_node(struct trace_lines *lines, uint64_t node)
{
	const struct trace_names *names = lines->names;
	uint64_t hash;

	if (node >= names->nodes ||
	    !names->node(names->context, node, lines->path, sizeof(lines->path)))
		return 0;
	hash = hash_of_text(lines->path);
	if (!(lines->is_named[node / 8] & (1 << node % 8)))
		add_name(lines, "FH", lines->path, hash);
	lines->is_named[node / 8] |= (unsigned char)(1 << node % 8);
	return hash;
}

static uint64_t hash_of_source(const struct trace_lines *lines, uint64_t subject)
{
	const struct trace_source wanted = { .subject = subject };
	const struct trace_source *found =
		lines->sources.count ?
			bsearch(&wanted, lines->sources.items, lines->sources.count,
				sizeof(wanted), compare_sources) :
			NULL;

	return found ? found->hash : 0;
}

static uint64_t hash_of_file(struct trace_lines *lines, const struct trace_event *event)
{
	if (event->kind == TRACE_STORAGE)
		return hash_of_source(lines, event->subject);
	return event->kind == TRACE_DECODE ? 0 : hash_of_node(lines, event->subject);
}

static void add_arguments(struct trace_lines *lines, const struct trace_event *event,
			  uint64_t file)
{
	FILE *out = lines->out;

	fprintf(out, "\"args\":{\"hhash\":\"%016" PRIx64 "\"", lines->host);
	if (file)
		fprintf(out, ",\"fhash\":\"%016" PRIx64 "\"", file);
	if (event->kind == TRACE_READ || event->kind >= TRACE_STORAGE)
		fprintf(out, ",\"count\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"ret\":%" PRId64,
			event->size, event->offset, event->result);
	if (event->kind == TRACE_READ)
		fprintf(out, ",\"storage\":%" PRIu32, event->storage);
	if (event->kind == TRACE_STORAGE)
		fprintf(out, ",\"demand\":%" PRIu32, event->storage);
	fputs("}}\n", out);
}

void trace_lines_add(struct trace_lines *lines, const struct trace_event *event)
{
	const struct event_words *word = &words[event->kind];
	uint64_t file = hash_of_file(lines, event);

	fprintf(lines->out,
		"{\"id\":%" PRIu64 ",\"name\":\"%s\",\"cat\":\"%s\",\"type\":%d,"
		"\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64
		",\"ph\":%d,",
		lines->next_id++, word->name, word->category, word->layer, event->process,
		event->thread, epoch_us(lines, event->begin), (event->took + 500) / 1000,
		PHASE_COMPLETE);
	add_arguments(lines, event, file);
}

void trace_lines_dropped(struct trace_lines *lines, uint64_t dropped)
{
	if (dropped == lines->dropped)
		return;
	lines->dropped = dropped;
	fprintf(lines->out,
		"{\"name\":\"dropped\",\"cat\":\"dftracer\",\"type\":%d,\"ts\":%" PRIu64
		",\"ph\":%d,\"pid\":%ld,\"tid\":%ld,\"args\":{\"hhash\":\"%016" PRIx64
		"\",\"dropped\":%" PRIu64 "}}\n",
		LAYER_DFTRACER, epoch_us(lines, stats_clock()), PHASE_COUNTER, (long)getpid(),
		(long)getpid(), lines->host, dropped);
}

void trace_lines_end(struct trace_lines *lines, uint64_t dropped)
{
	add_own(lines, "end");
	fprintf(lines->out, ",\"num_events\":%" PRIu64 ",\"dropped\":%" PRIu64 "}}\n",
		lines->next_id, dropped);
}
