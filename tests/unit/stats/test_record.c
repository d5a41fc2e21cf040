/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The record of a mount: written here, read back, cut off and damaged. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats/record.h"

static int recorded = -1;
static struct record_facts *facts;

static int make_record(void **state)
{
	(void)state;
	facts = record_new(&recorded);
	if (!facts)
		return -1;
	facts->started = 1700000000;
	facts->connection = 57;
	facts->uid = 1000;
	snprintf(facts->user, sizeof(facts->user), "alice");
	snprintf(facts->source, sizeof(facts->source), "/d/x.tar");
	return 0;
}

static void test_a_record_is_read_back(void **state)
{
	static struct record record;

	(void)state;
	stats_set(COUNTER_read_bytes, 12345);
	stats_set(COUNTER_requests_under_way, 3); /* the last one */
	atomic_store(&histogram_cells[HISTOGRAM_COUNT - 1].buckets[BUCKET_COUNT - 1], 9);
	atomic_store(&histogram_cells[HISTOGRAM_COUNT - 1].demand_ns, 77);
	assert_int_equal(record_read(recorded, &record), 0);
	assert_int_equal(record.owner, geteuid());
	assert_int_equal(record.facts.connection, 57);
	assert_string_equal(record.facts.user, "alice");
	assert_string_equal(record.facts.source, "/d/x.tar");
	assert_true(stats_load(&record.cells.counters[COUNTER_read_bytes]) == 12345);
	assert_true(stats_load(&record.cells.counters[COUNTER_requests_under_way]) == 3);
	assert_true(stats_load(&record.cells.histograms[HISTOGRAM_COUNT - 1]
				       .buckets[BUCKET_COUNT - 1]) == 9);
	assert_true(stats_load(&record.cells.histograms[HISTOGRAM_COUNT - 1].demand_ns) == 77);
}

/* A server that could cut it off would end the supervisor. */
static void test_its_size_is_sealed(void **state)
{
	(void)state;
	assert_true(ftruncate(recorded, 0) < 0 && errno == EPERM);
}

/* A copy that can be damaged. */
static int copy_of_record(size_t *size)
{
	int copy = memfd_create("copy", MFD_CLOEXEC);
	static char all[256 * 1024];
	ssize_t n = pread(recorded, all, sizeof(all), 0);

	assert_true(copy >= 0 && n > 0 && write(copy, all, (size_t)n) == n);
	*size = (size_t)n;
	return copy;
}

static void test_every_length_is_refused_or_read(void **state)
{
	static struct record record;
	size_t size;
	int copy = copy_of_record(&size);

	(void)state;
	for (size_t n = size; n > 0; n -= n > 97 ? 97 : n) {
		int err;

		assert_int_equal(ftruncate(copy, (off_t)n), 0);
		err = record_read(copy, &record);
		assert_int_equal(err, n == size ? 0 : -EBADMSG);
	}
	close(copy);
}

/* Each number of the head, made as large as it can be. */
static void test_numbers_of_the_head_are_checked(void **state)
{
	static struct record record;
	static const uint32_t bad[] = { UINT32_MAX, 0x80000000, 0x10000 };

	(void)state;
	for (off_t at = 0; at < 32; at += 4)
		for (size_t i = 0; i < COUNT(bad); i++) {
			size_t size;
			int copy = copy_of_record(&size);

			assert_int_equal(pwrite(copy, &bad[i], 4, at), 4);
			assert_true(record_read(copy, &record) < 0);
			close(copy);
		}
}

/* Of another version, which has its counters in another order, and lacks some. */
static void test_counters_go_by_their_names(void **state)
{
	static struct record record;
	static char all[256 * 1024];
	size_t size;
	int copy = copy_of_record(&size);
	char *name;

	(void)state;
	assert_int_equal(pread(copy, all, size, 0), size);
	name = memmem(all, size, "read_bytes", sizeof("read_bytes"));
	assert_non_null(name);
	assert_int_equal(pwrite(copy, "later_name", 10, name - all), 10);
	stats_set(COUNTER_read_bytes, 5);
	assert_int_equal(record_read(copy, &record), 0);
	assert_true(stats_load(&record.cells.counters[COUNTER_read_bytes]) == 0);
	close(copy);
}

static void test_texts_have_an_end(void **state)
{
	static struct record record;
	size_t size;
	int copy = copy_of_record(&size);
	static char full[sizeof(struct record_facts)];

	(void)state;
	memset(full, 'x', sizeof(full));
	assert_int_equal(pwrite(copy, full, sizeof(full), 32), sizeof(full));
	assert_int_equal(record_read(copy, &record), 0);
	assert_int_equal(strlen(record.facts.user), RECORD_WORD_BYTES - 1);
	assert_int_equal(strlen(record.facts.mountpoint), PATH_MAX - 1);
	close(copy);
}

static void test_names_fit(void **state)
{
	(void)state;
	for (int i = 0; i < COUNTER_COUNT; i++)
		assert_true(strlen(counter_infos[i].name) < 40);
	for (int i = 0; i < HISTOGRAM_COUNT; i++)
		assert_true(strlen(histogram_infos[i].name) < 40);
}

static const struct CMUnitTest records[] = {
	cmocka_unit_test(test_a_record_is_read_back),
	cmocka_unit_test(test_its_size_is_sealed),
	cmocka_unit_test(test_every_length_is_refused_or_read),
	cmocka_unit_test(test_numbers_of_the_head_are_checked),
	cmocka_unit_test(test_counters_go_by_their_names),
	cmocka_unit_test(test_texts_have_an_end),
	cmocka_unit_test(test_names_fit),
};

UNIT_MAIN_IN(records, make_record, NULL)
