/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which readers get a shield, by their requests in each quarter of a second. */
#include "unit.h"

#include "fuse/front_rule.h"

enum { STEP_MS = 250, STEPS = 400 };

static const struct client {
	const char *name;
	unsigned ioctls, others; /* a step */
	unsigned steps;          /* 0: all */
	unsigned pause;          /* steps without a request after each */
	bool shielded;
} clients[] = {
	{ "Python 3.11, warm, two processes", 9700, 0, 0, 0, true },
	{ "a loader that decodes, 200 files a second", 50, 0, 0, 0, true },
	{ "a first epoch, with a read and a look-up a file", 500, 1000, 0, 0, true },
	{ "a loader beside a walk in C", 500, 1400, 0, 0, true },
	{ "30 files a second", 7, 7, 0, 0, false },
	{ "Python 3.14, warm", 0, 0, 0, 0, false },
	{ "Python 3.14 or C, first epoch", 0, 5000, 0, 0, false },
	{ "large files, in 50 reads each", 100, 5000, 0, 0, false },
	{ "a script that reads 900 files", 900, 900, 1, 0, false },
	{ "a script that reads 2,000 files within a step", 2000, 2000, 1, 0, false },
	{ "500 files every three minutes", 500, 500, 0, 719, false },
	{ "find", 0, 20000, 0, 0, false },
	{ "nobody", 0, 0, 0, 0, false },
};

/* The first step after which a shield is worth it; 0: never. */
static unsigned first_step(const struct client *client, int64_t begin_ms)
{
	struct front_counts now = { 0, 0 };
	struct front_rule rule = { 0 };

	for (unsigned i = 1; i <= STEPS; i++) {
		if ((!client->steps || i <= client->steps) && i % (client->pause + 1) == 0) {
			now.ioctls += client->ioctls;
			now.requests += client->ioctls + client->others;
		}
		if (front_rule_note(&rule, now, begin_ms + i * STEP_MS))
			return i;
	}
	return 0;
}

static void test_clients(void **state)
{
	const struct client *client = &clients[unit_row(state)];

	assert_int_equal(first_step(client, 0) > 0, client->shielded);
	/* a mount that was made long after the machine's start */
	assert_int_equal(first_step(client, 1000000000) > 0, client->shielded);
}

static void test_a_fast_reader_soon_has_one(void **state)
{
	(void)state;
	assert_in_range(first_step(&clients[0], 5), 2, 3);
}

/* A pause between a walk and the epoch does not count as reading. */
static void test_a_new_period_begins_at_its_last_call(void **state)
{
	const int64_t later = 2000 + 2 * FRONT_MS;
	struct front_rule rule = { 0 };

	(void)state;
	/* mostly the walk's */
	assert_false(front_rule_note(&rule, (struct front_counts){ 0, 1000000 }, 1000));
	assert_false(front_rule_note(&rule, (struct front_counts){ 2000, 1002000 }, 1250));
	assert_false(front_rule_note(&rule, (struct front_counts){ 4000, 1004000 }, 1500));
	assert_false(front_rule_note(&rule, (struct front_counts){ 4000, 1004000 }, later));
	assert_false(front_rule_note(&rule, (struct front_counts){ 6000, 1006000 },
				     later + 250));
	assert_true(front_rule_note(&rule, (struct front_counts){ 8000, 1008000 },
				    later + 500));
}

static const struct CMUnitTest tests[] = {
	unit_table(test_clients, clients, name),
	cmocka_unit_test(test_a_fast_reader_soon_has_one),
	cmocka_unit_test(test_a_new_period_begins_at_its_last_call),
};

UNIT_MAIN(tests)
