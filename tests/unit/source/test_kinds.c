/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kind of source that is no file: what source.c does for each, and what a kind need not. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "source/load.h"
#include "source/memory_source.h"
#include "stats/stats.h"

enum { BYTES = 20000 };

static unsigned char bytes[BYTES];

static struct source *open_memory(void)
{
	return memory_source("there", bytes, BYTES, BYTES);
}

static void test_ranges_are_checked_for_all_kinds(void **state)
{
	static const struct { uint64_t at; size_t length; int err; } reads[] = {
		{ 0, BYTES, 0 }, { 5, 10, 0 }, { BYTES - 1, 1, 0 }, { BYTES, 0, 0 },
		{ BYTES, 1, -EIO }, { BYTES - 1, 2, -EIO }, { UINT64_MAX, 2, -EIO },
	};
	struct source *source = open_memory();
	uint64_t before = stats_get(COUNTER_source_read_bytes);
	unsigned char got[BYTES];

	(void)state;
	for (size_t i = 0; i < COUNT(reads); i++) {
		assert_int_equal(source_pread(source, got, reads[i].length, reads[i].at),
				 reads[i].err);
		if (!reads[i].err)
			assert_memory_equal(got, bytes + reads[i].at, reads[i].length);
	}
	assert_int_equal(stats_get(COUNTER_source_read_bytes) - before, BYTES + 11);
	source_close(source);
}

static void test_a_fault_has_its_place(void **state)
{
	struct source *source = open_memory();
	struct read_context context = { .hint = READ_EXACT };
	unsigned char got[1000];

	(void)state;
	memory_source_fail(source, 1234, -ETIMEDOUT, 1);
	assert_int_equal(source_read(source, got, 500, 0, &context), 0);
	assert_false(context.fault.storage);
	assert_int_equal(source_read(source, got, 500, 1000, &context), -ETIMEDOUT);
	assert_true(context.fault.storage);
	assert_string_equal(context.fault.source, "there");
	assert_int_equal(context.fault.at, 1234);
	assert_int_equal(source_read(source, got, 500, 1000, &context), 0);
	source_close(source);
}

static void test_only_what_a_request_waits_for_is_demand(void **state)
{
	const struct histogram_cells *cells = &histogram_cells[HISTOGRAM_source_read];
	struct read_context context = { .demand = false };
	struct source *source = open_memory();
	unsigned char got[BYTES];

	(void)state;
	assert_int_equal(source_read(source, got, BYTES, 0, &context), 0);
	assert_int_equal(cells->demand_ns, 0);
	context.demand = true;
	assert_int_equal(source_read(source, got, BYTES, 0, &context), 0);
	assert_true(cells->demand_ns > 0);
	source_close(source);
}

static void test_operations_that_a_kind_lacks(void **state)
{
	struct source *source = open_memory();
	struct error e;
	int fd;

	(void)state;
	assert_int_equal(source_hand_over(source, &e), -ENOTSUP);
	assert_non_null(strstr(e.text, "'there' is no local file"));
	assert_int_equal(source_reopen(source, &fd), -ENOTSUP);
	assert_int_equal(source_next_data(source, 77), 77);
	assert_string_equal(source_place(source), "there");
	source_close(source);
}

static void test_identities_of_equal_bytes_are_equal(void **state)
{
	struct source *memory = open_memory(), *file;
	struct identity a, b;

	(void)state;
	unit_write("file", bytes, BYTES);
	assert_int_equal(source_open("file", &file, NULL), 0);
	source_identity_ahead(memory, 2);
	assert_int_equal(memory_source_hinted(memory), 4 * 4096);
	assert_int_equal(source_identity(memory, 2, &a), 0);
	assert_int_equal(source_identity(file, 2, &b), 0);
	assert_true(a.digest == b.digest && a.samples == b.samples && a.size == b.size);
	memory_source_fail(memory, 10, -EIO, 1);
	assert_int_equal(source_identity(memory, 2, &a), -EIO);
	source_close(memory);
	source_close(file);
}

static void test_it_is_loaded_as_a_file_is(void **state)
{
	struct source *source = open_memory();
	unsigned char got[BYTES];
	struct error e;
	int memory;

	(void)state;
	assert_int_equal(source_load(source, &memory, &e), 0);
	assert_int_equal(pread(memory, got, BYTES, 0), BYTES);
	assert_memory_equal(got, bytes, BYTES);
	close(memory);
	memory_source_fail(source, BYTES - 1, -EIO, 1);
	assert_int_equal(source_load(source, &memory, &e), -EIO);
	assert_non_null(strstr(e.text, "there: cannot be read into memory"));
	source_close(source);
}

static const struct CMUnitTest kinds[] = {
	cmocka_unit_test(test_ranges_are_checked_for_all_kinds),
	cmocka_unit_test(test_only_what_a_request_waits_for_is_demand),
	cmocka_unit_test(test_a_fault_has_its_place),
	cmocka_unit_test(test_operations_that_a_kind_lacks),
	cmocka_unit_test(test_identities_of_equal_bytes_are_equal),
	cmocka_unit_test(test_it_is_loaded_as_a_file_is),
};

int main(void)
{
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251);
	return unit_run(kinds, COUNT(kinds), unit_enter, unit_leave);
}
