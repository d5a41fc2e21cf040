/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process that writes a trace: the files that it takes, and the last events. */
#include "unit.h"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/trace.h"
#include "trace/trace_writer.h"

enum { NOBODY = 65534 };

static int make_ring(void **state)
{
	(void)state;
	if (!WITH_ZLIB)
		return 0;
	unlink("t.pfw.gz");
	return trace_share();
}

static int end_ring(void **state)
{
	(void)state;
	trace_end();
	return 0;
}

static bool name_node(const void *context, uint64_t node, char *out, size_t size)
{
	(void)context;
	snprintf(out, size, "/mnt/%llu", (unsigned long long)node);
	return true;
}

static const char *name_source(const void *context, size_t i, uint64_t *subject)
{
	(void)context;
	(void)i;
	(void)subject;
	return NULL;
}

static const struct trace_names names = {
	.node = name_node, .source = name_source, .nodes = 10000, .dataset = "/data/a.tar",
	.mountpoint = "/mnt",
};

/* Ends the writer, and waits: it holds the file's lock. */
static void end_writer(int senders)
{
	int file = open("t.pfw.gz", O_RDONLY | O_CLOEXEC);

	assert_true(file >= 0 && senders >= 0);
	close(senders);
	assert_int_equal(flock(file, LOCK_EX), 0);
	close(file);
}

static mode_t mode_of_trace(void)
{
	struct stat st;

	assert_int_equal(stat("t.pfw.gz", &st), 0);
	return st.st_mode & 07777;
}

static void test_a_trace_is_its_users_alone(void **state)
{
	struct error e;

	(void)state;
	if (!WITH_ZLIB)
		skip();
	end_writer(trace_writer_start(&names, "t.pfw.gz", &e));
	assert_int_equal(mode_of_trace(), 0600);
	assert_int_equal(chmod("t.pfw.gz", 0664), 0);
	end_writer(trace_writer_start(&names, "t.pfw.gz", &e)); /* its own earlier trace */
	assert_int_equal(mode_of_trace(), 0600);
	assert_int_equal(truncate("t.pfw.gz", 0), 0);
	assert_int_equal(chmod("t.pfw.gz", 0666), 0);
	end_writer(trace_writer_start(&names, "t.pfw.gz", &e));
	assert_int_equal(mode_of_trace(), 0600);
}

static void test_another_users_file_is_refused(void **state)
{
	struct error e;

	(void)state;
	if (!WITH_ZLIB || geteuid() != 0)
		skip();
	end_writer(trace_writer_start(&names, "t.pfw.gz", &e));
	for (int empty = 0; empty < 2; empty++) {
		if (empty)
			assert_int_equal(truncate("t.pfw.gz", 0), 0);
		assert_int_equal(chown("t.pfw.gz", NOBODY, NOBODY), 0);
		assert_int_equal(trace_writer_start(&names, "t.pfw.gz", &e), -EPERM);
		assert_non_null(strstr(e.text, "t.pfw.gz: the file is there, and is another"));
	}
}

/* A child claims a cell, and dies of the event that it cannot read. */
static void leave_event_half_done(void)
{
	void *unreadable = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t child;

	assert_true(unreadable != MAP_FAILED);
	child = fork();
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		trace_add(unreadable);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	munmap(unreadable, 4096);
}

static void add_event(uint64_t node)
{
	trace_add(&(struct trace_event){ .kind = TRACE_READ, .subject = node });
}

static void test_events_behind_a_half_done_one_are_written(void **state)
{
	struct error e;
	size_t size;
	char *text;
	int senders;

	(void)state;
	if (!WITH_ZLIB)
		skip();
	senders = trace_writer_start(&names, "t.pfw.gz", &e);
	add_event(41);
	leave_event_half_done();
	add_event(42);
	leave_event_half_done();
	add_event(43);
	end_writer(senders);
	unit_shell("gzip -dc t.pfw.gz >text");
	text = unit_read("text", &size);
	assert_int_equal(unit_occurrences(text, "\"name\":\"read\""), 3);
	assert_non_null(strstr(text, "/mnt/43"));
	assert_non_null(strstr(text, "\"name\":\"end\""));
	free(text);
}

static const struct CMUnitTest writers[] = {
	cmocka_unit_test_setup_teardown(test_a_trace_is_its_users_alone, make_ring, end_ring),
	cmocka_unit_test_setup_teardown(test_another_users_file_is_refused, make_ring, end_ring),
	cmocka_unit_test_setup_teardown(test_events_behind_a_half_done_one_are_written, make_ring,
					end_ring),
};

UNIT_MAIN(writers)
