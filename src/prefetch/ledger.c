#include "prefetch/ledger.h"

#include <stddef.h>
#include <sys/mman.h>

#include "stats/stats.h"
#include "util/pages.h"

enum { BITS = 64 };

struct ledger {
	uint32_t nodes;
	_Atomic int state;          /* enum sweep_state */
	_Atomic uint32_t position;
	_Atomic uint32_t end;
	_Atomic unsigned crashes;
	_Atomic uint64_t part;      /* bytes of a file that is held in part */
	_Atomic uint32_t at[LEDGER_WORKERS]; /* the file that each is at, + 1 */
	_Atomic uint64_t held[];    /* a bit a node */
};

static size_t size_for(uint32_t nodes)
{
	return sizeof(struct ledger) + ((size_t)nodes / BITS + 1) * sizeof(uint64_t);
}

struct ledger *ledger_new(uint32_t nodes)
{
	struct ledger *ledger = mmap(NULL, size_for(nodes), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (ledger == MAP_FAILED)
		return NULL;
	ledger->nodes = nodes;
	return ledger;
}

void ledger_free(struct ledger *ledger)
{
	if (ledger)
		munmap(ledger, size_for(ledger->nodes));
}

/* Files. */

static uint64_t bit_of(uint32_t node)
{
	return UINT64_C(1) << node % BITS;
}

bool ledger_holds(const struct ledger *ledger, uint32_t node)
{
	return node < ledger->nodes &&
	       (atomic_load_explicit(&ledger->held[node / BITS], memory_order_relaxed) &
		bit_of(node));
}

/* Of the sum, which a server that died, or ledger_clear, may have left too small. */
static void take_off(uint64_t bytes)
{
	_Atomic uint64_t *cell = &counter_cells[COUNTER_resident_bytes];
	uint64_t sum = atomic_load(cell);

	while (!atomic_compare_exchange_weak(cell, &sum, sum > bytes ? sum - bytes : 0))
		continue;
}

bool ledger_hold(struct ledger *ledger, uint32_t node, uint64_t bytes)
{
	if (node >= ledger->nodes || ledger_holds(ledger, node))
		return false;
	/* first counted, then held: who releases it takes off what is there */
	stats_add(COUNTER_resident_bytes, pages_round_up(bytes));
	if (!(atomic_fetch_or(&ledger->held[node / BITS], bit_of(node)) & bit_of(node)))
		return true;
	take_off(pages_round_up(bytes));
	return false;
}

bool ledger_release(struct ledger *ledger, uint32_t node, uint64_t bytes)
{
	if (node >= ledger->nodes ||
	    !(atomic_fetch_and(&ledger->held[node / BITS], ~bit_of(node)) & bit_of(node)))
		return false;
	take_off(pages_round_up(bytes));
	return true;
}

void ledger_hold_part(struct ledger *ledger, uint64_t bytes)
{
	stats_add(COUNTER_resident_bytes, pages_round_up(bytes));
	take_off(pages_round_up(atomic_exchange(&ledger->part, bytes)));
}

/* Who holds or releases meanwhile makes the sum a little wrong. */
void ledger_clear(struct ledger *ledger)
{
	for (uint32_t i = 0; i <= ledger->nodes / BITS; i++)
		atomic_store(&ledger->held[i], 0);
	atomic_store(&ledger->part, 0);
	stats_set(COUNTER_resident_bytes, 0);
}

/* The sweep. */

enum sweep_state ledger_state(const struct ledger *ledger)
{
	return (enum sweep_state)atomic_load(&ledger->state);
}

uint32_t ledger_end(const struct ledger *ledger)
{
	return atomic_load(&ledger->end);
}

void ledger_begin_sweep(struct ledger *ledger, uint32_t end)
{
	atomic_store(&ledger->position, 0);
	atomic_store(&ledger->end, end);
	atomic_store(&ledger->state, SWEEP_RUNNING);
}

void ledger_end_sweep(struct ledger *ledger)
{
	atomic_store(&ledger->state, SWEEP_DONE);
}

bool ledger_next_block(struct ledger *ledger, uint32_t *block)
{
	uint32_t position = atomic_load(&ledger->position);

	do {
		if (ledger_state(ledger) != SWEEP_RUNNING ||
		    position >= atomic_load(&ledger->end))
			return false;
	} while (!atomic_compare_exchange_weak(&ledger->position, &position, position + 1));
	*block = position;
	return true;
}

void ledger_cut_sweep(struct ledger *ledger)
{
	uint32_t position = atomic_load(&ledger->position);

	if (position < atomic_load(&ledger->end))
		atomic_store(&ledger->end, position);
}

/* Who is at what. */

void ledger_begin_file(struct ledger *ledger, unsigned worker, uint32_t node)
{
	atomic_store(&ledger->at[worker % LEDGER_WORKERS], node + 1);
}

void ledger_end_file(struct ledger *ledger, unsigned worker)
{
	atomic_store(&ledger->at[worker % LEDGER_WORKERS], 0);
}

bool ledger_take_suspect(struct ledger *ledger, unsigned worker, uint32_t *node)
{
	uint32_t at = atomic_exchange(&ledger->at[worker % LEDGER_WORKERS], 0);

	*node = at - 1;
	return at != 0;
}

void ledger_note_crash(struct ledger *ledger)
{
	atomic_fetch_add(&ledger->crashes, 1);
}

unsigned ledger_crashes(const struct ledger *ledger)
{
	return atomic_load(&ledger->crashes);
}
