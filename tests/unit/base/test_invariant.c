/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Assertions of every build: a line, and the end of the process. */
#include "unit.h"

#include <signal.h>

#include "base/invariant.h"
#include "base/log.h"

struct thing {
	uint64_t magic;
};

static int check(void *argument)
{
	const struct thing *thing = argument;

	HANDLE_CHECK(thing, HANDLE_CACHE);
	return 0;
}

static void test_a_living_handle_passes(void **state)
{
	struct thing thing = { HANDLE_CACHE };

	(void)state;
	assert_int_equal(unit_child(check, &thing), 0);
}

static void test_others_abort(void **state)
{
	static const uint64_t words[] = { 0, HANDLE_DEAD, HANDLE_INDEX, HANDLE_CACHE + 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		struct thing thing = { words[i] };

		assert_int_equal(unit_child(check, &thing), 256 + SIGABRT);
	}
}

static void run_in_a_child(void *argument)
{
	unit_child(check, argument);
}

static void test_the_line_names_the_place(void **state)
{
	struct thing thing = { HANDLE_DEAD };
	char *said = unit_stderr_of(run_in_a_child, &thing);

	(void)state;
	assert_non_null(strstr(said, "a bug of this program"));
	assert_non_null(strstr(said, "test_invariant.c:"));
	assert_null(strstr(said, "unit/util")); /* no directory of the machine that built it */
	assert_int_equal(unit_occurrences(said, "\n"), 1);
	free(said);
}

static const uint64_t words[] = { HANDLE_CACHE, HANDLE_DATASET, HANDLE_INDEX,
				  HANDLE_LEDGER, HANDLE_SLOTS, HANDLE_SOURCE,
				  HANDLE_VOLUMES, HANDLE_DEAD, 0 };

static void test_words_differ(void **state)
{
	size_t i = unit_row(state);

	for (size_t j = 0; j < i; j++)
		assert_true(words[i] != words[j]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_living_handle_passes),
	cmocka_unit_test(test_others_abort),
	cmocka_unit_test(test_the_line_names_the_place),
	unit_rows(test_words_differ, words),
};

UNIT_MAIN(tests)
