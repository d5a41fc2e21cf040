/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prefetch.c: the threads. Each does the most urgent work: files to drop, a window ahead
 * of a stream, a block of the sweep; without work it sleeps.
 */
#include "prefetch/prefetch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/ring.h"
#include "os/bounded.h"
#include "os/lock.h"
#include "os/pages.h"
#include "os/pool.h"
#include "os/processors.h"
#include "prefetch/drops.h"
#include "prefetch/neighbours.h"
#include "prefetch/notes.h"
#include "prefetch/pace.h"
#include "prefetch/push_blocks.h"
#include "prefetch/room.h"
#include "prefetch/sweep.h"
#include "stats/stats.h"

enum {
	THREADS_LEAST = 4,
	THREADS_MOST = 16,
	CRASHES_MOST = 3,        /* after these crashes read-ahead stops */
	WINDOW_PIECE = 4 << 20,  /* read by one thread at once */
	LATER_MS = 50,           /* until readers or drops are checked again */
	READERS_MS = 1000,       /* after a read, readers are being served */
	NEAR_ROOM = 256,
};

struct prefetch {
	struct pusher pusher;
	struct prefetch_config config;
	struct order order;      /* set before `ordered` */
	_Atomic bool ordered;    /* `order` is valid */
	struct sweep sweep;      /* lock; set before `ordered` */
	_Atomic unsigned next_worker;
	_Atomic bool at_once;    /* the sweep needs no epoch */
	struct notes notes;
	bool wants_order;        /* lock: not for the sweep alone */
	bool ordering;           /* lock: a thread makes it */
	bool looking_up;         /* lock: a thread has the kernel look up all files */
	_Atomic bool looked_up;
	struct lock lock;
	struct policy policy;    /* lock */
	RING(uint32_t, NEAR_ROOM) near; /* lock: blocks in which a file was read */
	struct neighbours neighbours; /* lock */
	struct drops drops;      /* lock */
	struct repeat_sweep again;      /* lock */
	struct pace pace;
	struct room room;
};

/* Work of a thread. */
struct prefetch_work {
	enum { WORK_NONE, WORK_LATER, WORK_ORDER, WORK_LOOK_UP, WORK_DROP, WORK_NEIGHBOURS,
	       WORK_WINDOW, WORK_BLOCK } kind;
	struct drop drop;
	struct policy_range range;
	uint32_t block;
	struct neighbourhood around;
	bool in_haste; /* WORK_NONE: the next read may bring some at once */
};

static _Thread_local struct ledger *crash_ledger;

/* Memory. */

struct ledger *prefetch_memory_new(const struct dataset *dataset)
{
	return ledger_new(tree_count(dataset_tree(dataset)));
}

void prefetch_memory_free(struct ledger *ledger)
{
	ledger_free(ledger);
}

/* Notes of reads. */

/* The block of a file's first stored bytes; false: no order, or no such bytes. */
static bool block_of(const struct prefetch *p, uint32_t node, uint32_t *block)
{
	struct volume_span stored;

	return atomic_load(&p->ordered) &&
	       dataset_stored(p->pusher.dataset, node, 0, UINT64_MAX, &stored, NULL) &&
	       dataset_find_block(p->pusher.dataset, stored.source, stored.start, block);
}

/* Is the file's block part of the running sweep? */
static bool is_to_be_swept(const struct prefetch *p, uint32_t node)
{
	const struct ledger *ledger = p->pusher.ledger;
	uint32_t block;

	return ledger_state(ledger) == SWEEP_RUNNING &&
	       !ledger_is_cached(ledger, node) && block_of(p, node, &block) &&
	       block < ledger_end(ledger);
}

enum read_hint prefetch_read_begins(struct prefetch *p, uint32_t node)
{
	if (!p)
		return READ_EXACT;
	atomic_fetch_add(&p->pusher.demand, 1);
	if (pusher_count_request(&p->pusher, bounded_now()) || !is_to_be_swept(p, node))
		return READ_EXACT;
	return pace_is_quick(&p->pace) ? READ_SHARED : READ_BLOCK;
}

void prefetch_read_ends(struct prefetch *p, uint32_t node, uint64_t offset, size_t length,
			bool direct, const struct read_context *context)
{
	if (!p)
		return;
	if (context->storage_reads > 0)
		pace_note(&p->pace, length, context->storage_ns);
	atomic_fetch_sub(&p->pusher.demand, 1);
	notes_add(&p->notes, &(struct note){ node, offset, length, direct });
}

void prefetch_sweep(struct prefetch *p)
{
	atomic_store(&p->at_once, true);
	notes_wake(&p->notes);
}

/* Lock held. Queues the block of a file that was read. */
static void queue_block(struct prefetch *p, uint32_t block)
{
	if (p->near.count < NEAR_ROOM && !pace_is_quick(&p->pace) &&
	    sweep_claim_block(&p->sweep, block))
		(void)ring_push(&p->near, block);
}

/* Is a file split into pieces? *first: its first block. */
static bool in_pieces(const struct prefetch *p, uint32_t node, uint64_t size, uint32_t *first)
{
	const struct block_files *files;

	if (size <= ORDER_LARGE || !block_of(p, node, first))
		return false;
	files = &p->order.files[*first];
	/* the pieces may belong to another file at the same place */
	return files->count == 0 && p->order.nodes[files->first] == node;
}

/* The offset at which the sweep ends within a file; false: it does not. */
static bool is_cut(const struct prefetch *p, uint32_t node, uint64_t size, uint64_t *from)
{
	uint32_t first, end = ledger_end(p->pusher.ledger);

	if (!in_pieces(p, node, size, &first) || first >= end)
		return false;
	*from = (uint64_t)(end - first) * VOLUME_BLOCK;
	return *from < size;
}

/* Is the file beyond the sweep's end? *from: its first byte there. */
static bool is_excess(const struct prefetch *p, uint32_t node, uint64_t size, uint64_t *from)
{
	const struct ledger *ledger = p->pusher.ledger;
	uint32_t block;

	*from = 0;
	if (!p->config.sink || ledger_state(ledger) == SWEEP_WAITING ||
	    !block_of(p, node, &block))
		return false;
	return block >= ledger_end(ledger) || is_cut(p, node, size, from);
}

/* Lock held. Queues a file to be dropped; false: the queue is full. */
static bool drop_later(struct prefetch *p, uint32_t node, uint64_t size, uint64_t from)
{
	return drops_add(&p->drops, &(struct drop){ .node = node, .from = from,
						    .bytes = pages_round_up(size - from),
						    .since = bounded_now() });
}

/* Lock held. Accounts for a file that was read to its end. */
static void account_file(struct prefetch *p, uint32_t node, uint64_t size)
{
	uint64_t from;
	uint32_t block;

	if (is_excess(p, node, size, &from)) {
		drop_later(p, node, size, from);
		return;
	}
	ledger_mark_cached(p->pusher.ledger, node, size);
	if (block_of(p, node, &block))
		queue_block(p, block);
}

/* The stored end of a large file, at which its stream ends; 0: not large. */
static uint64_t end_of_large(const struct prefetch *p, uint32_t node, uint64_t size)
{
	struct volume_span last;

	if (size < ORDER_LARGE ||
	    !dataset_stored(p->pusher.dataset, node, size - 1, 1, &last, NULL))
		return 0;
	return last.end;
}

/*
 * Lock held. A held file missed the page cache. Usually a few pages were evicted and are
 * back now, so the file stays held; otherwise it would not be counted.
 */
static void note_eviction(struct prefetch *p, const struct note *note, uint64_t size)
{
	uint32_t first;

	stats_add(COUNTER_evicted_files, 1);
	/* during the sweep a file may be pushed while it is read */
	if (ledger_state(p->pusher.ledger) == SWEEP_DONE)
		repeat_sweep_add_reread(&p->again, note->length);
	if (in_pieces(p, note->node, size, &first) &&
	    ledger_mark_evicted(p->pusher.ledger, note->node, size))
		pusher_clear_file(&p->pusher, first, size);
}

/* Is the file read to its end? A large file needs all its pieces. */
static bool is_read_whole(struct prefetch *p, const struct note *note, uint64_t size)
{
	uint64_t from;
	uint32_t first;

	if (is_excess(p, note->node, size, &from) || !in_pieces(p, note->node, size, &first))
		return note->offset + note->length >= size;
	return pusher_note_read(&p->pusher, first, note->offset, note->length, size);
}

/*
 * Lock held. Queues the files beside one that a reader of many has read, if they were
 * decoded with it. Not while the sweep pushes them, unless readers take its processors, nor
 * beyond its end.
 */
static void queue_neighbours(struct prefetch *p, uint32_t node, bool evicted)
{
	struct neighbourhood around = { .evicted = evicted };
	uint64_t from;

	if (!p->config.sink || !policy_sees_epoch(&p->policy) ||
	    (ledger_state(p->pusher.ledger) == SWEEP_RUNNING && !pace_is_quick(&p->pace)) ||
	    is_excess(p, node, 1, &from) ||
	    !dataset_is_decoded(p->pusher.dataset, node))
		return;
	p->wants_order = true;
	if (atomic_load(&p->ordered) &&
	    dataset_stored(p->pusher.dataset, node, 0, UINT64_MAX, &around.stored, NULL))
		neighbours_add(&p->neighbours, &around);
}

/* Lock held. The read missed the page cache, which has the pages now. */
static void note_in_ledger(struct prefetch *p, const struct note *note, uint64_t size)
{
	bool evicted = note->offset == 0 &&
		ledger_is_cached(p->pusher.ledger, note->node);

	if (evicted)
		note_eviction(p, note, size);
	if (is_read_whole(p, note, size))
		account_file(p, note->node, size);
	queue_neighbours(p, note->node, evicted);
}

/* Lock held. */
static void handle_note(struct prefetch *p, const struct note *note)
{
	struct policy_read read = { .now_ms = bounded_now(), .node = note->node };
	struct volume_span stored;
	struct tree_stat st;

	if (tree_stat(dataset_tree(p->pusher.dataset), note->node, &st) < 0 ||
	    !dataset_stored(p->pusher.dataset, note->node, note->offset,
			    note->length ? note->length : 1, &stored, NULL))
		return;
	if (!note->direct)
		note_in_ledger(p, note, st.size);
	read.stored = (struct policy_range){ stored.source, stored.start, stored.end };
	read.limit = end_of_large(p, note->node, st.size);
	policy_note(&p->policy, &read);
}

/* The next work. */

static bool needs_sweep(const struct prefetch *p)
{
	return p->config.sweep && (atomic_load(&p->at_once) || policy_sees_epoch(&p->policy));
}

/* Lock held. Queues drops of files that were read before the plan and are beyond it. */
static void drop_unplanned(struct prefetch *p)
{
	struct ledger *ledger = p->pusher.ledger;

	for (uint32_t i = 0; i < p->order.count; i++) {
		uint32_t node = p->order.nodes[i];
		struct tree_stat st;
		uint64_t from;

		if (ledger_is_cached(ledger, node) &&
		    tree_stat(dataset_tree(p->pusher.dataset), node, &st) == 0 &&
		    is_excess(p, node, st.size, &from) && drop_later(p, node, st.size, from))
			ledger_mark_evicted(ledger, node, st.size);
	}
}

/* Lock held. */
static void begin_sweep(struct prefetch *p)
{
	enum sweep_state state = ledger_state(p->pusher.ledger);

	if (state == SWEEP_RUNNING && !p->sweep.is_ours)
		sweep_resume(&p->sweep);
	if (state == SWEEP_RUNNING || !needs_sweep(p) ||
	    (state == SWEEP_DONE && !sweep_should_repeat(&p->sweep, &p->again, &p->room)))
		return;
	repeat_sweep_begin(&p->again, bounded_now());
	pusher_clear_pieces(&p->pusher, &p->order);
	sweep_plan(&p->sweep, &p->room);
	drop_unplanned(p);
}

/*
 * Lock held. A stream in a large file has all of the storage until its end, and readers
 * have the processors.
 */
static bool yields_to_readers(const struct prefetch *p)
{
	int64_t now = bounded_now();

	return ledger_state(p->pusher.ledger) == SWEEP_RUNNING &&
	       (policy_streams(&p->policy, now) ||
		!pace_allows(&p->pace, p->sweep.at_work,
			     now - atomic_load(&p->pusher.asked_at) < READERS_MS));
}

/* Lock held. Decoded chunks and blocks of the sweep need a part of the cache. */
static uint64_t room_for_windows(const struct prefetch *p)
{
	uint64_t room = room_for_cache(&p->room), others = room / 4;

	if (atomic_load(&p->ordered))
		others += (uint64_t)p->sweep.at_work * VOLUME_BLOCK;
	return room > others ? room - others : 0;
}

/* Lock held. */
static void choose_work(struct prefetch *p, struct prefetch_work *out)
{
	out->kind = WORK_NONE;
	if (drops_pop(&p->drops, bounded_now(), &out->drop)) {
		out->kind = WORK_DROP;
		return;
	}
	if (neighbours_pop(&p->neighbours, &out->around)) {
		out->kind = WORK_NEIGHBOURS;
		return;
	}
	policy_set_room(&p->policy, room_for_windows(p));
	if (policy_window(&p->policy, WINDOW_PIECE, &out->range)) {
		out->kind = WORK_WINDOW;
		return;
	}
	if (needs_sweep(p) && !p->looking_up) {
		p->looking_up = true;
		out->kind = WORK_LOOK_UP;
		return;
	}
	if (!atomic_load(&p->ordered)) {
		if ((needs_sweep(p) || p->wants_order) && !p->ordering) {
			p->ordering = true;
			out->kind = WORK_ORDER;
		}
		return;
	}
	if (needs_sweep(p) && !atomic_load(&p->looked_up))
		return;
	begin_sweep(p);
	if (ring_pop(&p->near, &out->block))
		out->kind = WORK_BLOCK;
	else if (yields_to_readers(p))
		out->kind = WORK_LATER;
	else if (sweep_next(&p->sweep, &out->block))
		out->kind = WORK_BLOCK;
	else if (drops_are_full(&p->drops))
		out->kind = WORK_LATER;
}

static struct prefetch_work next_work(struct prefetch *p)
{
	struct prefetch_work work;
	struct note note;

	LOCK_GUARD(&p->lock);
	while (notes_pop(&p->notes, &note))
		handle_note(p, &note);
	room_limit_cache(&p->room);
	choose_work(p, &work);
	work.in_haste = policy_has_window(&p->policy);
	return work;
}

/* The work. */

static void make_order(struct prefetch *p)
{
	struct pusher *pusher = &p->pusher;

	if (order_make(pusher->dataset, &p->order) < 0 ||
	    sweep_init(&p->sweep, dataset_tree(pusher->dataset), &p->order,
		       pusher->ledger, p->config.sink) < 0 ||
	    pusher_prepare(pusher, &p->order) < 0) {
		log_warn("there is not enough memory to read ahead");
		stats_set(COUNTER_sweep_limit, LIMIT_FAILED);
		return;
	}
	dataset_use_blocks(pusher->dataset, p->order.blocks, p->order.block_count);
	atomic_store(&p->room.total, p->order.pages);
	atomic_store(&p->ordered, true);
}

/* The dataset's cache keeps files that the kernel does not accept, up to the budget. */
static bool is_full(const struct prefetch *p)
{
	return dataset_cache_bytes(p->pusher.dataset) + stats_get(COUNTER_resident_bytes) >=
	       room_for_files(&p->room);
}

/* Lock held. */
static void cut_sweep(struct prefetch *p, enum sweep_limit why)
{
	uint32_t block;

	while (ring_pop(&p->near, &block))
		sweep_unclaim_block(&p->sweep, block);
	sweep_cut(&p->sweep, why);
}

static void prefetch_do_block(struct prefetch *p, struct push_worker *worker,
			      uint32_t block)
{
	uint64_t begin = processors_thread_ns();
	bool kept = pusher_run(&p->pusher, worker, &p->order, block);
	bool is_short, full;

	pace_spend(&p->pace, processors_thread_ns() - begin);
	room_limit_cache(&p->room);
	is_short = room_check_memory(&p->room);
	full = kept && is_full(p);
	LOCK_GUARD(&p->lock);
	sweep_done(&p->sweep, block);
	if (is_short || full)
		cut_sweep(p, is_short ? LIMIT_MEMORY : LIMIT_BUDGET);
}

static void do_neighbours(struct prefetch *p, struct push_worker *worker,
			  const struct neighbourhood *around)
{
	bool any = neighbours_push(&p->pusher, worker, &p->order, around, &p->room);

	LOCK_GUARD(&p->lock);
	neighbours_pushed(&p->neighbours, any);
}

static void do_drop(struct prefetch *p, const struct drop *drop)
{
	const struct prefetch_sink *to = p->config.sink;
	int err = to->drop(to->context, drop->node, drop->from);

	if (err == 0)
		stats_add(COUNTER_dropped_files, 1);
	if (err != -EBUSY)
		return;
	LOCK_GUARD(&p->lock);
	drops_requeue(&p->drops, drop, bounded_now());
}

static void do_work(struct prefetch *p, struct push_worker *worker,
		    const struct prefetch_work *work)
{
	switch (work->kind) {
	case WORK_ORDER:
		make_order(p);
		break;
	case WORK_LOOK_UP:
		p->config.sink->look_up(p->config.sink->context);
		atomic_store(&p->looked_up, true);
		break;
	case WORK_DROP:
		do_drop(p, &work->drop);
		break;
	case WORK_NEIGHBOURS:
		do_neighbours(p, worker, &work->around);
		break;
	case WORK_WINDOW:
		pusher_stage(&p->pusher, atomic_load(&p->ordered) ? &p->order : NULL,
			     &work->range);
		room_limit_cache(&p->room);
		break;
	case WORK_BLOCK:
		prefetch_do_block(p, worker, work->block);
		break;
	case WORK_LATER:
	case WORK_NONE:
		break;
	}
}

static void prefetch_thread(void *argument)
{
	struct prefetch *p = argument;
	struct push_worker worker = { .number = atomic_fetch_add(&p->next_worker, 1) };

	crash_ledger = p->pusher.ledger;
	if (p->config.sink)
		worker.buffer = aligned_alloc(pages_size(), PUSH_PIECE); /* ends with the process */
	for (;;) {
		unsigned now = notes_version(&p->notes);
		struct prefetch_work work;

		room_check_memory(&p->room);
		pace_update(&p->pace, bounded_now());
		work = next_work(p);
		if (work.kind == WORK_NONE || work.kind == WORK_LATER) {
			notes_wait(&p->notes, now, work.kind == WORK_LATER ? LATER_MS : 0);
			if (!work.in_haste)
				notes_gather(&p->notes);
		} else {
			notes_wake(&p->notes); /* there may be work for two threads */
		}
		do_work(p, &worker, &work);
	}
}

void prefetch_note_crash(void)
{
	if (crash_ledger)
		ledger_note_crash(crash_ledger);
}

static unsigned prefetch_thread_count(const struct prefetch_config *config)
{
	if (config->threads < THREADS_LEAST)
		return THREADS_LEAST;
	return config->threads < THREADS_MOST ? config->threads : THREADS_MOST;
}

int prefetch_start(struct dataset *dataset, struct ledger *ledger,
		   const struct prefetch_config *config, struct prefetch **out)
{
	struct prefetch *p;
	struct pool *pool;
	int err;

	*out = NULL;
	ledger_mark_suspects(ledger, dataset_tree(dataset), config->crashed);
	if (ledger_crashes(ledger) >= CRASHES_MOST) {
		log_warn("nothing is read ahead any more: servers crashed of it");
		stats_set(COUNTER_sweep_limit, LIMIT_FAILED);
		return 0; /* requests are served without read-ahead */
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->config = *config;
	notes_init(&p->notes);
	pace_init(&p->pace);
	p->lock = (struct lock)LOCK_INIT;
	p->pusher = (struct pusher){ .dataset = dataset, .ledger = ledger,
				     .sink = config->sink };
	/* a server without a sink lost its cache: repeat the sweep */
	if (!config->sink && ledger_state(ledger) == SWEEP_DONE)
		ledger_begin_sweep(ledger, ledger_end(ledger));
	p->at_once = ledger_state(ledger) == SWEEP_RUNNING;
	p->looking_up = !config->sink;
	p->looked_up = !config->sink;
	policy_init(&p->policy, config->windows, config->budget / 8,
		    tree_count(dataset_tree(dataset)));
	drops_init(&p->drops, config->budget);
	room_init(&p->room, dataset, config->budget);
	dataset_stream_sources(dataset);
	room_limit_cache(&p->room);
	err = pool_start(&pool, prefetch_thread_count(config));
	for (unsigned i = 0; !err && i < pool_threads(pool); i++)
		err = pool_add(pool, prefetch_thread, p);
	if (!err)
		*out = p;
	return err;
}
