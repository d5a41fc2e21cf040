/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ids that a user namespace knows. */
#include "unit.h"

#include <stdio.h>

#include "os/namespace.h"

static void write_map(const char *text)
{
	FILE *file = fopen("map", "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static const struct {
	const char *map;
	uint32_t id;
	bool known;
} cases[] = {
	{ "0 1000 1\n", 0, true }, { "0 1000 1\n", 1, false },
	{ "0 1000 1\n", 0xffffffff, false },
	{ "         0          0 4294967295\n", 0, true },
	{ "         0          0 4294967295\n", 4294967294U, true },
	{ "         0          0 4294967295\n", 4294967295U, false },
	{ "0 1000 1\n1 100000 65536\n", 65536, true },
	{ "0 1000 1\n1 100000 65536\n", 65537, false },
	{ "5 5 1\n9 9 2\n", 7, false }, { "5 5 1\n9 9 2\n", 10, true },
	{ "", 7, true },
};

static void test_ranges(void **state)
{
	size_t i = unit_row(state);
	struct namespace_ids ids;

	write_map(cases[i].map);
	namespace_ids("map", &ids);
	assert_int_equal(namespace_knows(&ids, cases[i].id), cases[i].known);
}

static void test_no_map_is_no_limit(void **state)
{
	struct namespace_ids ids;

	(void)state;
	namespace_ids("no/such/map", &ids);
	assert_true(namespace_knows(&ids, 12345));
}

static void test_own_ids_are_known(void **state)
{
	struct namespace_ids ids;

	(void)state;
	namespace_ids("/proc/self/uid_map", &ids);
	assert_true(namespace_knows(&ids, 0));
	assert_int_equal(namespace_is_private(), !namespace_knows(&ids, 4294967294U));
}

static const struct CMUnitTest tests[] = {
	unit_table(test_ranges, cases, map),
	cmocka_unit_test(test_no_map_is_no_limit),
	cmocka_unit_test(test_own_ids_are_known),
};

UNIT_MAIN(tests)
