/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/ledger_state.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/invariant.h"
#include "index/tree.h"
#include "os/pages.h"
#include "stats/stats.h"

static size_t ledger_size_for(uint32_t nodes)
{
	return sizeof(struct ledger_shared) + ((size_t)nodes / LEDGER_BITS + 1) * sizeof(uint64_t);
}

struct ledger *ledger_new(uint32_t nodes)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));

	if (!ledger)
		return NULL;
	*ledger = (struct ledger){
		.magic = HANDLE_LEDGER, .nodes = nodes,
		.shared = mmap(NULL, ledger_size_for(nodes), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	};
	if (ledger->shared != MAP_FAILED)
		return ledger;
	free(ledger);
	return NULL;
}

void ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	munmap(ledger->shared, ledger_size_for(ledger->nodes));
	ledger->magic = HANDLE_DEAD;
	free(ledger);
}

/* Files. */

static uint64_t bit_of(uint32_t node)
{
	return UINT64_C(1) << node % LEDGER_BITS;
}

bool ledger_is_cached(const struct ledger *ledger, uint32_t node)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	return node < ledger->nodes &&
	       (atomic_load_explicit(&ledger->shared->held[node / LEDGER_BITS], memory_order_relaxed) &
		bit_of(node));
}

/* Never below 0: a server's crash or ledger_clear may leave the sum too small. */
static void subtract_resident(uint64_t bytes)
{
	_Atomic uint64_t *cell = &counter_cells[COUNTER_resident_bytes];
	uint64_t sum = atomic_load(cell);

	while (!atomic_compare_exchange_weak(cell, &sum, sum > bytes ? sum - bytes : 0))
		continue;
}

bool ledger_mark_cached(struct ledger *ledger, uint32_t node, uint64_t bytes)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	if (node >= ledger->nodes || ledger_is_cached(ledger, node))
		return false;
	/* count before the bit is set: a release subtracts counted bytes */
	stats_add(COUNTER_resident_bytes, pages_round_up(bytes));
	if (!(atomic_fetch_or(&ledger->shared->held[node / LEDGER_BITS], bit_of(node)) & bit_of(node)))
		return true;
	subtract_resident(pages_round_up(bytes));
	return false;
}

bool ledger_mark_evicted(struct ledger *ledger, uint32_t node, uint64_t bytes)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	if (node >= ledger->nodes ||
	    !(atomic_fetch_and(&ledger->shared->held[node / LEDGER_BITS], ~bit_of(node)) & bit_of(node)))
		return false;
	subtract_resident(pages_round_up(bytes));
	return true;
}

void ledger_set_cached_part(struct ledger *ledger, uint64_t bytes)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	stats_add(COUNTER_resident_bytes, pages_round_up(bytes));
	subtract_resident(pages_round_up(atomic_exchange(&ledger->shared->part, bytes)));
}

/* A concurrent ledger_mark_cached or ledger_mark_evicted makes the sum inexact. */
void ledger_clear(struct ledger *ledger)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	for (uint32_t i = 0; i <= ledger->nodes / LEDGER_BITS; i++)
		atomic_store(&ledger->shared->held[i], 0);
	atomic_store(&ledger->shared->part, 0);
	stats_set(COUNTER_resident_bytes, 0);
}

/* The sweep. */

enum sweep_state ledger_state(const struct ledger *ledger)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	return (enum sweep_state)atomic_load(&ledger->shared->state);
}

uint32_t ledger_end(const struct ledger *ledger)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	return atomic_load(&ledger->shared->end);
}

void ledger_begin_sweep(struct ledger *ledger, uint32_t end)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	atomic_store(&ledger->shared->position, 0);
	atomic_store(&ledger->shared->end, end);
	atomic_store(&ledger->shared->state, SWEEP_RUNNING);
}

void ledger_end_sweep(struct ledger *ledger)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	atomic_store(&ledger->shared->state, SWEEP_DONE);
}

bool ledger_next_block(struct ledger *ledger, uint32_t *block)
{
	uint32_t position = atomic_load(&ledger->shared->position);

	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	do {
		if (ledger_state(ledger) != SWEEP_RUNNING ||
		    position >= atomic_load(&ledger->shared->end))
			return false;
	} while (!atomic_compare_exchange_weak(&ledger->shared->position, &position, position + 1));
	*block = position;
	return true;
}

void ledger_cut_sweep(struct ledger *ledger)
{
	uint32_t position = atomic_load(&ledger->shared->position);

	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	if (position < atomic_load(&ledger->shared->end))
		atomic_store(&ledger->shared->end, position);
}

/* Workers. */

void ledger_begin_file(struct ledger *ledger, unsigned worker, uint32_t node)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	atomic_store(&ledger->shared->at[worker % LEDGER_WORKERS], node + 1);
}

void ledger_end_file(struct ledger *ledger, unsigned worker)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	atomic_store(&ledger->shared->at[worker % LEDGER_WORKERS], 0);
}

bool ledger_pop_suspect(struct ledger *ledger, unsigned worker, uint32_t *node)
{
	uint32_t at = atomic_exchange(&ledger->shared->at[worker % LEDGER_WORKERS], 0);

	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	*node = at - 1;
	return at != 0;
}

void ledger_mark_suspects(struct ledger *ledger, const struct tree *tree, bool crashed)
{
	for (unsigned i = 0; i < LEDGER_WORKERS; i++) {
		struct tree_stat st;
		uint32_t node;

		if (ledger_pop_suspect(ledger, i, &node) && crashed &&
		    tree_stat(tree, node, &st) == 0)
			ledger_mark_cached(ledger, node, st.size);
	}
}

void ledger_note_crash(struct ledger *ledger)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	atomic_fetch_add(&ledger->shared->crashes, 1);
}

unsigned ledger_crashes(const struct ledger *ledger)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	return atomic_load(&ledger->shared->crashes);
}
