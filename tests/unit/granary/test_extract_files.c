/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests that a child that was taken over may make of its parent. Its messages
 * are no part of the interface, so the test has them from the source.
 *
 * granary-test: CPPFLAGS = $(granary_CPPFLAGS)
 * granary-test: SOURCES += tools/granary/safe_output.c
 */
#include "extract_files.c"

#include "unit.h"

enum { CHANNELS = 2, DIRECTORIES = 4 };

struct broker *sandbox_child_broker(void)
{
	return NULL;
}

static int send(struct extract_files *o, unsigned channel, enum extract_call kind,
		const struct extract_files_order *order)
{
	static char bytes[BROKER_BYTES];
	struct broker_reply answer = { .data = bytes, .fd = -1 };

	return extract_files_serve(o,
				   &(struct broker_request){ .channel =
							     SANDBOX_CHILD_OWN + channel,
								.kind = kind,
								.data = order,
								.size =
								sizeof(*order) },
								&answer);
}

/* Two threads of the parent's would make the same tables. */
static void test_only_the_first_channel_opens(void **state)
{
	struct extract_files *o = extract_files_new("out", EXISTING_REFUSE, CHANNELS,
						    DIRECTORIES);
	struct extract_files_order order = { .other = DIRECTORIES };

	(void)state;
	assert_non_null(o);
	assert_int_equal(send(o, 1, CALL_OPEN, &order), -EINVAL);
	assert_int_equal(access("out", F_OK), -1);
	assert_int_equal(send(o, 0, CALL_OPEN, &order), 0);
	assert_int_equal(send(o, 0, CALL_OPEN, &order), -EINVAL);
	extract_files_free(o);
}

static void test_directories_and_names_that_make_no_sense(void **state)
{
	static const char *const names[] = { "", ".", "..", "a/b", "/etc" };
	struct extract_files *o = extract_files_new("out2", EXISTING_REFUSE, CHANNELS,
						    DIRECTORIES);
	struct extract_files_order order = { .other = DIRECTORIES + 1 };

	(void)state;
	assert_non_null(o);
	assert_int_equal(send(o, 0, CALL_OPEN, &order), -EINVAL);
	assert_int_equal(send(o, 0, CALL_BEGIN_DIRECTORY, &order), -EINVAL);
	order.other = DIRECTORIES;
	assert_int_equal(send(o, 0, CALL_OPEN, &order), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		order = (struct extract_files_order){ .directory = 1 };
		snprintf(order.name, sizeof(order.name), "%s", names[i]);
		assert_int_equal(send(o, 0, CALL_DIRECTORY, &order), -EINVAL);
		order.directory = 0;
		assert_int_equal(send(o, 1, CALL_BEGIN, &order), -EINVAL);
	}
	order = (struct extract_files_order){ .directory = 2, .other = 3, .name = "a" };
	assert_int_equal(send(o, 0, CALL_DIRECTORY, &order), -EINVAL);
	assert_int_equal(send(o, 1, CALL_PUBLISH, &order), -EINVAL);
	assert_int_equal(send(o, 1, CALL_BEGIN, &order), -EINVAL);
	extract_files_free(o);
}

static const struct CMUnitTest outposts[] = {
	cmocka_unit_test(test_only_the_first_channel_opens),
	cmocka_unit_test(test_directories_and_names_that_make_no_sense),
};

UNIT_MAIN(outposts)
