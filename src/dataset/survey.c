/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dataset/survey.h"

#include <errno.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "dataset/assembly.h"
#include "dataset/read_ahead.h"
#include "index/block_sums.h"
#include "index/checksum.h"
#include "os/lock.h"
#include "os/pool.h"
#include "os/processors.h"

enum {
	THREADS_LEAST = 4,
	THREADS_A_PROCESSOR = 2, /* threads mostly wait, unless all is in memory */
	BATCH_BYTES = 1 << 20,   /* that are read as one, */
	BATCH_FILES = 4096,
	GAP_MOST = 64 << 10,     /* between two files, too */
	NOWHERE = 0xffffffff,    /* instead of a source: the file has no stored byte */
};

#define NONE UINT64_MAX

/* A file, and the place of its first stored byte. */
struct survey_place {
	uint64_t start;
	uint32_t source;
	uint32_t node;
};

struct survey {
	struct dataset *dataset;
	const struct survey_config *config;
	struct survey_place *places;
	uint32_t count;
	struct lock lock;
	uint32_t next;           /* lock: place */
	_Atomic unsigned workers;
	_Atomic bool enough;
	_Atomic bool no_memory;
};

struct survey_worker {
	struct survey *survey;
	unsigned number;
	unsigned char *buffer; /* BATCH_BYTES */
	struct sum *sum;
	uint64_t size;         /* of the file at hand, */
	uint64_t wrong;        /* and its first stored block; NONE */
};

/* Places [first, end), read as one if the span is not empty. */
struct survey_batch {
	uint32_t first, end;
	struct volume_span span;
};

static int survey_compare(const void *a, const void *b)
{
	const struct survey_place *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static bool survey_place_of(const struct dataset *ds, uint32_t node,
			    struct survey_place *out, uint64_t *size)
{
	struct volume_span stored;
	struct tree_stat st;

	/* a file that the index cannot describe: the read returns the error */
	if (tree_stat(dataset_tree(ds), node, &st) < 0)
		st = (struct tree_stat){ .kind = TREE_FILE, .node = node };
	if (st.kind != TREE_FILE || st.node != node)
		return false;
	*size = st.size;
	*out = (struct survey_place){ node, NOWHERE, node };
	if (st.size && dataset_stored(ds, node, 0, st.size, &stored, NULL)) {
		out->start = stored.start;
		out->source = stored.source;
	}
	return true;
}

static int survey_find_places(struct survey *s)
{
	uint32_t names = tree_count(dataset_tree(s->dataset));
	struct survey_progress *progress = s->config->progress;
	uint64_t bytes = 0, size;
	bool sorted = true;

	s->places = malloc(((size_t)names + 1) * sizeof(*s->places));
	if (!s->places)
		return -ENOMEM;
	for (uint32_t node = 0; node < names; node++) {
		struct survey_place *place = &s->places[s->count];

		if (!survey_place_of(s->dataset, node, place, &size))
			continue;
		bytes += size;
		sorted &= s->count == 0 || survey_compare(place - 1, place) < 0;
		s->count++;
	}
	if (!sorted)
		qsort(s->places, s->count, sizeof(*s->places), survey_compare);
	atomic_store(&progress->all_files, s->count);
	atomic_store(&progress->all_bytes, bytes);
	return 0;
}

/* The place of a file that is stored in one piece, undecoded. */
static bool plain_span(const struct survey *s, const struct survey_place *place,
		       struct volume_span *out)
{
	struct tree_stat st;
	bool as_is;

	return place->source != NOWHERE &&
	       tree_stat(dataset_tree(s->dataset), place->node, &st) == 0 &&
	       dataset_stored(s->dataset, place->node, 0, st.size, out, &as_is) && as_is;
}

/* Does the file fit behind the batch? */
static bool survey_extend(struct survey_batch *batch, const struct volume_span *stored)
{
	struct volume_span *span = &batch->span;

	if (stored->source != span->source || stored->start < span->start ||
	    stored->start > span->end + GAP_MOST ||
	    stored->end > span->start + BATCH_BYTES)
		return false;
	if (stored->end > span->end)
		span->end = stored->end;
	return true;
}

/* False: there is none left. */
static bool survey_claim_batch(struct survey *s, struct survey_batch *out)
{
	struct volume_span stored;

	LOCK_GUARD(&s->lock);
	if (s->next >= s->count || atomic_load(&s->enough))
		return false;
	*out = (struct survey_batch){ .first = s->next, .end = s->next + 1 };
	if (plain_span(s, &s->places[s->next], &stored) &&
	    stored.end - stored.start <= BATCH_BYTES) {
		out->span = stored;
		while (out->end < s->count && out->end - out->first < BATCH_FILES &&
		       plain_span(s, &s->places[out->end], &stored) &&
		       survey_extend(out, &stored))
			out->end++;
	}
	s->next = out->end;
	return true;
}

/* ---- One file ---- */

static void survey_begin_file(struct survey_worker *w, uint64_t size)
{
	w->size = size;
	w->wrong = NONE;
}

static void survey_pass_on(struct survey_worker *w, uint32_t node, uint64_t offset,
			   const void *bytes, size_t length)
{
	const struct survey_config *config = w->survey->config;
	uint64_t wrong;

	/* one block is compared in the end, as a whole file is */
	if (w->wrong == NONE && w->size > BLOCK_BYTES &&
	    block_sums_exist(w->survey->dataset->index) &&
	    !dataset_compare(w->survey->dataset, node, bytes, length, offset, &wrong))
		w->wrong = wrong;
	if (config->ops->bytes)
		config->ops->bytes(config->context, w->number, node, offset, bytes, length);
	atomic_fetch_add_explicit(&config->progress->bytes, length, memory_order_relaxed);
}

/* Finds the wrong block. If none is, or none can be compared, the whole file may be. */
static bool is_wrong(const struct survey_worker *w, uint32_t node, uint64_t sum,
		     uint64_t *where)
{
	uint64_t wanted;

	*where = w->wrong != NONE ? w->wrong : 0;
	return w->wrong != NONE ||
	       (dataset_sum(w->survey->dataset, node, &wanted) == 0 && wanted != sum);
}

/* `fault` is NULL, or the reason for a failed read. */
static void end_file(struct survey_worker *w, uint32_t node, uint64_t sum,
		     const struct read_fault *fault)
{
	struct survey *s = w->survey;
	const struct survey_config *config = s->config;
	struct survey_file file = { node, w->size, sum, fault };
	struct read_fault mismatch;
	uint64_t where;

	if (!fault && is_wrong(w, node, sum, &where)) {
		dataset_set_mismatch(s->dataset, node, where, &mismatch);
		file.fault = &mismatch;
	}
	atomic_fetch_add_explicit(&config->progress->files, 1, memory_order_relaxed);
	if (!config->ops->file(config->context, w->number, &file))
		atomic_store(&s->enough, true);
}

/* Reads piece after piece through the dataset, which decodes and compares the bytes. */
static void read_file(struct survey_worker *w, uint32_t node)
{
	const struct dataset *ds = w->survey->dataset;
	struct read_context context = { .fault = { .err = -EIO, .source = "the index" } };
	uint64_t offset = 0;
	struct tree_stat st;
	ssize_t n = 0;

	survey_begin_file(w, 0);
	if (tree_stat(dataset_tree(ds), node, &st) < 0) {
		end_file(w, node, 0, &context.fault);
		return;
	}
	survey_begin_file(w, st.size);
	sum_begin(w->sum);
	while (offset < st.size && !atomic_load(&w->survey->enough)) {
		n = dataset_read_plain(ds, node, w->buffer, BATCH_BYTES, offset,
				       &context);
		if (n <= 0)
			break;
		sum_add(w->sum, w->buffer, (size_t)n);
		survey_pass_on(w, node, offset, w->buffer, (size_t)n);
		offset += (uint64_t)n;
	}
	end_file(w, node, sum_end(w->sum), offset < st.size ? &context.fault : NULL);
}

/* ---- Files that lie together ---- */

static bool read_span(struct survey_worker *w, const struct volume_span *span)
{
	return span->start < span->end &&
	       source_pread(w->survey->dataset->sources.sources[span->source], w->buffer,
			    (size_t)(span->end - span->start), span->start) == 0;
}

static void do_batch(struct survey_worker *w, const struct survey_batch *batch)
{
	const struct survey *s = w->survey;
	bool read = read_span(w, &batch->span);

	for (uint32_t i = batch->first; i < batch->end && !atomic_load(&s->enough); i++) {
		uint32_t node = s->places[i].node;
		struct volume_span stored;
		const unsigned char *bytes;
		size_t size;

		/* one by one, to find those that cannot be read */
		if (!read || !plain_span(s, &s->places[i], &stored) ||
		    stored.start < batch->span.start || stored.end > batch->span.end) {
			read_file(w, node);
			continue;
		}
		bytes = w->buffer + (stored.start - batch->span.start);
		size = (size_t)(stored.end - stored.start);
		survey_begin_file(w, size);
		survey_pass_on(w, node, 0, bytes, size);
		end_file(w, node, sum_of(bytes, size), NULL);
	}
}

static void run(void *argument)
{
	struct survey *s = argument;
	struct survey_worker w = {.survey = s,
				  .number = atomic_fetch_add(&s->workers, 1),
				  .buffer = malloc(BATCH_BYTES),
				  .sum = sum_new()};
	struct survey_batch batch;

	if (!w.buffer || !w.sum)
		atomic_store(&s->no_memory, true);
	else
		while (survey_claim_batch(s, &batch))
			do_batch(&w, &batch);
	free(w.buffer);
	sum_free(w.sum);
}

static unsigned survey_thread_count(const struct survey_config *config)
{
	unsigned n = config->threads;

	if (!n)
		n = THREADS_A_PROCESSOR * processors_count();
	if (!config->threads && n < THREADS_LEAST)
		n = THREADS_LEAST;
	return n < SURVEY_THREADS_MOST ? n : SURVEY_THREADS_MOST;
}

int survey_run(struct dataset *ds, const struct survey_config *config)
{
	struct survey s = { .dataset = ds, .config = config, .lock = LOCK_INIT };
	struct pool *pool;
	unsigned threads;
	int err = survey_find_places(&s);

	HANDLE_CHECK(ds, HANDLE_DATASET);
	for (uint32_t i = 0; i < ds->sources.count; i++)
		source_hint(ds->sources.sources[i], HINT_STREAM, 0, 0);
	if (!err)
		err = pool_start(&pool, survey_thread_count(config));
	if (!err) {
		threads = pool_threads(pool);
		for (unsigned i = 0; i < threads && !err; i++)
			err = pool_add(pool, run, &s);
		pool_finish(pool);
		/* the threads that started did all the work, unless none could */
		if (s.next < s.count && atomic_load(&s.no_memory))
			err = -ENOMEM;
	}
	free(s.places);
	return err;
}
