/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invariants of requests and of handles are checked. */
#include "fuse/slots_kit.h"

/* Each rule of slots_state.h, broken. */
static void break_length(struct slots *slots)
{
	atomic_store(slots_length(slots, 0), 3);
}

static void break_parked(struct slots *slots)
{
	struct fuse_in_header *request = slots_place(slots, THREADS + 1);

	*request = (struct fuse_in_header){ .opcode = FUSE_WRITE, .len = sizeof(*request) };
}

static void break_alone(struct slots *slots)
{
	slots_alone_begins(slots, slots_count(slots));
}

static void break_crash(struct slots *slots)
{
	slots_crashed(slots, (int)slots_count(slots), SIGSEGV);
}

static void break_idle(struct slots *slots)
{
	slots->idle_ms = IDLE_MOST_MS + 1;
}

static void break_nameless(struct slots *slots)
{
	slots->suspects[3].condemned_until = 1;
}

static void break_order(struct slots *slots)
{
	slots->suspects[3] = (struct suspect){ .name = 1, .order = 1 };
}

static void break_condemned(struct slots *slots)
{
	slots->suspects_seen = 1;
	slots->suspects[3] = (struct suspect){ .name = 1, .order = 1, .condemned_until = 1 };
}

static void break_names(struct slots *slots)
{
	slots->suspects_seen = 2;
	slots->suspects[3] = (struct suspect){ .name = 1, .order = 1 };
	slots->suspects[9] = (struct suspect){ .name = 1, .order = 2 };
}

static void break_orders(struct slots *slots)
{
	slots->suspects_seen = 2;
	slots->suspects[3] = (struct suspect){ .name = 1, .order = 2 };
	slots->suspects[9] = (struct suspect){ .name = 2, .order = 2 };
}

static const struct {
	void (*spoil)(struct slots *slots);
	const char *said;
} rows[] = {
	{ break_length, "a length that none can have" },
	{ break_parked, "parked that is no read" },
	{ break_alone, "handled alone that is not there" },
	{ break_crash, "crashed in a slot that is not there" },
	{ break_idle, "for too long" },
	{ break_nameless, "without a name" },
	{ break_order, "in no order" },
	{ break_condemned, "is not looked for" },
	{ break_names, "one name" },
	{ break_orders, "came at once" },
};

static void test_broken_states_are_seen(void **state)
{
	size_t i = unit_row(state);
	struct slots *slots = slots_new(THREADS);
	const char *said;

	assert_null(slots_check(slots));
	rows[i].spoil(slots);
	said = slots_check(slots);
	assert_non_null(said);
	assert_non_null(strstr(said, rows[i].said));
	slots_free(slots);
}

static int use_what_is_no_handle(void *argument)
{
	static char zeros[sizeof(struct slots)];

	(void)argument;
	return (int)slots_count((const struct slots *)(const void *)zeros);
}

static void test_a_handle_is_known(void **state)
{
	(void)state;
	assert_int_equal(unit_child(use_what_is_no_handle, NULL), 256 + SIGABRT);
}

static const struct CMUnitTest slots[] = {
	unit_table(test_broken_states_are_seen, rows, said),
	cmocka_unit_test(test_a_handle_is_known),
};

UNIT_MAIN(slots)
