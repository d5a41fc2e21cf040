/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/ledger.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/invariant.h"
#include "index/tree.h"
#include "os/pages.h"
#include "stats/stats.h"

enum { BITS = 64 };

/* Shared by the servers. The supervisor, which outlives them, relies on nothing in it. */
struct ledger_shared {
	_Atomic int state;          /* enum sweep_state */
	_Atomic uint32_t position;
	_Atomic uint32_t end;
	_Atomic unsigned crashes;
	_Atomic uint64_t part;      /* bytes of the partly held file */
	_Atomic uint32_t at[LEDGER_WORKERS]; /* node + 1 of each worker's file; 0: none */
	_Atomic uint64_t held[];    /* one bit a node */
};

struct ledger {
	uint64_t magic; /* HANDLE_LEDGER */
	uint32_t nodes;
	struct ledger_shared *shared; /* a mapping */
};

static size_t ledger_size_for(uint32_t nodes)
{
	return sizeof(struct ledger_shared) + ((size_t)nodes / BITS + 1) * sizeof(uint64_t);
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
	return UINT64_C(1) << node % BITS;
}

bool ledger_is_cached(const struct ledger *ledger, uint32_t node)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	return node < ledger->nodes &&
	       (atomic_load_explicit(&ledger->shared->held[node / BITS], memory_order_relaxed) &
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
	if (!(atomic_fetch_or(&ledger->shared->held[node / BITS], bit_of(node)) & bit_of(node)))
		return true;
	subtract_resident(pages_round_up(bytes));
	return false;
}

bool ledger_mark_evicted(struct ledger *ledger, uint32_t node, uint64_t bytes)
{
	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	if (node >= ledger->nodes ||
	    !(atomic_fetch_and(&ledger->shared->held[node / BITS], ~bit_of(node)) & bit_of(node)))
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
	for (uint32_t i = 0; i <= ledger->nodes / BITS; i++)
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

/* The check of the rules in ledger.h. */

static uint64_t held_bytes(const struct ledger *ledger, ledger_bytes *bytes, void *context)
{
	uint64_t sum = pages_round_up(atomic_load(&ledger->shared->part));

	for (uint32_t node = 0; node < ledger->nodes; node++)
		if (ledger_is_cached(ledger, node))
			sum += pages_round_up(bytes(context, node));
	return sum;
}

static const char *check_bits(const struct ledger *ledger)
{
	uint32_t last = ledger->nodes / BITS;
	uint64_t beyond = ~UINT64_C(0) << ledger->nodes % BITS;

	for (unsigned i = 0; i < LEDGER_WORKERS; i++)
		if (atomic_load(&ledger->shared->at[i]) > ledger->nodes)
			return "a thread is at a file that is not there";
	return atomic_load(&ledger->shared->held[last]) & beyond ?
		       "a file is held that is not there" : NULL;
}

static const char *check_sweep(const struct ledger *ledger)
{
	uint32_t position = atomic_load(&ledger->shared->position);
	int state = atomic_load(&ledger->shared->state);

	if (state < SWEEP_WAITING || state > SWEEP_DONE)
		return "the sweep is in no state";
	if (state == SWEEP_WAITING && (position || ledger_end(ledger)))
		return "the sweep waits, and has got somewhere";
	return position > (uint64_t)ledger_end(ledger) + 1 ? "the sweep is beyond its end" : NULL;
}

const char *ledger_check(const struct ledger *ledger, bool quiet, ledger_bytes *bytes,
			 void *context)
{
	const char *wrong;
	uint64_t held, counted;

	HANDLE_CHECK(ledger, HANDLE_LEDGER);
	wrong = check_bits(ledger);
	if (!wrong)
		wrong = check_sweep(ledger);
	if (wrong || !quiet)
		return wrong;
	held = held_bytes(ledger, bytes, context);
	counted = stats_get(COUNTER_resident_bytes);
	return held == counted ? NULL : "the bytes held are not those that are counted";
}
