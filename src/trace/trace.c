/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.c: a ring of cells, each with a turn.
 *
 * A cell of position P has turn P while it is free, P + 1 while it holds an event, and
 * P + CELLS once that was taken. A producer claims a position by the tail, fills the cell,
 * and hands it on by its turn.
 */
#include "trace/trace.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stats/stats.h"

enum { CELLS = 32768, NO_EVENT = TRACE_KINDS };

struct trace_cell {
	_Atomic uint64_t turn;
	struct trace_event event;
};

struct trace_ring {
	_Atomic uint64_t tail;
	_Atomic uint64_t dropped;
	uint64_t head; /* the writer's */
	_Atomic uint32_t process;
	struct trace_cell cells[CELLS];
};

struct trace_ring *trace_ring;

static _Thread_local uint32_t trace_thread; /* its number, once it was asked for */

int trace_share(void)
{
	void *memory = mmap(NULL, sizeof(*trace_ring), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	trace_ring = memory;
	atomic_store(&trace_ring->process, (uint32_t)getpid());
	for (uint64_t i = 0; i < CELLS; i++)
		atomic_store(&trace_ring->cells[i].turn, i);
	return 0;
}

void trace_end(void)
{
	if (trace_ring)
		munmap(trace_ring, sizeof(*trace_ring));
	trace_ring = NULL;
}

void trace_close_gaps(void)
{
	uint64_t tail = trace_ring ? atomic_load(&trace_ring->tail) : 0;

	for (uint64_t at = tail < CELLS ? 0 : tail - CELLS; at < tail; at++) {
		struct trace_cell *cell = &trace_ring->cells[at % CELLS];

		if (atomic_load(&cell->turn) != at)
			continue;
		cell->event.kind = NO_EVENT;
		atomic_store(&cell->turn, at + 1);
	}
}

void trace_begin_server(void)
{
	if (trace_ring)
		atomic_store(&trace_ring->process, (uint32_t)getpid());
	trace_close_gaps();
}

/* A cell for one event, and its position; NULL: there is no room. */
static struct trace_cell *claim_cell(struct trace_ring *ring, uint64_t *position)
{
	uint64_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	for (;;) {
		struct trace_cell *cell = &ring->cells[at % CELLS];
		uint64_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);

		if (turn < at)
			return NULL;
		*position = at;
		if (turn > at)
			at = atomic_load_explicit(&ring->tail, memory_order_relaxed);
		else if (atomic_compare_exchange_weak_explicit(&ring->tail, &at, at + 1,
							       memory_order_relaxed,
							       memory_order_relaxed))
			return cell;
	}
}

void trace_add(const struct trace_event *event)
{
	struct trace_ring *ring = trace_ring;
	struct trace_cell *cell;
	uint64_t position;

	if (!ring)
		return;
	cell = claim_cell(ring, &position);
	if (!cell) {
		atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
		stats_add(COUNTER_trace_dropped, 1);
		return;
	}
	if (!trace_thread)
		trace_thread = (uint32_t)syscall(SYS_gettid);
	cell->event = *event;
	cell->event.thread = trace_thread;
	cell->event.process = atomic_load_explicit(&ring->process, memory_order_relaxed);
	atomic_store_explicit(&cell->turn, position + 1, memory_order_release);
}

bool trace_take(struct trace_event *out)
{
	struct trace_ring *ring = trace_ring;

	while (ring) {
		uint64_t at = ring->head;
		struct trace_cell *cell = &ring->cells[at % CELLS];

		if (atomic_load_explicit(&cell->turn, memory_order_acquire) != at + 1)
			return false;
		*out = cell->event;
		ring->head = at + 1;
		atomic_store_explicit(&cell->turn, at + CELLS, memory_order_release);
		if (out->kind < TRACE_KINDS)
			return true;
	}
	return false;
}

uint64_t trace_dropped(void)
{
	return trace_ring ? atomic_load(&trace_ring->dropped) : 0;
}
