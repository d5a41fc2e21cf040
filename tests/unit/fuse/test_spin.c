/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a thread polls, and when it sleeps. The connection is a pipe. */
#include "unit.h"

#include <time.h>
#include <unistd.h>

#include "fuse/session.h"
#include "fuse/spin.h"

static int connection[2];

static void ask(void)
{
	assert_int_equal(write(connection[1], "?", 1), 1);
}

/* Requests that were there, or came after a pause of so many milliseconds. */
static void receive(struct spin *spin, unsigned milliseconds)
{
	const struct timespec pause = { .tv_nsec = milliseconds * 1000000L };
	char request;

	spin_wait(spin, connection[0]);
	if (milliseconds) {
		nanosleep(&pause, NULL);
		ask();
	}
	assert_int_equal(read(connection[0], &request, 1), 1);
	spin_received(spin);
}

static void test_bounds(void **state)
{
	struct spin spin;

	(void)state;
	spin_init(&spin, 0, 8);
	assert_false(spin_is_on(&spin));
	spin_init(&spin, MOUNT_SPIN_ADAPTIVE, 2);
	assert_int_equal(spin.bound, 100000);
	spin_init(&spin, MOUNT_SPIN_ADAPTIVE, 1);
	assert_false(spin_is_on(&spin));
	spin_init(&spin, 50, 2);
	assert_int_equal(spin.bound, 50000);
	spin_init(&spin, 100000000, 2);
	assert_int_equal(spin.bound, 10000000);
}

/* Whether it looked shows in how long nothing took. */
static int64_t wait_for_nothing(struct spin *spin)
{
	struct timespec before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	spin_wait(spin, connection[0]);
	clock_gettime(CLOCK_MONOTONIC, &after);
	return (after.tv_sec - before.tv_sec) * INT64_C(1000000000) + after.tv_nsec -
	       before.tv_nsec;
}

static void test_it_looks_as_long_as_it_may(void **state)
{
	struct spin spin;

	(void)state;
	spin_init(&spin, 10000, 2);
	assert_true(wait_for_nothing(&spin) >= spin.bound);
}

static void test_one_late_request_is_enough(void **state)
{
	struct spin spin;

	(void)state;
	spin_init(&spin, 100, 2);
	for (int i = 0; i < 100; i++) {
		ask();
		receive(&spin, 0);
	}
	receive(&spin, 20);
	assert_true(spin.gap >= spin.bound);
	/* then it does not even look once */
	spin.at_once = 7;
	wait_for_nothing(&spin);
	assert_int_equal(spin.at_once, 7);
}

static void test_after_a_few_soon_ones_it_looks_again(void **state)
{
	struct spin spin;
	int tries = 0;

	(void)state;
	spin_init(&spin, 100, 2);
	receive(&spin, 20);
	assert_true(spin.gap >= spin.bound);
	for (; spin.gap >= spin.bound && tries < 1000; tries++) {
		ask();
		receive(&spin, 0);
	}
	assert_in_range(tries, 2, 999);
}

static void test_others_need_the_processor(void **state)
{
	struct spin spin;

	(void)state;
	spin_init(&spin, 10000, 2);
	spin.not_before = INT64_MAX;
	spin.at_once = 7;
	wait_for_nothing(&spin);
	assert_int_equal(spin.at_once, 7);
}

static void test_one_thread_is_too_few(void **state)
{
	struct spin spin;
	unsigned served = 0;

	(void)state;
	spin_init(&spin, 10000, 2);
	while (!spin_is_overloaded(&spin) && served < 100000) {
		ask();
		receive(&spin, 0);
		/* that is another matter */
		spin.not_before = 0;
		served++;
	}
	assert_in_range(served, 256, 99999);
	assert_false(spin_is_overloaded(&spin));
}

static int open_connection(void **state)
{
	(void)state;
	return pipe(connection);
}

static int close_connection(void **state)
{
	(void)state;
	close(connection[0]);
	return close(connection[1]);
}

#define WITH_CONNECTION(test) \
	cmocka_unit_test_setup_teardown(test, open_connection, close_connection)

static const struct CMUnitTest spin[] = {
	cmocka_unit_test(test_bounds),
	WITH_CONNECTION(test_it_looks_as_long_as_it_may),
	WITH_CONNECTION(test_one_late_request_is_enough),
	WITH_CONNECTION(test_after_a_few_soon_ones_it_looks_again),
	WITH_CONNECTION(test_others_need_the_processor),
	WITH_CONNECTION(test_one_thread_is_too_few),
};

UNIT_MAIN(spin)
