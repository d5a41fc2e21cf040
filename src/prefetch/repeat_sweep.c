/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/repeat_sweep.h"

enum {
	PAUSE_AFTER_SWEEP_MS = 2000,
	ALL_MS = 30000,
	DOUBLINGS = 8,
	/* Bytes read in the time of a seek: say 1,000 seeks a second at 256 MiB/s. */
	SEEK_BYTES = 256 << 10,
};

void repeat_sweep_begin(struct repeat_sweep *again, int64_t now_ms)
{
	again->begun_ms = now_ms;
	again->times++;
	again->lost = 0;
}

void repeat_sweep_add_reread(struct repeat_sweep *again, uint64_t bytes)
{
	again->lost += SEEK_BYTES + bytes;
}

static bool repeat_sweep_is_over(const struct repeat_sweep *again, int64_t now_ms,
				 int64_t wait_ms)
{
	unsigned doublings = again->times > 0 ? again->times - 1 : 0;

	return now_ms - again->begun_ms >
	       wait_ms << (doublings < DOUBLINGS ? doublings : DOUBLINGS);
}

enum sweep_repeat repeat_sweep_decide(const struct repeat_sweep *again, int64_t now_ms,
				      bool was_cut, uint64_t target)
{
	if (again->lost > 0 && again->lost >= target &&
	    repeat_sweep_is_over(again, now_ms, ALL_MS))
		return SWEEP_REPEAT_ALL;
	return was_cut && repeat_sweep_is_over(again, now_ms, PAUSE_AFTER_SWEEP_MS) ?
		SWEEP_REPEAT_REMAINDER
								       :
								       SWEEP_REPEAT_NONE;
}
