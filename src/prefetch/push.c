#include "prefetch/push.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "stats/stats.h"
#include "tree/tree.h"
#include "util/cleanup.h"

enum {
	FETCHES_BESIDE = 2,    /* reads ahead while somebody waits */
	YIELD_NS = 200 * 1000,
	YIELDS_MOST = 100,
	STORE_MOST = 1 << 20,  /* at a time; a multiple of a page */
};

/* What somebody waits for goes first, but not for ever. */
static void yield_to_demand(const struct pusher *p)
{
	const struct timespec pause = { .tv_nsec = YIELD_NS };

	for (int i = 0; i < YIELDS_MOST && atomic_load(&p->demand) > 0 &&
			atomic_load(&p->fetching) >= FETCHES_BESIDE; i++)
		nanosleep(&pause, NULL);
}

/* One piece of a file: 0, or why the kernel has not got it. */
static int pass_piece(struct pusher *p, uint32_t node, uint64_t offset, uint64_t length,
		      char *buffer)
{
	ssize_t n = dataset_read(p->dataset, node, buffer, (size_t)length, offset);
	int err;

	if (n < 0)
		return -EIO;
	err = p->sink->store(p->sink->context, node, offset, buffer, (size_t)n);
	if (!err)
		stats_add(COUNTER_pushed_bytes, (uint64_t)n);
	return err;
}

/* From one offset to another. */
static int pass_on(struct pusher *p, uint32_t node, uint64_t from, uint64_t to, char *buffer)
{
	int err = 0;

	while (!err && from < to) {
		uint64_t n = to - from < STORE_MOST ? to - from : STORE_MOST;

		err = pass_piece(p, node, from, n, buffer);
		from += n;
	}
	if (err == -ENOENT)
		stats_add(COUNTER_push_unknown, 1);
	return err;
}

/* A file, or a piece of one; false: it is to be kept here. */
static bool do_file(struct pusher *p, uint32_t node, uint64_t from, uint64_t length,
		    char *buffer)
{
	struct tree_stat st;
	uint64_t to;
	int err;

	if (tree_stat(dataset_tree(p->dataset), node, &st) < 0 || from >= st.size)
		return true;
	to = length && st.size - from > length ? from + length : st.size;
	err = pass_on(p, node, from, to, buffer);
	if (!err && to == st.size && ledger_hold(p->ledger, node, st.size))
		stats_add(COUNTER_pushed_files, 1);
	return err != -ENOENT;
}

static bool do_files(struct pusher *p, unsigned worker, const struct order *order,
		     uint32_t block, char *buffer)
{
	const struct block_files *files = &order->files[block];
	uint32_t count = files->count ? files->count : 1;
	bool done = true;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = order->nodes[files->first + i];

		if (ledger_holds(p->ledger, node))
			continue;
		ledger_begin_file(p->ledger, worker, node);
		if (files->count)
			done &= do_file(p, node, 0, 0, buffer);
		else
			done &= do_file(p, node, order_piece(order, block), VOLUME_BLOCK,
					buffer);
		ledger_end_file(p->ledger, worker);
	}
	return done;
}

static bool is_held(const struct pusher *p, const struct order *order, uint32_t block)
{
	const struct block_files *files = &order->files[block];

	for (uint32_t i = 0; i < files->count || i == 0; i++) {
		if (!ledger_holds(p->ledger, order->nodes[files->first + i]))
			return false;
	}
	return true;
}

static struct cache_pin *stage(struct pusher *p, const struct order *order, uint32_t block)
{
	const struct volume_span *span = &order->blocks[block];
	struct cache_pin *pin = NULL;

	if (span->start == span->end)
		return NULL;
	yield_to_demand(p);
	atomic_fetch_add(&p->fetching, 1);
	/* what cannot be read so is read file by file, which says what is wrong */
	if (dataset_stage(p->dataset, block, &pin) < 0)
		pin = NULL;
	atomic_fetch_sub(&p->fetching, 1);
	return pin;
}

bool pusher_run(struct pusher *p, unsigned worker, const struct order *order,
		uint32_t block)
{
	CLEANUP(cleanup_free) char *buffer = p->sink ? malloc(STORE_MOST) : NULL;
	struct cache_pin *pin;
	bool done;

	if (is_held(p, order, block))
		return false;
	pin = stage(p, order, block);
	done = buffer && do_files(p, worker, order, block, buffer);
	if (pin)
		dataset_unstage(p->dataset, pin, done);
	return !done;
}

/* Has the block that begins or goes on here in the cache: where it ends; 0: failed. */
static uint64_t stage_at(struct pusher *p, const struct order *order, uint32_t source,
			 uint64_t at)
{
	struct cache_pin *pin;
	uint32_t block;
	int err;

	if (order && dataset_find_block(p->dataset, source, at, &block)) {
		pin = is_held(p, order, block) ? NULL : stage(p, order, block);
		if (pin)
			dataset_unstage(p->dataset, pin, false);
		return order->blocks[block].end;
	}
	yield_to_demand(p);
	err = dataset_stage_aligned(p->dataset, source, at / VOLUME_BLOCK, &pin);
	if (err)
		return 0; /* the end of the packed file, mostly */
	dataset_unstage(p->dataset, pin, false);
	return (at / VOLUME_BLOCK + 1) * VOLUME_BLOCK;
}

void pusher_stage(struct pusher *p, const struct order *order,
		  const struct policy_range *range)
{
	uint64_t at = range->start;

	while (at && at < range->end)
		at = stage_at(p, order, range->source, at);
}
