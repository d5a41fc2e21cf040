/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that share bytes of a source. */
#include "prefetch/sink_kit.h"

/* Two files in the same place, of which one comes in pieces, and the other does not. */
static int read_what_overlaps(void *memory)
{
	struct prefetch *p = sink_start(memory, 1024 * MIB, false, true);

	atomic_store(&sink_state->answer, -EBUSY);
	prefetch_sweep(p);
	WAIT_FOR(sink_is_swept());
	sink_settle();
	for (unsigned i = sink_data.count; i-- > 0;)
		sink_ask_all(p, &sink_data.files[i]);
	sink_settle();
	CHECK(stats_get(COUNTER_resident_bytes) == sink_all_pages());
	return 0;
}

static void test_each_has_pieces_of_its_own(void **state)
{
	(void)state;
	sink_run(read_what_overlaps);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_each_has_pieces_of_its_own),
};

SINK_MAIN(tests, sink_enter_overlapping)
