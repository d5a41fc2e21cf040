/* SPDX-License-Identifier: GPL-3.0-or-later */
/* struct error: filling, prefixing, and texts that are too long. */
#include "unit.h"

#include <errno.h>

#include "base/error.h"

static void test_set_fills_and_negates(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(error_set(&e, ERROR_DATASET, EBADMSG, "%s at %d", "bad", 7),
			 -EBADMSG);
	assert_int_equal(e.status, ERROR_DATASET);
	assert_string_equal(e.text, "bad at 7");
	assert_int_equal(error_set(NULL, ERROR_USAGE, EINVAL, "x"), -EINVAL);
}

static void test_set_cuts_a_long_text(void **state)
{
	struct error e;

	(void)state;
	error_set(&e, ERROR_SYSTEM, EIO, "%05000d", 0);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
}

/* A name may hold anything, and a sentence is one line. */
static void test_control_characters_are_escaped(void **state)
{
	static const char name[] = "a\n\033[2Jb\177\t\303\251";
	static const char shown[] = "a\\012\\033[2Jb\\177\\011\303\251";
	struct error e;

	(void)state;
	error_set(&e, ERROR_DATASET, EBADMSG, "'%s'", name);
	assert_memory_equal(e.text + 1, shown, sizeof(shown) - 1);
	error_prefix(&e, "%s", name);
	assert_memory_equal(e.text, shown, sizeof(shown) - 1);
	assert_memory_equal(e.text + sizeof(shown) + 2, shown, sizeof(shown) - 1);
}

/* A text is not cut within an escape. */
static void test_a_long_text_ends_before_an_escape(void **state)
{
	struct error e;

	(void)state;
	for (int i = 0; i < 8; i++) {
		error_set(&e, ERROR_SYSTEM, EIO, "%0*d%s", (int)sizeof(e.text) - 1 - i, 0,
			  "\n\n");
		assert_null(strchr(e.text, '\n'));
		assert_int_equal((strlen(e.text) - (sizeof(e.text) - 1 - (size_t)i)) % 4, 0);
	}
}

static void test_prefix_comes_first(void **state)
{
	struct error e;

	(void)state;
	error_set(&e, ERROR_MOUNT, EIO, "reason");
	error_prefix(&e, "file %s", "a");
	assert_string_equal(e.text, "file a: reason");
	assert_int_equal(e.status, ERROR_MOUNT);
	error_prefix(NULL, "nothing to do");
}

/* Lengths of prefix and text around the room that there is. */
static void test_prefix_cuts_at_the_end(void **state)
{
	const int room = sizeof(((struct error *)NULL)->text);
	const int lengths[] = { 1, 100, room - 4, room - 3, room - 2, room - 1, room,
				room + 1, 3 * room };

	(void)state;
	for (size_t i = 0; i < COUNT(lengths); i++) {
		for (size_t k = 0; k < COUNT(lengths); k++) {
			struct error e;
			size_t prefix = (size_t)lengths[k], text = (size_t)lengths[i];
			size_t most = (size_t)room - 1, kept = text < most ? text : most;
			size_t whole = (prefix < most ? prefix : most) + 2 + kept;

			error_set(&e, ERROR_SYSTEM, EIO, "%0*d", lengths[i], 0);
			error_prefix(&e, "%*s", lengths[k], "p");
			assert_int_equal(strlen(e.text), whole < most ? whole : most);
			assert_int_equal(e.text[0], prefix == 1 ? 'p' : ' ');
		}
	}
}

static const struct CMUnitTest error[] = {
	cmocka_unit_test(test_set_fills_and_negates),
	cmocka_unit_test(test_set_cuts_a_long_text),
	cmocka_unit_test(test_control_characters_are_escaped),
	cmocka_unit_test(test_a_long_text_ends_before_an_escape),
	cmocka_unit_test(test_prefix_comes_first),
	cmocka_unit_test(test_prefix_cuts_at_the_end),
};

UNIT_MAIN(error)
