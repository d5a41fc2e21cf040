/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/ledger_check.h"

#include <stdatomic.h>

#include "base/invariant.h"
#include "os/pages.h"
#include "prefetch/ledger_state.h"
#include "stats/stats.h"

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
	uint32_t last = ledger->nodes / LEDGER_BITS;
	uint64_t beyond = ~UINT64_C(0) << ledger->nodes % LEDGER_BITS;

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
