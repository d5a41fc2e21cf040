/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers of a child that was taken over, to the parent that packs. A line keeps the
 * answers until they are asked for.
 *
 * granary-test: CPPFLAGS = $(granary_CPPFLAGS)
 * granary-test: SOURCES += tools/granary/tree_server.c
 * granary-test: LDADD += $(unit_packer_libs) $(unit_dataset_libs)
 */
#include "tree_input.c"

#include "unit.h"

#include <sys/socket.h>
#include <unistd.h>

static struct tree_server *server;

static int begin(void **state)
{
	int ends[2];

	(void)state;
	server = calloc(1, sizeof(*server) + sizeof(server->lines[0]));
	assert_non_null(server);
	server->lock = (struct lock)LOCK_INIT;
	server->idle = (struct wakeup)WAKEUP_INIT;
	server->count = 1;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	server->lines[0] = (struct tree_line){ .parent = ends[0], .child = ends[1],
					       .memory = calloc(1, LINE_BYTES) };
	assert_non_null(server->lines[0].memory);
	return 0;
}

static int end(void **state)
{
	(void)state;
	tree_close_end(&server->lines[0].parent);
	tree_close_end(&server->lines[0].child);
	free(server->lines[0].memory);
	free(server);
	return 0;
}

static void answer(int32_t err, uint32_t length)
{
	const struct tree_answer one = { .err = err, .length = length };

	assert_true(tree_send(server->lines[0].child, &one, sizeof(one)));
}

/* The child sends this status and text: what is said of it. */
static void say(int32_t err, int status, char fill, struct error *e)
{
	struct pack_scan scan = { .root = -1 };
	struct error sent = { .status = (enum error_status)status };

	memset(sent.text, fill, sizeof(sent.text));
	memcpy(server->lines[0].memory, &sent, sizeof(sent));
	answer(err, sizeof(sent));
	*e = (struct error){ 0 };
	assert_int_equal(tree_input_list(server, &scan, e), -EBADMSG);
	pack_scan_free(&scan);
}

static void test_sentences_are_copied(void **state)
{
	static const int statuses[] = { ERROR_SYSTEM, ERROR_DATASET, ERROR_DAMAGED };
	struct error e;

	(void)state;
	for (size_t i = 0; i < COUNT(statuses); i++) {
		say(-EIO, statuses[i], 'x', &e);
		assert_int_equal(e.status, statuses[i]);
		assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	}
	say(INT32_MIN, ERROR_DATASET, '\n', &e);
	assert_null(strchr(e.text, '\n'));
}

/* 0 would be success, and others are of the command line. */
static void test_statuses_are_checked(void **state)
{
	static const int statuses[] = { 0, ERROR_USAGE, ERROR_LATE, ERROR_PARTIAL, 99, -1 };
	struct error e;

	(void)state;
	for (size_t i = 0; i < COUNT(statuses); i++) {
		say(5, statuses[i], 'x', &e);
		assert_int_equal(e.status, ERROR_DATASET);
		assert_string_equal(e.text, "the tree of the dataset cannot be listed");
	}
}

static void test_errors_of_reads_are_known(void **state)
{
	static const struct {
		int32_t err;
		uint32_t length;
		int want;
	} rows[] = { { 0, 4, 0 }, { 0, 3, -EBADMSG }, { -EIO, 0, -EIO }, { 5, 4, -EBADMSG },
		     { INT32_MIN, 0, -EBADMSG }, { -EPIPE, 0, -EBADMSG } };
	const struct pack_scan_entry file = { .kind = PACK_FILE, .size = 4 };
	char bytes[4];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		answer(rows[i].err, rows[i].length);
		assert_int_equal(tree_input_read(server, &file, bytes, sizeof(bytes), 0),
				 rows[i].want);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_sentences_are_copied, begin, end),
	cmocka_unit_test_setup_teardown(test_statuses_are_checked, begin, end),
	cmocka_unit_test_setup_teardown(test_errors_of_reads_are_known, begin, end),
};

UNIT_MAIN(tests)
