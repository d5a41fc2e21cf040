/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests that outlive a server, and what servers die of. */
#include "fuse/slots_kit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "os/bounded.h"

static void test_a_request_stays_until_it_is_answered(void **state)
{
	struct slots *slots = slots_new(THREADS);
	struct slots_death legacy;

	(void)state;
	assert_int_equal(slots_threads(slots), THREADS);
	assert_null(slots_request(slots, 0));
	assert_false(slots_pending(slots));
	put_read(slots, 1, 7, 0);
	assert_non_null(slots_request(slots, 1));
	assert_true(slots_pending(slots));
	legacy = die(slots, -1, 0);
	assert_int_equal(legacy.requests, 1);
	assert_int_equal(legacy.answered, 0);
	assert_int_equal(slots_request(slots, 1)->unique, 101);
	slots_done(slots, 1);
	assert_null(slots_request(slots, 1));
	assert_false(slots_pending(slots));
	legacy = die(slots, -1, 0);
	assert_int_equal(legacy.requests, 0);
	assert_int_equal(legacy.answered, 1);
	assert_false(legacy.ended);
	slots_set_ended(slots);
	assert_true(die(slots, -1, 0).ended);
	finish(slots);
}

static void test_another_process_sees_it(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	if (fork() == 0) {
		put_read(slots, 2, 9, 0);
		_exit(0);
	}
	wait(NULL);
	assert_non_null(slots_request(slots, 2));
	assert_int_equal(slots_request(slots, 2)->nodeid, 9);
	finish(slots);
}

static void test_reads_are_parked(void **state)
{
	struct slots *slots = slots_new(THREADS);
	int parked;

	(void)state;
	put_read(slots, 0, 7, 4096);
	parked = slots_park(slots, 0);
	assert_in_range(parked, THREADS, slots_count(slots) - 1);
	assert_null(slots_request(slots, 0));
	assert_int_equal(slots_request(slots, (unsigned)parked)->unique, 100);
	assert_true(slots_pending(slots));
	for (unsigned i = 1; i < PARKED_MOST; i++) {
		put_read(slots, 0, i, 0);
		assert_true(slots_park(slots, 0) > 0);
	}
	put_read(slots, 0, 7, 0);
	assert_int_equal(slots_park(slots, 0), -1); /* and it stays where it is */
	assert_non_null(slots_request(slots, 0));
	slots_done(slots, (unsigned)parked);
	assert_int_equal(slots_park(slots, 0), parked);
	finish(slots);
}

static void test_what_is_large_is_not_parked(void **state)
{
	struct slots *slots = slots_new(THREADS);
	char name[256];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[255] = '\0';
	put_lookup(slots, 0, name);
	assert_int_equal(slots_park(slots, 0), -1);
	assert_non_null(slots_request(slots, 0));
	finish(slots);
}

static void test_two_crashes_condemn_a_file(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	put_read(slots, 0, 7, 0);
	put_read(slots, 1, 8, 0);
	assert_int_equal(die(slots, 0, SIGSEGV).signal, SIGSEGV);
	assert_false(is_condemned(slots, 0));
	die(slots, 0, SIGABRT);
	assert_true(is_condemned(slots, 0));
	assert_false(is_condemned(slots, 1)); /* was only there */
	put_read(slots, 2, 7, 1 << 20);
	assert_true(is_condemned(slots, 2)); /* another part of the file */
	put(slots, 2, FUSE_GETATTR, 7, "", 0);
	assert_false(is_condemned(slots, 2));
	finish(slots);
}

static void test_names_are_condemned_one_by_one(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	put_lookup(slots, 0, "bad");
	die(slots, 0, SIGSEGV);
	die(slots, 0, SIGSEGV);
	assert_true(is_condemned(slots, 0));
	put_lookup(slots, 0, "good");
	assert_false(is_condemned(slots, 0));
	finish(slots);
}

/* Servers are killed while they handle what is in a slot: until it is a suspect. */
static unsigned deaths_until_suspect(struct slots *slots, unsigned slot)
{
	unsigned deaths = 0;

	while (!slots_is_suspect(slots, slot) && deaths < 1000) {
		slots_begin(slots, slot);
		die(slots, -1, 0);
		deaths++;
	}
	return deaths;
}

static void die_alone(struct slots *slots, unsigned slot)
{
	slots_alone_begins(slots, slot);
	slots_begin(slots, slot);
	die(slots, -1, 0);
}

static void die_idle(struct slots *slots)
{
	slots_idle_begins(slots);
	die(slots, -1, 0);
}

/* And then while they handle nothing else. */
static unsigned deaths_until_condemned(struct slots *slots, unsigned slot)
{
	unsigned deaths = 0;

	while (!is_condemned(slots, slot) && deaths < 1000) {
		die_alone(slots, slot);
		deaths++;
	}
	return deaths;
}

/* A killer of servers must not take a file away, however long a read takes. */
static void test_kills_do_not_condemn(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	put_read(slots, 0, 7, 0);
	for (int i = 0; i < 500; i++) {
		slots_begin(slots, 0);
		die(slots, -1, 0);
		assert_false(is_condemned(slots, 0));
	}
	/* now it is handled alone, and somebody still kills */
	for (int i = 0; i < 500; i++) {
		deaths_until_suspect(slots, 0);
		die_alone(slots, 0);
		assert_false(is_condemned(slots, 0));
		assert_true(slots_idle_required(slots) > 0);
		die_idle(slots);
		assert_int_equal(slots_idle_required(slots), 0);
		assert_false(slots_is_suspect(slots, 0));
	}
	finish(slots);
}

/* One that dies before it has come to do nothing tells nothing. */
static void test_a_death_at_once_is_no_evidence(void **state)
{
	struct slots *slots = slots_new(THREADS);
	unsigned idle;

	(void)state;
	put_read(slots, 0, 7, 0);
	deaths_until_suspect(slots, 0);
	die_alone(slots, 0);
	idle = slots_idle_required(slots);
	assert_true(idle > 0);
	die(slots, -1, 0);
	assert_int_equal(slots_idle_required(slots), idle);
	finish(slots);
}

/* Nothing is done for so long that whoever killed as late would do so again. */
static void test_nothing_is_done_for_long_enough(void **state)
{
	enum { LONG_MS = 700 };
	struct slots *slots = slots_new(THREADS);

	(void)state;
	put_read(slots, 0, 7, 0);
	deaths_until_suspect(slots, 0);
	slots_alone_begins(slots, 0);
	slots_begin(slots, 0);
	bounded_pause(LONG_MS);
	die(slots, -1, 0);
	assert_true(slots_idle_required(slots) >= 2 * LONG_MS);
	die_alone(slots, 0); /* soon, by chance */
	assert_true(slots_idle_required(slots) >= 2 * LONG_MS);
	finish(slots);
}

static void test_what_nobody_handled_is_no_suspect(void **state)
{
	struct slots *slots = slots_new(THREADS);
	int parked;

	(void)state;
	put_read(slots, 0, 7, 0);
	slots_begin(slots, 0);
	die(slots, -1, 0);
	for (int i = 0; i < 100; i++)
		die(slots, -1, 0); /* no server has come so far */
	assert_false(slots_is_suspect(slots, 0));
	slots_begin(slots, 0);
	parked = slots_park(slots, 0);
	for (int i = 0; i < 100; i++)
		die(slots, -1, 0);
	assert_false(slots_is_suspect(slots, (unsigned)parked));
	put_read(slots, 1, 8, 0);
	assert_in_range(deaths_until_suspect(slots, 1), 5, 20);
	put_read(slots, 1, 8, 0); /* the same, of somebody else */
	assert_false(slots_is_suspect(slots, 1));
	finish(slots);
}

static void test_a_suspect_keeps_its_deaths_where_it_waits(void **state)
{
	struct slots *slots = slots_new(THREADS);
	int parked;

	(void)state;
	put_read(slots, 0, 7, 0);
	deaths_until_suspect(slots, 0);
	parked = slots_park(slots, 0);
	assert_false(slots_is_suspect(slots, 0));
	assert_true(slots_is_suspect(slots, (unsigned)parked));
	slots_clear_suspect(slots, (unsigned)parked);
	assert_false(slots_is_suspect(slots, (unsigned)parked));
	finish(slots);
}

static void test_deaths_alone_condemn_for_a_while(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	put_read(slots, 0, 7, 0);
	put_read(slots, 1, 8, 0);
	slots_begin(slots, 1);
	assert_int_equal(slots_idle_required(slots), 0);
	deaths_until_suspect(slots, 0);
	assert_int_equal(slots_idle_required(slots), 0);
	die_alone(slots, 0);
	assert_in_range(slots_idle_required(slots), 1, 1000);
	assert_in_range(deaths_until_condemned(slots, 0), 5, 20);
	assert_false(is_condemned(slots, 1));
	slots_alone_begins(slots, 0);
	slots_done(slots, 0); /* refused */
	slots_alone_ends(slots);
	die(slots, -1, 0);
	assert_int_equal(slots_idle_required(slots), 0);
	now += 70;
	put_read(slots, 0, 7, 0);
	assert_false(is_condemned(slots, 0));
	finish(slots);
}

static void test_lack_of_memory_condemns_soon_and_for_a_while(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	hungry = true;
	put_read(slots, 0, 7, 0);
	assert_in_range(deaths_until_suspect(slots, 0), 1, 4);
	assert_in_range(deaths_until_condemned(slots, 0), 4, 6);
	assert_true(slots_first_refusal(slots, 0));
	assert_false(slots_first_refusal(slots, 0));
	slots_done(slots, 0);
	now += 30;
	put_read(slots, 0, 7, 0);
	assert_true(is_condemned(slots, 0));
	now += 40;
	assert_false(is_condemned(slots, 0));
	deaths_until_suspect(slots, 0);
	assert_in_range(deaths_until_condemned(slots, 0), 4, 6);
	assert_true(slots_first_refusal(slots, 0)); /* it is said again */
	hungry = false;
	finish(slots);
}

/* Somebody kills, and somebody else on this machine takes all memory again and again. */
static void test_lack_of_memory_elsewhere_does_not_condemn(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	hungry = true;
	put_read(slots, 0, 7, 0);
	for (int i = 0; i < 50; i++) {
		deaths_until_suspect(slots, 0);
		die_alone(slots, 0);
		assert_false(is_condemned(slots, 0));
		die_idle(slots);
	}
	hungry = false;
	finish(slots);
}

/* The request takes its memory slowly, and so is let go each time. */
static void test_lack_of_memory_condemns_what_is_slow(void **state)
{
	struct slots *slots = slots_new(THREADS);
	unsigned deaths = 0;

	(void)state;
	hungry = true;
	put_read(slots, 0, 7, 0);
	while (!is_condemned(slots, 0) && deaths < 100) {
		slots_clear_suspect(slots, 0);
		slots_begin(slots, 0);
		die(slots, -1, 0);
		deaths++;
	}
	assert_in_range(deaths, 4, 12);
	hungry = false;
	finish(slots);
}

static void test_crashes_condemn_for_good(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	put_read(slots, 0, 7, 0);
	die(slots, 0, SIGSEGV);
	die(slots, 0, SIGSEGV);
	now += 1000000;
	assert_true(is_condemned(slots, 0));
	finish(slots);
}

/* The table of suspects is small; the oldest make room for new ones. */
static void test_many_suspects(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	for (uint64_t node = 2; node < 500; node++) {
		put_read(slots, 0, node, 0);
		die(slots, 0, SIGSEGV);
		die(slots, 0, SIGSEGV);
		assert_true(is_condemned(slots, 0));
	}
	put_read(slots, 0, 499, 0);
	assert_true(is_condemned(slots, 0));
	put_read(slots, 0, 2, 0);
	assert_false(is_condemned(slots, 0));
	finish(slots);
}

static void test_a_refusal_is_told_once(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	put_read(slots, 0, 7, 0);
	put_read(slots, 1, 8, 0);
	die(slots, 0, SIGSEGV);
	die(slots, 0, SIGSEGV);
	assert_true(slots_first_refusal(slots, 0));
	assert_false(slots_first_refusal(slots, 0));
	put_read(slots, 2, 7, 4096);
	assert_false(slots_first_refusal(slots, 2));
	die(slots, 1, SIGSEGV);
	die(slots, 1, SIGSEGV);
	assert_true(slots_first_refusal(slots, 1));
	finish(slots);
}

static void test_ready_is_said_by_each_server(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	assert_false(die(slots, -1, 0).ready);
	slots_set_ready(slots);
	assert_true(die(slots, -1, 0).ready);
	assert_false(die(slots, -1, 0).ready);
	finish(slots);
}

static void test_a_crash_at_nothing(void **state)
{
	struct slots *slots = slots_new(THREADS);

	(void)state;
	put_read(slots, 0, 7, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(die(slots, -1, SIGSEGV).requests, 1);
	assert_false(is_condemned(slots, 0));
	/* of two threads only the first has crashed by itself */
	put_read(slots, 1, 8, 0);
	slots_crashed(slots, 0, SIGSEGV);
	die(slots, 1, SIGABRT);
	slots_crashed(slots, 0, SIGSEGV);
	die(slots, 1, SIGABRT);
	assert_true(is_condemned(slots, 0));
	assert_false(is_condemned(slots, 1));
	finish(slots);
}

static const struct CMUnitTest slots[] = {
	cmocka_unit_test(test_a_request_stays_until_it_is_answered),
	cmocka_unit_test(test_another_process_sees_it),
	cmocka_unit_test(test_reads_are_parked),
	cmocka_unit_test(test_what_is_large_is_not_parked),
	cmocka_unit_test(test_two_crashes_condemn_a_file),
	cmocka_unit_test(test_names_are_condemned_one_by_one),
	cmocka_unit_test(test_kills_do_not_condemn),
	cmocka_unit_test(test_a_death_at_once_is_no_evidence),
	cmocka_unit_test(test_nothing_is_done_for_long_enough),
	cmocka_unit_test(test_what_nobody_handled_is_no_suspect),
	cmocka_unit_test(test_a_suspect_keeps_its_deaths_where_it_waits),
	cmocka_unit_test(test_deaths_alone_condemn_for_a_while),
	cmocka_unit_test(test_lack_of_memory_condemns_soon_and_for_a_while),
	cmocka_unit_test(test_lack_of_memory_elsewhere_does_not_condemn),
	cmocka_unit_test(test_lack_of_memory_condemns_what_is_slow),
	cmocka_unit_test(test_crashes_condemn_for_good),
	cmocka_unit_test(test_many_suspects),
	cmocka_unit_test(test_a_refusal_is_told_once),
	cmocka_unit_test(test_ready_is_said_by_each_server),
	cmocka_unit_test(test_a_crash_at_nothing),
};

UNIT_MAIN(slots)
