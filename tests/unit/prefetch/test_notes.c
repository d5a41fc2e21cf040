/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes of reads reach a thread that takes them, also while threads pause. */
#include "unit.h"

#include <stdatomic.h>

#include "os/pool.h"
#include "prefetch/notes.h"

enum { READERS = 4, TAKERS = 3, EACH = 200 };
_Static_assert(READERS * EACH <= NOTES_ROOM, "no note is dropped");

static struct notes notes; /* too large for a stack */
static _Atomic unsigned taken;

static void read_files(void *argument)
{
	(void)argument;
	for (uint32_t i = 0; i < EACH; i++)
		notes_add(&notes, &(struct note){ .node = i });
}

/* As a prefetch thread does. */
static void take_notes(void *argument)
{
	(void)argument;
	while (taken < READERS * EACH) {
		unsigned now = notes_version(&notes);
		struct note note;
		unsigned count = 0;

		while (notes_pop(&notes, &note))
			count++;
		if (atomic_fetch_add(&taken, count) + count == READERS * EACH)
			break;
		notes_wait(&notes, now, 0);
		notes_gather(&notes);
	}
	notes_wake(&notes); /* the next one sees that all are taken */
}

static void test_no_note_is_left(void **state)
{
	struct pool *pool;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		notes_init(&notes);
		taken = 0;
		assert_int_equal(pool_start(&pool, READERS + TAKERS), 0);
		for (unsigned i = 0; i < TAKERS; i++)
			assert_int_equal(pool_add(pool, take_notes, NULL), 0);
		for (unsigned i = 0; i < READERS; i++)
			assert_int_equal(pool_add(pool, read_files, NULL), 0);
		pool_finish(pool);
		assert_int_equal(taken, READERS * EACH);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_no_note_is_left),
};

UNIT_MAIN(tests)
