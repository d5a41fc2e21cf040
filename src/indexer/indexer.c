/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "indexer/indexer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "build/findings.h"
#include "indexer/jobs.h"
#include "indexer/label_pairs.h"
#include "indexer/stream_jobs.h"
#include "os/processors.h"
#include "samples/webdataset.h"
#include "source/parts.h"

/* Eight nested tars are an attack. */
enum {
	NESTING_LIMIT = 8,
	THREADS_LEAST = 8,
	THREADS_MOST = 64,
	LABEL_BYTES = 512, /* hostile paths of files inside are a MiB */
	LABEL_HALF = 250,  /* of each of its two names */
};

/* A tar or a zip may be a shard of WebDataset; a nested one stays as it is. */
static int indexer_add_samples(struct job *job, struct error *e)
{
	const struct indexer_config *config = job->indexer->config;
	struct webdataset_config wanted = { .classes = config->view == VIEW_CLASS,
					    .sidecars = config->formats.sidecars,
					    .labels = job->rows.labels,
					    .split = job->rows.split,
					    .findings = &job->findings };

	if (job->depth || (strcmp(job->format->name, "tar") != 0 &&
			   strcmp(job->format->name, "zip") != 0) ||
	    (config->view != VIEW_AUTO && config->view != VIEW_CLASS))
		return 0;
	return webdataset_make_samples(&job->scan, &wanted, e);
}

static int read_head(const struct scan *scan, unsigned char *head, size_t *n)
{
	*n = scan->length < FORMAT_HEAD_BYTES ? (size_t)scan->length : FORMAT_HEAD_BYTES;
	return source_pread(scan->source, head, *n, scan->base);
}

/*
 * Looks for the format of a shard, in its compressed stream if it is one. Refused as
 * before where that holds nothing that can be read.
 */
static int find_shard_format(struct job *job, struct error *e)
{
	CLEANUP(cleanup_free) unsigned char *head = malloc(FORMAT_HEAD_BYTES);
	struct scan stored = job->scan;
	size_t n;
	int err = head ? read_head(&job->scan, head, &n) : -ENOMEM;

	if (err)
		return format_unreadable(job->scan.label, err, e);
	err = stream_job_enter(job, head, n, e);
	if (err || job->format)
		return err;
	job->scan = stored;
	job->stream = NULL;
	return format_of_window(stored.source, stored.base, stored.length, stored.label,
				&job->format, e);
}

static int scan_job(struct job *job, struct error *e)
{
	int err;

	if (!job->format->appends)
		entries_forbid_duplicates(job->scan.entries);
	err = stream_job_open_labels(job, e);
	if (!err)
		err = format_scan(job->format, &job->scan, e);
	err = stream_job_end(job, err, e);
	if (!err)
		err = indexer_add_samples(job, e);
	if (!err)
		stream_job_describe(job);
	return err;
}

static int probe_and_scan(struct job *job, struct error *e)
{
	const struct scan *scan = &job->scan;
	int err = 0;

	if (!job->format && !scan->alone)
		err = format_is_blank_tar(scan->source, scan->base, scan->length);
	if (err < 0)
		return format_unreadable(scan->label, err, e);
	if (err) { /* nothing to scan */
		job->format = format_by_name("tar");
		return 0;
	}
	if (!job->format)
		err = find_shard_format(job, e);
	return err ? err : scan_job(job, e);
}

/* Fails the whole index: the error of the first shard with a fault is kept. */
static void fail_shard(struct job *shard, int err, const struct error *e)
{
	struct indexer *indexer = shard->indexer;
	uint32_t number = shard->number;
	uint32_t first = atomic_load(&indexer->failed);

	lock_acquire(&indexer->lock);
	if (!shard->result) {
		shard->result = err;
		*shard->error = *e;
	}
	lock_release(&indexer->lock);
	while (number < first &&
	       !atomic_compare_exchange_weak(&indexer->failed, &first, number))
		;
}

/*
 * A nested packed file that is damaged is shown as a file. Any other error fails the
 * index: with healthy storage or more memory the tree would be another.
 */
static void end_nested(struct job *job, int err, const struct error *e)
{
	const char *text = strstr(e->text, job->found.file); /* without its directories */

	if (err != -EBADMSG) {
		fail_shard(job->shard, err, e);
		return;
	}
	job->found.file = NULL; /* the sentence has it */
	findings_add(&job->found, FINDING_LEFT_OUT, "%s%s; it is shown as a file",
		     text ? "'" : "", text ? text : e->text);
	entries_set_failed(job->scan.entries);
}

/* The last part of a file may be missing where the format does not notice: it is named. */
static void note_missing_part(struct job *job)
{
	static const char more[] = "what may have followed is in no part that is there";
	struct error e = { 0 };

	if (job->depth || !job->scan.unended)
		return;
	snprintf(e.text, sizeof(e.text), "%s", more);
	parts_explain(job->indexer->sources->sources[job->number], &e);
	if (strcmp(e.text, more) != 0)
		findings_add(job->scan.findings, FINDING_LEFT_OUT, "%s", e.text);
}

static void run_job(void *argument)
{
	struct job *job = argument;
	struct indexer_progress *progress = job->indexer->progress;
	struct error e = { 0 };
	int err;

	/* the index fails, and a later shard's fault is not reported */
	if (job->number > atomic_load(&job->indexer->failed))
		return;
	err = probe_and_scan(job, &e);
	if (progress && job->depth == 0)
		atomic_fetch_add(&progress->done, 1);
	if (!err)
		note_missing_part(job);
	if (err == -EBADMSG && job->depth == 0)
		parts_explain(job->indexer->sources->sources[job->number], &e);
	if (err && job->depth == 0)
		fail_shard(job, err, &e);
	else if (err)
		end_nested(job, err, &e);
}

static void free_job(struct job *job)
{
	if (!job)
		return;
	samples_free(job->scan.samples);
	vec_free(&job->scan.selection);
	findings_free(&job->found);
	wds_splits_free(&job->findings.splits);
	decoded_close(job->labels);
	free(job->label);
	free(job->error);
	free(job);
}

static struct entries *offer(struct scan *scan, const char *member, uint64_t base,
			     uint64_t length);

static void indexer_advance(struct scan *scan, uint64_t bytes)
{
	struct job *job = scan->indexer;
	struct indexer_progress *progress = job->indexer->progress;

	if (job->streams)
		bytes = stream_job_passed(job);
	if (progress) {
		atomic_fetch_add_explicit(&progress->position, bytes, memory_order_relaxed);
		atomic_fetch_add_explicit(&progress->entries, 1, memory_order_relaxed);
	}
}

static struct job *new_job(struct indexer *indexer, const struct source *source,
			   uint32_t number, uint64_t base, uint64_t length)
{
	struct job *job = calloc(1, sizeof(*job));
	struct entries *entries = entries_new();
	struct samples *samples = samples_new();

	if (!job || !entries || !samples) {
		free(job);
		entries_free(entries);
		samples_free(samples);
		return NULL;
	}
	job->indexer = indexer;
	job->rows = (struct row_options){
		.labels = indexer->maps.labels ? NULL : indexer->config->formats.labels,
		.tree = indexer->config->view == VIEW_TREE,
		.arrays = indexer->config->view == VIEW_ARRAYS,
	};
	job->scan = (struct scan){
		.source = source, .source_number = number,
		.base = base, .length = length, .entries = entries, .samples = samples,
		.offer = indexer->config->nested ? offer : NULL, .indexer = job,
		.opens_npz = indexer->config->nested_npz,
		.compares = indexer->config->compares,
		.advance = indexer_advance, .open_stream = stream_job_open_member,
		.rows = &job->rows, .options = &indexer->config->formats,
		.alone = indexer->sources->count == 1,
	};
	job->scan.findings = &job->found;
	if (indexer->progress && !(number & VOLUME_ON_STREAM))
		atomic_fetch_add(&indexer->progress->total, length);
	return job;
}

/* "train.tar: n01440764.tar"; a long name keeps its end, which tells most. */
static char *nested_label(const struct scan *scan, const char *member)
{
	size_t n = strlen(member);
	char *label = malloc(LABEL_BYTES);

	if (label)
		snprintf(label, LABEL_BYTES, "%.*s: %s", LABEL_HALF, scan->label,
			 n > LABEL_HALF ? member + n - LABEL_HALF : member);
	return label;
}

/* The label without the directories of the packed file. */
static const char *own_part(const struct job *job)
{
	const char *path = source_path(job->scan.source);
	size_t directories = (size_t)(filename_of(path) - path);

	return job->label + (directories < LABEL_HALF ? directories : 0);
}

/* What a job has of its parent: names, and places. */
static int describe_nested(const struct job *parent, struct job *job, const char *member)
{
	job->depth = parent->depth + 1;
	job->shard = parent->shard;
	job->number = parent->number;
	job->streams = parent->streams;
	job->top = parent->depth ? parent->top : job->scan.base;
	if (parent->streams)
		job->scan.alone = false;
	job->label = nested_label(&parent->scan, member);
	if (!job->label)
		return -ENOMEM;
	job->scan.label = job->label;
	job->found.file = own_part(job);
	job->member = job->label + strnlen(parent->scan.label, LABEL_HALF) + strlen(": ");
	if (strncmp(job->member, "./", 2) == 0)
		job->member += 2;
	return 0;
}

static int list_nested(struct job *job)
{
	struct indexer *indexer = job->indexer;
	int err;

	lock_acquire(&indexer->lock);
	err = vec_push(&indexer->nested, job);
	lock_release(&indexer->lock);
	return err;
}

static void fail_offer(struct job *parent, const char *member, int err)
{
	struct error e;

	error_set(&e, ERROR_SYSTEM, -err, "%s: %.200s: cannot be looked into: %s",
		  parent->scan.label, member, strerror(-err));
	fail_shard(parent->shard, err, &e);
}

/*
 * The format of a member, which may be compressed: 0 and job->format, NULL where it is
 * none that nests; or an error.
 */
static int find_nested_format(struct job *job, const unsigned char *head, size_t n,
			      struct error *e)
{
	int err;

	job->format = format_probe(head, n);
	err = job->format ? 0 : stream_job_enter(job, head, n, e);
	if (err || (job->format && !job->format->nests))
		job->format = NULL;
	return err;
}

/* May the bytes be a packed file? */
static bool may_nest(const unsigned char *head, size_t n)
{
	const struct format *format = format_probe(head, n);

	return format ? format->nests : stream_kind_find(head, n) != NULL;
}

static void drop_job(struct job *job)
{
	entries_free(job->scan.entries);
	free_job(job);
}

/* Lists the job, unless it turned out to be a plain file. */
static int keep_nested(struct job *job, int err, const struct error *e, struct job **out)
{
	bool kept = job->format || err == -EBADMSG;

	if (kept && list_nested(job) == 0) {
		*out = job;
		if (err)
			end_nested(job, err, e);
		return 0;
	}
	drop_job(job);
	return kept ? -ENOMEM : err;
}

/*
 * A job for a member, if it is a packed file: 0, and *out or NULL; or an error. Without a
 * format the job has failed.
 */
static int make_nested(struct job *parent, const char *member, uint64_t base,
		       uint64_t length, struct job **out)
{
	CLEANUP(cleanup_free) unsigned char *head = malloc(FORMAT_HEAD_BYTES);
	struct scan *scan = &parent->scan;
	struct scan window = { .source = scan->source, .base = base, .length = length };
	struct job *job;
	struct error e;
	size_t n;
	int err = head ? read_head(&window, head, &n) : -ENOMEM;

	*out = NULL;
	if (err || !may_nest(head, n) || parent->depth >= NESTING_LIMIT)
		return err;
	job = new_job(parent->indexer, scan->source, scan->source_number, base, length);
	if (!job)
		return -ENOMEM;
	err = describe_nested(parent, job, member);
	if (!err)
		err = find_nested_format(job, head, n, &e);
	return keep_nested(job, err, &e, out);
}

/*
 * The format calls it in a pool thread for a member that may be a packed file. A member
 * in a stream is scanned at once, while the stream is there.
 */
static struct entries *offer(struct scan *scan, const char *member, uint64_t base,
			     uint64_t length)
{
	struct job *parent = scan->indexer, *job;
	int err = make_nested(parent, member, base, length, &job);

	if (err) {
		fail_offer(parent, member, err);
		return NULL;
	}
	if (!job)
		return NULL;
	if (job->format && parent->streams)
		run_job(job);
	else if (job->format && pool_add(parent->indexer->pool, run_job, job) < 0)
		/* the job is in the list, and freed with it */
		fail_offer(parent, member, -ENOMEM);
	return job->scan.entries;
}

static struct job *shard_job(struct indexer *indexer, uint32_t i, struct error *e)
{
	const struct source *source = indexer->sources->sources[i];
	uint64_t base = indexer->config->base, size = source_size(source);
	struct job *job;

	if (base > size) {
		error_set(e, ERROR_DATASET, EINVAL,
			  "%s: base=%llu is past its end (%llu bytes)",
			  source_path(source), (unsigned long long)base,
			  (unsigned long long)size);
		return NULL;
	}
	job = new_job(indexer, source, i, base, size - base);
	if (!job) {
		error_no_memory(e, NULL);
		return NULL;
	}
	job->scan.label = source_path(source);
	job->found.file = source_own_name(source);
	if (indexer->splits && split_of_path(job->scan.label, job->split))
		job->rows.split = job->split;
	job->shard = job;
	job->number = i;
	job->error = calloc(1, sizeof(*job->error));
	if (job->error)
		return job;
	error_no_memory(e, NULL);
	entries_free(job->scan.entries);
	free_job(job);
	return NULL;
}

static unsigned indexer_thread_count(const struct indexer_config *config)
{
	unsigned n = 4 * processors_count();

	if (config->threads)
		return config->threads;
	if (n < THREADS_LEAST)
		return THREADS_LEAST;
	return n < THREADS_MOST ? n : THREADS_MOST;
}

/* An index.json says what is in the files behind it, of its directory. */
static void join_lists(struct job **jobs, uint32_t count)
{
	const struct scan *list = NULL;
	size_t directory = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct scan *scan = &jobs[i]->scan;
		const char *name = filename_of(scan->label);

		if (strcmp(name, "index.json") == 0) {
			list = scan;
			directory = (size_t)(name - scan->label);
		} else if (list && strncmp(scan->label, list->label, directory) == 0) {
			scan->listed_in = list->source;
		}
	}
}

static int scan_shards(struct indexer *indexer, struct job **jobs, struct error *e)
{
	uint32_t count = indexer->sources->count;
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		jobs[i] = shard_job(indexer, i, e);
		if (!jobs[i])
			err = -EINVAL;
	}
	if (!err)
		join_lists(jobs, count);
	if (!err && label_pairs_join(jobs, count) < 0)
		err = error_no_memory(e, NULL);
	for (uint32_t i = 0; i < count && !err; i++)
		if (pool_add(indexer->pool, run_job, jobs[i]) < 0)
			err = error_no_memory(e, NULL);
	if (err)
		atomic_store(&indexer->failed, 0);
	pool_finish(indexer->pool);
	for (uint32_t i = 0; i < count && !err; i++) {
		err = jobs[i]->result;
		if (err)
			*e = *jobs[i]->error;
	}
	return err;
}

static void free_jobs(struct indexer *indexer, struct job **jobs)
{
	for (uint32_t i = 0; i < indexer->sources->count; i++) {
		if (jobs[i])
			entries_free(jobs[i]->scan.entries);
		free_job(jobs[i]);
	}
	free(jobs);
	/* their entries are freed with those of the shards */
	for (size_t i = 0; i < indexer->nested.count; i++)
		free_job(indexer->nested.items[i]);
	vec_free(&indexer->nested);
	stream_jobs_free(indexer);
}

static int in_order(const void *left, const void *right)
{
	const struct job *a = *(struct job *const *)left, *b = *(struct job *const *)right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->top != b->top)
		return a->top < b->top ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	if (a->scan.base != b->scan.base)
		return a->scan.base < b->scan.base ? -1 : 1;
	return strcmp(a->label, b->label);
}

/* Puts nested jobs, whose order depends on timing, into that of the sources. */
static void order_nested(struct indexer *indexer)
{
	struct job **jobs = indexer->nested.items;
	size_t n = indexer->nested.count;

	if (n)
		qsort(jobs, n, sizeof(*jobs), in_order);
	for (size_t i = 0; i < n; i++)
		if (!entries_failed(jobs[i]->scan.entries) && indexer->opened++ == 0)
			indexer->opened_first = jobs[i]->member;
}

static int run_pool(struct indexer *indexer, struct job **jobs, struct error *e)
{
	int err = pool_start(&indexer->pool, indexer_thread_count(indexer->config));

	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "no thread could be started: %s",
				 strerror(-err));
	return scan_shards(indexer, jobs, e);
}

/* What was found before something was wrong may say why: of the file that could not be read,
   or of all. */
static void tell_findings(struct indexer *indexer, struct job **jobs)
{
	uint32_t failed = atomic_load(&indexer->failed);

	for (uint32_t i = 0; i < indexer->sources->count; i++)
		if (jobs[i] && (failed == UINT32_MAX || failed == i))
			findings_join(&indexer->findings, &jobs[i]->found);
	findings_publish(&indexer->findings, NULL);
}

int indexer_run(const struct source_set *sources, const struct indexer_config *config,
		struct indexer_progress *progress, struct image *image,
		struct error *e)
{
	struct indexer indexer = { .config = config, .sources = sources,
				   .progress = progress, .failed = UINT32_MAX,
				   .splits = splits_are_several(sources),
				   .lock = LOCK_INIT };
	struct job **jobs = calloc(sources->count, sizeof(*jobs));
	int err;

	if (!jobs)
		return error_no_memory(e, NULL);
	if (progress)
		atomic_store(&progress->shards, sources->count);
	/* read before the scan, which may take hours */
	err = user_maps_read(config, &indexer.maps, &indexer.findings, e);
	if (!err)
		err = run_pool(&indexer, jobs, e);
	order_nested(&indexer);
	if (!err)
		err = indexer_assemble(&indexer, jobs, image, e);
	if (err)
		tell_findings(&indexer, jobs);
	free_jobs(&indexer, jobs);
	free(indexer.shards);
	findings_free(&indexer.findings);
	regroup_free(indexer.regroup);
	user_maps_free(&indexer.maps);
	return err;
}
