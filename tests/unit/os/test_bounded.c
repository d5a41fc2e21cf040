/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work in a child process, for so long. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/bounded.h"

enum { ENOUGH = 20000, SHORT = 100, PROMPT = 5000 };

static int give(void *result)
{
	return *(const int *)result;
}

static int wait_for_ever(void *nothing)
{
	(void)nothing;
	signal(SIGTERM, SIG_IGN);
	while (pause() < 0)
		;
	return 0;
}

static int die(void *nothing)
{
	(void)nothing;
	raise(SIGKILL);
	return 0;
}

static void test_the_result_comes_back(void **state)
{
	(void)state;
	for (int i = 0; i < 256; i += 51)
		assert_int_equal(bounded_run(give, &i, ENOUGH), i);
}

static void test_what_does_not_end_is_ended(void **state)
{
	long long start = bounded_now();

	(void)state;
	assert_int_equal(bounded_run(wait_for_ever, NULL, SHORT), -ETIMEDOUT);
	assert_in_range(bounded_now() - start, SHORT, PROMPT);
}

static void test_what_a_signal_ends(void **state)
{
	(void)state;
	assert_int_equal(bounded_run(die, NULL, ENOUGH), -EINTR);
}

static int is_open(void *fd)
{
	return fcntl(*(const int *)fd, F_GETFD) >= 0;
}

static void test_it_holds_no_descriptor(void **state)
{
	int fds[2], far, standard = STDERR_FILENO;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	far = fcntl(fds[1], F_DUPFD, 200);
	assert_true(far >= 200);
	assert_int_equal(bounded_run(is_open, &fds[0], ENOUGH), 0);
	assert_int_equal(bounded_run(is_open, &far, ENOUGH), 0);
	assert_int_equal(bounded_run(is_open, &standard, ENOUGH), 1);
	assert_true(is_open(&far));
	close(far);
	close(fds[0]);
	close(fds[1]);
}

static int is_pipe(void *fd)
{
	struct stat st;

	return fstat(*(const int *)fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static int run_with_pipes(void *nothing)
{
	int ends[2], held = 0;

	(void)nothing;
	if (pipe(ends) < 0)
		return 99;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(ends[fd != STDIN_FILENO], fd);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		held += bounded_run(is_pipe, &fd, ENOUGH) != 0 || !is_pipe(&fd);
	return held;
}

/* The reader of a pipe waits for the last process that holds its other end. */
static void test_it_holds_no_stream_of_its_parent(void **state)
{
	(void)state;
	assert_int_equal(unit_child(run_with_pipes, NULL), 0);
}

static int run_without_children(void *nothing)
{
	int seven = 7;

	(void)nothing;
	signal(SIGCHLD, SIG_IGN);
	return bounded_run(give, &seven, ENOUGH);
}

static void test_the_parent_ignores_its_children(void **state)
{
	(void)state;
	assert_int_equal(unit_child(run_without_children, NULL), 7);
}

static void test_a_pause_takes_its_time(void **state)
{
	long long start = bounded_now();

	(void)state;
	bounded_pause(30);
	assert_true(bounded_now() - start >= 29);
}

static const struct CMUnitTest bounded[] = {
	cmocka_unit_test(test_the_result_comes_back),
	cmocka_unit_test(test_what_does_not_end_is_ended),
	cmocka_unit_test(test_what_a_signal_ends),
	cmocka_unit_test(test_it_holds_no_descriptor),
	cmocka_unit_test(test_it_holds_no_stream_of_its_parent),
	cmocka_unit_test(test_the_parent_ignores_its_children),
	cmocka_unit_test(test_a_pause_takes_its_time),
};

UNIT_MAIN(bounded)
