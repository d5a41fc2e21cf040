/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ring of events, their lines, and members of gzip, whatever ends their writers. */
#include "unit.h"

#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stats/stats.h"
#include "trace/trace.h"
#include "trace/trace_lines.h"
#include "trace/trace_members.h"

enum { MORE_THAN_ALL = 40000, EACH = 20000, CHILDREN = 3 };

static int make_ring(void **state)
{
	(void)state;
	return trace_share();
}

static int end_ring(void **state)
{
	(void)state;
	trace_end();
	return 0;
}

static void add_number(uint64_t number)
{
	trace_add(&(struct trace_event){ .kind = TRACE_READ, .subject = number,
					 .offset = ~number });
}

static void test_events_come_in_order(void **state)
{
	struct trace_event event;

	(void)state;
	assert_false(trace_take(&event));
	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < EACH; i++)
			add_number(i);
		for (uint64_t i = 0; i < EACH; i++) {
			assert_true(trace_take(&event));
			assert_true(event.subject == i && event.offset == ~i);
		}
		assert_false(trace_take(&event));
	}
	assert_true(trace_dropped() == 0);
}

static void test_a_full_ring_drops_and_counts(void **state)
{
	struct trace_event event;
	uint64_t taken = 0;

	(void)state;
	for (uint64_t i = 0; i < MORE_THAN_ALL; i++)
		add_number(i);
	while (trace_take(&event))
		assert_true(event.subject == taken++);
	assert_true(taken > 0 && taken + trace_dropped() == MORE_THAN_ALL);
	add_number(5);
	assert_true(trace_take(&event) && event.subject == 5);
}

static void test_without_a_ring_nothing_is_added(void **state)
{
	struct trace_event event;

	(void)state;
	trace_end();
	add_number(1);
	assert_false(trace_take(&event));
	assert_true(trace_dropped() == 0);
	assert_int_equal(trace_share(), 0);
}

/* Processes that are killed at any place leave no event that keeps others from being seen. */
static void test_killed_servers_leave_no_gap(void **state)
{
	struct trace_event event;
	bool seen = false;
	uint64_t taken = 0;

	(void)state;
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (child == 0) {
			trace_begin_server();
			for (uint64_t n = 0;; n++)
				add_number(n);
		}
		assert_true(child > 0);
		while (taken < (uint64_t)(i + 1) * EACH) {
			if (!trace_take(&event))
				continue;
			assert_true(event.offset == ~event.subject);
			assert_true(event.process == (uint32_t)child);
			taken++;
		}
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		trace_begin_server();
		while (trace_take(&event))
			assert_true(event.offset == ~event.subject);
	}
	add_number(4711);
	while (trace_take(&event))
		seen |= event.subject == 4711;
	assert_true(seen);
}

/* ---- Lines ---- */

static bool name_node(const void *context, uint64_t node, char *out, size_t size)
{
	(void)context;
	snprintf(out, size, "/mnt/%llu\"\n", (unsigned long long)node);
	return true;
}

static const char *name_source(const void *context, size_t i, uint64_t *subject)
{
	(void)context;
	*subject = 77 - i;
	return i == 0 ? "/data/a.tar" : i == 1 ? "/data/b.tar" : NULL;
}

static const struct trace_names names = {
	.node = name_node, .source = name_source, .nodes = 100, .dataset = "/data/a.tar",
	.mountpoint = "/mnt",
};

static size_t count_of(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

static void test_lines_have_their_files(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct trace_lines *lines = trace_lines_new(&names, out);
	struct trace_event event = { .kind = TRACE_READ, .subject = 3, .size = 10,
				     .offset = 20, .result = -EIO };

	(void)state;
	assert_non_null(lines);
	trace_lines_begin(lines);
	trace_lines_add(lines, &event);
	trace_lines_add(lines, &event);
	event.subject = 1000; /* no node: the server is not trusted */
	trace_lines_add(lines, &event);
	event = (struct trace_event){ .kind = TRACE_STORAGE, .subject = 76, .storage = 1 };
	trace_lines_add(lines, &event);
	trace_lines_dropped(lines, 0);
	trace_lines_dropped(lines, 9);
	trace_lines_end(lines, 9);
	trace_lines_name_again(lines);
	event = (struct trace_event){ .kind = TRACE_LOOKUP, .subject = 3 };
	trace_lines_add(lines, &event);
	trace_lines_free(lines);
	fclose(out);
	assert_true(strncmp(text, "{\"name\":\"HH\"", 12) == 0);
	assert_int_equal(count_of(text, "\"name\":\"/mnt/3\\\"\\u000a\""), 2);
	assert_int_equal(count_of(text, "/mnt/1000"), 0);
	assert_int_equal(count_of(text, "\"count\":10,\"offset\":20,\"ret\":-5,\"storage\":0}"), 3);
	assert_int_equal(count_of(text, "\"/data/b.tar\""), 2);
	assert_int_equal(count_of(text, "\"dropped\":9}"), 2);
	assert_int_equal(count_of(text, "\"ph\":4,"), 7);
	assert_int_equal(count_of(text, "\n"), 15);
	free(text);
}

/* ---- Members ---- */

static void test_a_member_is_whole_or_not_there(void **state)
{
	int file = memfd_create("trace", MFD_CLOEXEC);
	struct trace_members *members = trace_members_new(file, "of this");
	off_t before;

	(void)state;
	if (!WITH_ZLIB)
		skip();
	assert_non_null(members);
	assert_false(trace_members_are_of(file, "of this"));
	assert_int_equal(trace_members_write(members, "text\n", 5), 0);
	assert_int_equal(trace_members_write(members, "more\n", 5), 0);
	before = lseek(file, 0, SEEK_END);
	assert_true(before > 40);
	assert_true(trace_members_are_of(file, "of this"));
	assert_false(trace_members_are_of(file, "of that"));
	assert_false(trace_members_are_of(file, "of"));
	trace_members_free(members);
	close(file);
}

static const struct CMUnitTest traces[] = {
	cmocka_unit_test_setup_teardown(test_events_come_in_order, make_ring, end_ring),
	cmocka_unit_test_setup_teardown(test_a_full_ring_drops_and_counts, make_ring, end_ring),
	cmocka_unit_test_setup_teardown(test_without_a_ring_nothing_is_added, make_ring,
					end_ring),
	cmocka_unit_test_setup_teardown(test_killed_servers_leave_no_gap, make_ring, end_ring),
	cmocka_unit_test(test_lines_have_their_files),
	cmocka_unit_test(test_a_member_is_whole_or_not_there),
};

UNIT_MAIN(traces)
