/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/push_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "index/tree.h"
#include "os/bounded.h"
#include "prefetch/sweep.h"
#include "stats/stats.h"
#include "trace/trace.h"

enum {
	FETCHES_AT_ONCE = 2,   /* blocks read ahead while a request waits */
	YIELD_NS = 200 * 1000,
	YIELDS_MOST = 100,
	FIRST_READS = 64,      /* a reader's first reads have the storage alone */
	FIRST_MS = 20,         /* unless it pauses */
};

bool pusher_count_request(struct pusher *p, int64_t now)
{
	atomic_store(&p->asked_at, now);
	return atomic_fetch_add(&p->asked, 1) < FIRST_READS;
}

/* Has a reader just begun? Then it has the storage alone. */
static bool is_beginning(const struct pusher *p)
{
	uint64_t asked = atomic_load(&p->asked);

	return asked > 0 && asked < FIRST_READS &&
	       bounded_now() - atomic_load(&p->asked_at) < FIRST_MS;
}

/* Does a request wait while enough blocks are being read ahead? */
static bool delays_demand(const struct pusher *p)
{
	return atomic_load(&p->demand) > 0 &&
		atomic_load(&p->fetching) >= FETCHES_AT_ONCE;
}

int pusher_prepare(struct pusher *p, const struct order *order)
{
	size_t count = (size_t)order->block_count + 1;

	p->passed = calloc(count, sizeof(*p->passed));
	p->is_passed = calloc(count, sizeof(*p->is_passed));
	p->blocks = order->block_count;
	return p->passed && p->is_passed ? 0 : -ENOMEM;
}

void pusher_clear_pieces(struct pusher *p, const struct order *order)
{
	pusher_clear_file(p, 0, (uint64_t)order->block_count * VOLUME_BLOCK);
}

void pusher_clear_file(struct pusher *p, uint32_t first, uint64_t size)
{
	uint64_t count = (size + VOLUME_BLOCK - 1) / VOLUME_BLOCK;

	for (uint64_t i = first; i < first + count && i < p->blocks; i++) {
		atomic_store_explicit(&p->passed[i], 0, memory_order_relaxed);
		atomic_store_explicit(&p->is_passed[i], false, memory_order_relaxed);
	}
}

/* Requests go first, but not for ever. */
static void yield_to_demand(const struct pusher *p, bool sweeping)
{
	const struct timespec pause = { .tv_nsec = YIELD_NS };

	for (int i = 0; i < YIELDS_MOST &&
			(delays_demand(p) || (sweeping && is_beginning(p))); i++)
		nanosleep(&pause, NULL);
}

/* The block being pushed. */
struct push_block {
	const struct volume_span *span;
	const struct cache_pin *pin; /* NULL: not staged */
	char *buffer;
};

static bool lies_within(const struct volume_span *span, const struct volume_span *part)
{
	return part->source == span->source && part->start >= span->start &&
	       part->end <= span->end;
}

/*
 * Bytes from the block if it has them plain and their checksum matches; otherwise a
 * checked read into the buffer.
 */
static ssize_t get_piece(const struct pusher *p, const struct push_block *b,
			 uint32_t node, uint64_t offset, uint64_t length,
			 const char **out)
{
	struct read_context context = { .hint = READ_AHEAD };
	struct volume_span stored;
	bool as_is;

	if (b->pin && dataset_stored(p->dataset, node, offset, length, &stored, &as_is) &&
	    as_is && lies_within(b->span, &stored)) {
		*out = (const char *)cache_data(b->pin) + (stored.start - b->span->start);
		if (dataset_sum_matches(p->dataset, node, *out, (size_t)length, offset))
			return (ssize_t)length;
	}
	*out = b->buffer;
	return dataset_read(p->dataset, node, b->buffer, (size_t)length, offset, &context);
}

static void trace_push(uint32_t node, uint64_t offset, size_t size, uint64_t begin, int err)
{
	trace_add(&(struct trace_event){
		.kind = TRACE_PUSH, .begin = begin, .took = stats_clock() - begin,
		.subject = node, .offset = offset, .size = size,
		.result = err ? err : (int64_t)size,
	});
}

/* Pushes one piece of a file: 0, or a negative errno. */
static int push_piece(const struct pusher *p, const struct push_block *b, uint32_t node,
		      uint64_t offset, uint64_t length)
{
	const char *bytes;
	ssize_t n = get_piece(p, b, node, offset, length, &bytes);
	uint64_t begin = trace_is_on() ? stats_clock() : 0;
	int err;

	if (n < 0)
		return -EIO; /* a request will repeat the read and report the error */
	err = p->sink->store(p->sink->context, node, offset, bytes, (size_t)n);
	if (trace_is_on())
		trace_push(node, offset, (size_t)n, begin, err);
	if (!err)
		stats_add(COUNTER_pushed_bytes, (uint64_t)n);
	return err;
}

/* Pushes [from, to). */
static int push_range(const struct pusher *p, const struct push_block *b, uint32_t node,
		      uint64_t from, uint64_t to)
{
	int err = 0;

	while (!err && from < to) {
		uint64_t n = to - from < PUSH_PIECE ? to - from : PUSH_PIECE;

		err = push_piece(p, b, node, from, n);
		from += n;
	}
	if (err == -ENOENT)
		stats_add(COUNTER_push_unknown, 1);
	return err;
}

/* Marks a piece as cached: true if it completes its file. */
static bool completes(struct pusher *p, uint32_t first, uint64_t piece, uint64_t size)
{
	if (first + piece >= p->blocks || atomic_exchange(&p->is_passed[first + piece], true))
		return false;
	return atomic_fetch_add(&p->passed[first], 1) + 1 ==
	       (size + VOLUME_BLOCK - 1) / VOLUME_BLOCK;
}

/* A read of a piece's end counts as all of it: files are mostly read front to back. */
bool pusher_note_read(struct pusher *p, uint32_t first, uint64_t offset, uint64_t length,
		      uint64_t size)
{
	uint64_t end = offset + length;
	bool all = false;

	for (uint64_t piece = offset / VOLUME_BLOCK; piece * VOLUME_BLOCK < end; piece++) {
		uint64_t last = (piece + 1) * VOLUME_BLOCK;

		if ((last < size ? last : size) <= end)
			all |= completes(p, first, piece, size);
	}
	return all;
}

/* Does the kernel know the file? What is read for another cannot be pushed. */
static bool is_known(const struct pusher *p, uint32_t node)
{
	return p->sink && p->sink->knows(p->sink->context, node);
}

/* Pushes a file, or a piece of one; false: keep it in the dataset's cache. */
static bool push_file(struct pusher *p, const struct order *order, uint32_t block,
		      uint32_t node, const struct push_block *b)
{
	bool whole = order->files[block].count > 0;
	uint64_t from = whole ? 0 : order_piece(order, block), to;
	struct tree_stat st;
	int err;

	if (tree_stat(dataset_tree(p->dataset), node, &st) < 0 || from >= st.size)
		return true;
	if (!is_known(p, node)) {
		stats_add(COUNTER_push_unknown, 1);
		return false;
	}
	to = !whole && st.size - from > VOLUME_BLOCK ? from + VOLUME_BLOCK : st.size;
	err = push_range(p, b, node, from, to);
	if (!err && (whole || completes(p, block - (uint32_t)(from / VOLUME_BLOCK),
					from / VOLUME_BLOCK, st.size)) &&
	    ledger_mark_cached(p->ledger, node, st.size))
		stats_add(COUNTER_pushed_files, 1);
	return err != -ENOENT;
}

bool pusher_push_file(struct pusher *p, struct push_worker *worker, uint32_t node)
{
	const struct push_block b = { .buffer = worker->buffer };
	struct tree_stat st;
	int err;

	if (!b.buffer || tree_stat(dataset_tree(p->dataset), node, &st) < 0)
		return false;
	ledger_begin_file(p->ledger, worker->number, node);
	err = push_range(p, &b, node, 0, st.size);
	if (!err && ledger_mark_cached(p->ledger, node, st.size))
		stats_add(COUNTER_pushed_files, 1);
	ledger_end_file(p->ledger, worker->number);
	return !err;
}

static bool push_files(struct pusher *p, unsigned worker, const struct order *order,
		       uint32_t block, const struct push_block *b)
{
	const struct block_files *files = &order->files[block];
	uint32_t count = files->count ? files->count : 1;
	bool done = true;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = order->nodes[files->first + i];

		if (ledger_is_cached(p->ledger, node))
			continue;
		ledger_begin_file(p->ledger, worker, node);
		done &= push_file(p, order, block, node, b);
		ledger_end_file(p->ledger, worker);
	}
	return done;
}

/* `sweeping`: no reader is near the block. */
static struct cache_pin *push_blocks_stage(struct pusher *p, const struct order *order,
					   uint32_t block, bool sweeping)
{
	const struct volume_span *span = &order->blocks[block];
	struct cache_pin *pin = NULL;

	if (span->start == span->end)
		return NULL;
	yield_to_demand(p, sweeping);
	atomic_fetch_add(&p->fetching, 1);
	/* on an error the files are read one by one, which reports it */
	if (dataset_stage(p->dataset, block, &pin) < 0)
		pin = NULL;
	atomic_fetch_sub(&p->fetching, 1);
	return pin;
}

/*
 * Is the block to be read as one? Not where its files are decoded already, nor where it is
 * larger than a block of several chunks ever is: one chunk's bytes are read at once anyway,
 * unless they are only kept.
 */
static bool is_staged(const struct pusher *p, const struct order *order, uint32_t block)
{
	const struct volume_span *span = &order->blocks[block];
	const struct block_files *files = &order->files[block];

	for (uint32_t i = 0; i < files->count || i == 0; i++) {
		uint32_t node = order->nodes[files->first + i];

		if (ledger_is_cached(p->ledger, node) || dataset_is_decoded(p->dataset, node))
			continue;
		return span->end - span->start <= VOLUME_BLOCK || !is_known(p, node);
	}
	return false;
}

bool pusher_run(struct pusher *p, struct push_worker *worker, const struct order *order,
		uint32_t block)
{
	struct push_block b = { .span = &order->blocks[block], .buffer = worker->buffer };
	struct cache_pin *pin;
	bool done;

	if (sweep_block_is_cached(p->ledger, order, block))
		return false;
	b.pin = pin = is_staged(p, order, block) ? push_blocks_stage(p, order, block, true) :
						  NULL;
	done = b.buffer && push_files(p, worker->number, order, block, &b);
	if (pin)
		dataset_unstage(p->dataset, pin, done);
	return !done;
}

/* No file has bytes between blocks, so these are not read. */
static void stage_blocks(struct pusher *p, const struct order *order,
			 const struct policy_range *range)
{
	uint32_t block;

	dataset_find_block(p->dataset, range->source, range->start, &block);
	for (; block < order->block_count && order->blocks[block].source == range->source &&
	       order->blocks[block].start < range->end; block++) {
		struct cache_pin *pin = NULL;

		if (!sweep_block_is_cached(p->ledger, order, block))
			pin = push_blocks_stage(p, order, block, false);
		if (pin)
			dataset_unstage(p->dataset, pin, false);
	}
}

static void stage_aligned(struct pusher *p, const struct policy_range *range)
{
	uint64_t last = (range->end - 1) / VOLUME_BLOCK;

	for (uint64_t number = range->start / VOLUME_BLOCK; number <= last; number++) {
		struct cache_pin *pin;

		yield_to_demand(p, false);
		if (dataset_stage_aligned(p->dataset, range->source, number, &pin) < 0)
			return; /* usually the end of the packed file */
		dataset_unstage(p->dataset, pin, false);
	}
}

void pusher_stage(struct pusher *p, const struct order *order,
		  const struct policy_range *range)
{
	if (order)
		stage_blocks(p, order, range);
	else
		stage_aligned(p, range);
}
