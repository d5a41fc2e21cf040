/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stub: a sound file, and one that is cut off. */
#include <errno.h>

#include "scan_run.h"

static void test_sound(void **state)
{
	struct run run;

	(void)state;
	unit_write("x.stub", "granstub" "a.txt\ntext", 18);
	run_scan(&run, "stub", "x.stub", 0, NULL, false);
	assert_int_equal(run.err, 0);
	assert_int_equal(entries_count(run.entries), 1);
	run_end(&run);
}

static void test_cut_off(void **state)
{
	struct run run;

	(void)state;
	unit_write("x.stub", "granstub" "a.t", 11);
	run_scan(&run, "stub", "x.stub", 0, NULL, false);
	assert_int_equal(run.err, -EBADMSG);
	run_end(&run);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_sound),
	cmocka_unit_test(test_cut_off),
};

UNIT_MAIN(tests)
