/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/repeat_sweep.h"

enum {
	REST_MS = 2000,
	ALL_MS = 30000,
	DOUBLINGS = 8,
	/* Bytes read in the time of a seek: say 1,000 seeks a second at 256 MiB/s. */
	SEEK_BYTES = 256 << 10,
};

void again_begin(struct again *again, int64_t now_ms)
{
	again->begun_ms = now_ms;
	again->times++;
	again->lost = 0;
}

void again_lost(struct again *again, uint64_t bytes)
{
	again->lost += SEEK_BYTES + bytes;
}

static bool repeat_sweep_is_over(const struct again *again, int64_t now_ms,
				 int64_t wait_ms)
{
	unsigned doublings = again->times > 0 ? again->times - 1 : 0;

	return now_ms - again->begun_ms >
	       wait_ms << (doublings < DOUBLINGS ? doublings : DOUBLINGS);
}

enum again_how again_look(const struct again *again, int64_t now_ms, bool was_cut,
			  uint64_t target)
{
	if (again->lost > 0 && again->lost >= target &&
	    repeat_sweep_is_over(again, now_ms, ALL_MS))
		return AGAIN_ALL;
	return was_cut && repeat_sweep_is_over(again, now_ms, REST_MS) ? AGAIN_THE_REST
								       : AGAIN_NOT;
}
