#include "indexer/indexer.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "util/cleanup.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/pool.h"

/* A tar in a tar in a tar is plausible; eight of them is an attack. */
enum { NESTING_LIMIT = 8, THREADS_LEAST = 8, THREADS_MOST = 64 };

/* One window to scan: a shard, or a packed file inside one. */
struct job {
	struct scan scan; /* scan.indexer points back here */
	struct indexer *indexer;
	const struct format *format; /* of a shard: found when the job runs */
	char *label;      /* owned */
	int depth;        /* 0: a shard */
	int result;
	struct error error;
};

struct indexer {
	const struct indexer_config *config;
	const struct source_set *sources;
	struct indexer_progress *progress;
	struct pool *pool;
	_Atomic uint32_t failed;  /* the first shard that could not be read */
	struct lock lock;
	VEC(struct job *) nested; /* lock; freed at the end */
};

static int probe_and_scan(struct job *job)
{
	const struct scan *scan = &job->scan;
	int err = 0;

	if (!job->format)
		err = format_of_window(scan->source, scan->base, scan->length,
				       scan->label, &job->format, &job->error);
	return err ? err : job->format->scan(&job->scan, &job->error);
}

static void note_failure(struct indexer *indexer, uint32_t shard)
{
	uint32_t first = atomic_load(&indexer->failed);

	while (shard < first &&
	       !atomic_compare_exchange_weak(&indexer->failed, &first, shard))
		;
}

static void run_job(void *argument)
{
	struct job *job = argument;
	struct indexer_progress *progress = job->indexer->progress;

	/* there will be no index, and what is behind cannot be the first fault */
	if (job->scan.source_number > atomic_load(&job->indexer->failed))
		return;
	job->result = probe_and_scan(job);
	if (progress && job->depth == 0)
		atomic_fetch_add(&progress->done, 1);
	if (job->result == 0)
		return;
	if (job->depth == 0) {
		note_failure(job->indexer, job->scan.source_number);
		return;
	}
	log_warn("%s; it is shown as a file", job->error.text);
	entries_set_failed(job->scan.entries);
}

static void free_job(struct job *job)
{
	if (!job)
		return;
	free(job->label);
	free(job);
}

static struct entries *offer(struct scan *scan, const char *member, uint64_t base,
			     uint64_t length);

static void advance(struct scan *scan, uint64_t bytes)
{
	struct job *job = scan->indexer;
	struct indexer_progress *progress = job->indexer->progress;

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

	if (!job || !entries) {
		free(job);
		entries_free(entries);
		return NULL;
	}
	job->indexer = indexer;
	job->scan = (struct scan){
		.source = source, .source_number = number,
		.base = base, .length = length, .entries = entries,
		.offer = indexer->config->nested ? offer : NULL, .indexer = job,
		.advance = advance,
	};
	if (indexer->progress)
		atomic_fetch_add(&indexer->progress->total, length);
	return job;
}

static const struct format *nested_format(const struct scan *scan, uint64_t base,
					  uint64_t length)
{
	CLEANUP(cleanup_free) unsigned char *head = malloc(FORMAT_HEAD_BYTES);
	size_t n = length < FORMAT_HEAD_BYTES ? (size_t)length : FORMAT_HEAD_BYTES;

	if (!head || source_pread(scan->source, head, n, base) < 0)
		return NULL;
	return format_probe(head, n);
}

/* Called by a format, in a pool thread: a member that may be a packed file. */
static struct entries *offer(struct scan *scan, const char *member, uint64_t base,
			     uint64_t length)
{
	struct job *parent = scan->indexer;
	struct indexer *indexer = parent->indexer;
	const struct format *format = nested_format(scan, base, length);
	struct job *job;
	int err;

	if (!format || parent->depth >= NESTING_LIMIT)
		return NULL;
	job = new_job(indexer, scan->source, scan->source_number, base, length);
	if (!job)
		return NULL;
	job->format = format;
	job->depth = parent->depth + 1;
	if (asprintf(&job->label, "%s: %s", scan->label, member) < 0)
		job->label = NULL;
	job->scan.label = job->label ? job->label : scan->label;
	lock_take(&indexer->lock);
	err = vec_push(&indexer->nested, job);
	lock_drop(&indexer->lock);
	if (!err && pool_add(indexer->pool, run_job, job) < 0)
		entries_set_failed(job->scan.entries);
	if (!err)
		return job->scan.entries;
	entries_free(job->scan.entries);
	free_job(job);
	return NULL;
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
		error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
		return NULL;
	}
	job->scan.label = source_path(source);
	return job;
}

static unsigned thread_count(const struct indexer_config *config)
{
	cpu_set_t cpus;
	unsigned n = THREADS_LEAST;

	if (config->threads)
		return config->threads;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		n = 4 * (unsigned)CPU_COUNT(&cpus);
	if (n < THREADS_LEAST)
		return THREADS_LEAST;
	return n < THREADS_MOST ? n : THREADS_MOST;
}

static int scan_shards(struct indexer *indexer, struct job **jobs, struct error *e)
{
	uint32_t count = indexer->sources->count;
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		jobs[i] = shard_job(indexer, i, e);
		if (!jobs[i])
			err = -EINVAL;
		else if (pool_add(indexer->pool, run_job, jobs[i]) < 0)
			err = error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	}
	if (err)
		note_failure(indexer, 0);
	pool_finish(indexer->pool);
	for (uint32_t i = 0; i < count && !err; i++) {
		err = jobs[i]->result;
		if (err)
			*e = jobs[i]->error;
	}
	return err;
}

static void default_attributes(const struct source_set *sources,
			       struct builder_defaults *out)
{
	const struct source_owner *owner = source_owner(sources->sources[0]);

	*out = (struct builder_defaults){ 0755, owner->uid, owner->gid, owner->mtime,
					  owner->mtime_ns };
}

/* The file's own name: enough for a message, and the same wherever it lies. */
static const char *own_name(const struct source *source)
{
	const char *slash = strrchr(source_path(source), '/');

	return slash ? slash + 1 : source_path(source);
}

static int describe_sources(const struct source_set *sources,
			    struct builder_source *out, struct error *e)
{
	CLEANUP(cleanup_free) struct identity *ids =
		calloc(sources->count, sizeof(*ids));
	int err;

	if (!ids)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	err = source_set_identify(sources, ids, e);
	for (uint32_t i = 0; i < sources->count && !err; i++)
		out[i] = (struct builder_source){ ids[i], own_name(sources->sources[i]) };
	return err;
}

static int seal(struct indexer *indexer, struct builder *builder, struct job **jobs,
		uint64_t left_out, struct image *image, struct error *e)
{
	const struct source_set *sources = indexer->sources;
	CLEANUP(cleanup_free) struct builder_source *described =
		calloc(sources->count, sizeof(*described));
	struct index_summary summary = { .left_out = left_out };
	int err;

	if (!described)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	snprintf(summary.format, sizeof(summary.format), "%s", jobs[0]->format->name);
	snprintf(summary.options, sizeof(summary.options), "%s",
		 indexer->config->options ? indexer->config->options : "");
	err = describe_sources(sources, described, e);
	if (err)
		return err;
	return builder_seal(builder, described, sources->count, &summary, image, e);
}

static int build(struct indexer *indexer, struct job **jobs, struct image *image,
		 struct error *e)
{
	struct builder_defaults defaults;
	struct builder *builder;
	uint64_t left_out = 0;
	int err = 0;

	default_attributes(indexer->sources, &defaults);
	builder = builder_new(indexer->config->duplicates, &defaults);
	if (!builder)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < indexer->sources->count && !err; i++) {
		err = builder_apply(builder, jobs[i]->scan.entries,
				    jobs[i]->scan.label, e);
		left_out += entries_left_out(jobs[i]->scan.entries);
		entries_free(jobs[i]->scan.entries); /* they may be gigabytes */
		jobs[i]->scan.entries = NULL;
	}
	if (!err)
		err = seal(indexer, builder, jobs, left_out, image, e);
	builder_free(builder);
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
	/* their entries belonged to the entries of the shards */
	for (size_t i = 0; i < indexer->nested.count; i++)
		free_job(indexer->nested.items[i]);
	vec_free(&indexer->nested);
}

int indexer_run(const struct source_set *sources, const struct indexer_config *config,
		struct indexer_progress *progress, struct image *image,
		struct error *e)
{
	struct indexer indexer = { .config = config, .sources = sources,
				   .progress = progress, .failed = UINT32_MAX,
				   .lock = LOCK_INIT };
	struct job **jobs = calloc(sources->count, sizeof(*jobs));
	int err;

	if (!jobs)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	if (progress)
		atomic_store(&progress->shards, sources->count);
	err = pool_start(&indexer.pool, thread_count(config));
	if (err)
		error_set(e, ERROR_SYSTEM, -err, "no thread could be started: %s",
			  strerror(-err));
	else
		err = scan_shards(&indexer, jobs, e);
	if (!err)
		err = build(&indexer, jobs, image, e);
	free_jobs(&indexer, jobs);
	return err;
}
