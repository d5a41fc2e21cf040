/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/figures.h"

#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/epochs.h"
#include "report/trace_line.h"
#include "report/trace_text.h"

/* Larger numbers are nonsense: the year 2255, and eleven days. */
static const uint64_t TS_MOST = UINT64_C(9000000000000000), DUR_MOST = UINT64_C(1000000000000);

struct figures_pass {
	struct figures *f;
	uint32_t *busy;  /* microseconds that readers waited in a slot, summed */
	int64_t *whole;  /* by how many more slots are full of waiting than the one before */
	uint64_t slot_us;
	struct epochs epochs;
};

double figures_seconds(const struct figures *f)
{
	return (double)(f->last - f->first) / 1e6;
}

double figures_cached(const struct figures *f)
{
	return f->opens > f->files_read ?
		       100 * (double)(f->opens - f->files_read) / (double)f->opens : 0;
}

static bool is_event(const struct trace_line *line)
{
	return line->kind >= LINE_READ && line->kind <= LINE_PUSH && line->ts > 0 &&
	       line->ts < TS_MOST && line->dur < DUR_MOST;
}

bool figures_have(const struct figures *f, const struct trace_line *line)
{
	return is_event(line) && line->ts >= f->first && line->ts + line->dur <= f->last;
}

static uint64_t bytes_of(const struct trace_line *line)
{
	return line->result > 0 && line->result < INT32_MAX ? (uint64_t)line->result : 0;
}

/* ---- The first pass ---- */

static char *copy_text(const struct pyjson_value *value)
{
	char *copy = value->kind == PYJSON_STRING ? malloc(value->size + 1) : NULL;

	if (copy)
		copy[pyjson_string(value, copy)] = '\0';
	return copy;
}

static void note_start(struct figures *f, const struct trace_line *line)
{
	if (!f->dataset)
		f->dataset = copy_text(&line->name);
	if (!f->mountpoint)
		f->mountpoint = copy_text(&line->mountpoint);
}

static void note_line(struct figures_pass *pass, const struct trace_line *line)
{
	struct figures *f = pass->f;

	if (line->kind == LINE_FILE)
		trace_files_name(&f->files, line->file, &line->name);
	if (line->kind == LINE_START)
		note_start(f, line);
	if (line->kind == LINE_DROPPED && line->result > 0 &&
	    (uint64_t)line->result > f->dropped)
		f->dropped = (uint64_t)line->result;
	if (!is_event(line))
		return;
	if (!f->events || line->ts < f->first)
		f->first = line->ts;
	if (line->ts + line->dur > f->last)
		f->last = line->ts + line->dur;
	f->events++;
}

/* ---- The second pass ---- */

static struct series_bucket *bucket_at(struct figures *f, uint64_t ts)
{
	uint64_t width = (f->last - f->first) / SERIES_BUCKETS + 1;

	return &f->series[(ts - f->first) / width];
}

static unsigned latency_bucket(uint64_t us)
{
	unsigned i = 0;

	while (i + 1 < LATENCY_BUCKETS && us > UINT64_C(1) << i)
		i++;
	return i;
}

static void add_busy(struct figures_pass *pass, uint64_t slot, uint64_t us)
{
	us += pass->busy[slot];
	pass->busy[slot] = (uint32_t)(us < pass->slot_us ? us : pass->slot_us);
}

/* A reader waits from `ts` on: in parts of two slots, and in all between them. */
static void mark_waiting(struct figures_pass *pass, uint64_t ts, uint64_t dur)
{
	uint64_t at = ts - pass->f->first, end = at + dur;
	uint64_t first = at / pass->slot_us, last = end / pass->slot_us;

	if (last >= BUSY_SLOTS || first == last) {
		add_busy(pass, first, dur);
		return;
	}
	add_busy(pass, first, (first + 1) * pass->slot_us - at);
	add_busy(pass, last, end - last * pass->slot_us);
	pass->whole[first + 1]++;
	pass->whole[last]--;
}

static void add_read(struct figures_pass *pass, const struct trace_line *line, uint32_t file)
{
	struct figures *f = pass->f;
	struct series_bucket *bucket = bucket_at(f, line->ts);
	bool hit = line->storage == 0;

	f->reads++;
	f->hits += hit;
	f->files_read += line->offset == 0;
	f->served += bytes_of(line);
	f->errors += line->result < 0;
	f->read_us += line->dur;
	f->hit_us += hit ? line->dur : 0;
	bucket->reads++;
	bucket->hits += hit;
	bucket->served += bytes_of(line);
	(hit ? f->hit_latency : f->miss_latency)[latency_bucket(line->dur)]++;
	epochs_access(&pass->epochs, file, line->ts - f->first);
	epochs_read(&pass->epochs, bytes_of(line), hit);
	mark_waiting(pass, line->ts, line->dur);
}

static struct shard *shard_of(struct figures *f, uint32_t number)
{
	struct trace_file *file = number == NO_FILE ? NULL : &f->files.files.items[number];

	if (!file || (!file->shard && f->shard_count == SHARDS_MOST))
		return NULL;
	if (!file->shard) {
		f->shards[f->shard_count].file = number;
		file->shard = ++f->shard_count;
	}
	return &f->shards[file->shard - 1];
}

static void add_storage(struct figures_pass *pass, const struct trace_line *line, uint32_t file)
{
	struct figures *f = pass->f;
	struct shard *shard = shard_of(f, file);

	f->storage_reads++;
	f->demand_reads += line->storage > 0;
	f->stored += bytes_of(line);
	*(line->storage ? &f->demand_us : &f->ahead_us) += line->dur;
	bucket_at(f, line->ts)->stored += bytes_of(line);
	epochs_stored(&pass->epochs, bytes_of(line));
	if (!shard)
		return;
	shard->reads++;
	shard->bytes += bytes_of(line);
	shard->time_us += line->dur;
	if (line->dur > shard->longest_us)
		shard->longest_us = line->dur;
}

static void add_request(struct figures_pass *pass, const struct trace_line *line, uint32_t file)
{
	struct figures *f = pass->f;

	f->requests++;
	f->request_us += line->dur;
	mark_waiting(pass, line->ts, line->dur);
	if (!line->is_open)
		return;
	f->opens++;
	epochs_access(&pass->epochs, file, line->ts - f->first);
	epochs_open(&pass->epochs);
}

static void add_line(struct figures_pass *pass, const struct trace_line *line)
{
	struct figures *f = pass->f;
	uint32_t file;

	if (!figures_have(f, line))
		return;
	file = trace_files_find(&f->files, line->file);
	if (line->kind == LINE_READ)
		add_read(pass, line, file);
	if (line->kind == LINE_STORAGE)
		add_storage(pass, line, file);
	if (line->kind == LINE_REQUEST)
		add_request(pass, line, file);
	if (line->kind == LINE_PUSH) {
		f->pushed += bytes_of(line);
		bucket_at(f, line->ts)->pushed += bytes_of(line);
	}
	if (line->kind == LINE_DECODE) {
		f->decodes++;
		f->decode_us += line->dur;
	}
}

/* ---- Both ---- */

static int read_lines(struct figures_pass *pass, const struct source *trace,
		      void (*use)(struct figures_pass *pass, const struct trace_line *line))
{
	struct trace_text *text = trace_text_new(trace);
	const char *bytes;
	size_t size;
	int more;

	if (!text)
		return -ENOMEM;
	pass->f->unknown_lines = 0;
	while ((more = trace_text_line(text, &bytes, &size)) > 0) {
		struct trace_line line;

		if (trace_line_parse(bytes, size, &line))
			use(pass, &line);
		else
			pass->f->unknown_lines += size > 1; /* "[" and "]" are known */
	}
	pass->f->cut = trace_text_is_cut(text);
	trace_text_free(text);
	return more;
}

static void finish_pass(struct figures_pass *pass)
{
	struct figures *f = pass->f;
	uint64_t waited = 0, span = f->last - f->first;
	int64_t full = 0;

	for (size_t i = 0; i < BUSY_SLOTS; i++) {
		full += pass->whole[i];
		waited += full > 0 ? pass->slot_us : pass->busy[i];
	}
	f->waiting_permille = span ? waited * 1000 / span : 0;
	if (f->waiting_permille > 1000)
		f->waiting_permille = 1000;
	f->epoch_count = pass->epochs.count;
}

static int fail(const struct source *trace, int err, struct error *e)
{
	const char *path = source_path(trace);

	if (err == -ENOMEM)
		return error_no_memory(e, path);
	if (err == -ENOSYS)
		return error_set(e, ERROR_SYSTEM, ENOSYS, "%s is compressed, and this granaryfs "
				 "was built without " NEEDS_ZLIB, path);
	return error_set(e, ERROR_SYSTEM, -err, "%s: %s", path, strerror(-err));
}

static int read_both(struct figures_pass *pass, const struct source *trace, struct error *e)
{
	struct figures *f = pass->f;
	int err = read_lines(pass, trace, note_line);

	if (!err && !f->events)
		return error_set(e, ERROR_DATASET, EBADMSG, "%s has no event of a trace: granaryfs "
				 "writes one with -o trace=FILE.pfw.gz", source_path(trace));
	pass->slot_us = (f->last - f->first) / BUSY_SLOTS + 1;
	if (!err)
		err = read_lines(pass, trace, add_line);
	if (err)
		return fail(trace, err, e);
	finish_pass(pass);
	return 0;
}

int figures_read(const struct source *trace, struct figures **out, struct error *e)
{
	struct figures *f = calloc(1, sizeof(*f));
	struct figures_pass pass = { .f = f, .busy = calloc(BUSY_SLOTS, sizeof(uint32_t)),
				     .whole = calloc(BUSY_SLOTS, sizeof(int64_t)) };
	int err;

	if (!f || !pass.busy || !pass.whole) {
		free(f);
		free(pass.busy);
		free(pass.whole);
		return error_no_memory(e, source_path(trace));
	}
	epochs_begin(&pass.epochs, &f->files, f->epochs);
	err = read_both(&pass, trace, e);
	free(pass.busy);
	free(pass.whole);
	if (err) {
		figures_free(f);
		return err;
	}
	*out = f;
	return 0;
}

void figures_free(struct figures *f)
{
	if (!f)
		return;
	trace_files_free(&f->files);
	free(f->dataset);
	free(f->mountpoint);
	free(f);
}

static double mean_us(const struct shard *shard)
{
	return shard->reads ? (double)shard->time_us / (double)shard->reads : 0;
}

uint32_t figures_slowest(const struct figures *f, struct shard out[SHARDS_SHOWN])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < f->shard_count; i++) {
		uint32_t at = count < SHARDS_SHOWN ? count++ : SHARDS_SHOWN;

		while (at > 0 && mean_us(&out[at - 1]) < mean_us(&f->shards[i])) {
			if (at < SHARDS_SHOWN)
				out[at] = out[at - 1];
			at--;
		}
		if (at < SHARDS_SHOWN)
			out[at] = f->shards[i];
	}
	return count;
}
