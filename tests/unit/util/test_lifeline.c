/* Whether the main thread of another process still lives. */
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/lifeline.h"

/* A child that holds it until it is killed; it has it when this returns. */
static pid_t hold(struct lifeline *line)
{
	int fds[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		if (lifeline_hold(line) < 0 || write(fds[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	close(fds[1]);
	return child;
}

static bool is_cut_soon(struct lifeline *line)
{
	for (int i = 0; i < 5000; i++) {
		if (lifeline_is_cut(line))
			return true;
		usleep(1000);
	}
	return false;
}

static void test_cut_by_death_before_it_is_reaped(void **state)
{
	struct lifeline *line = lifeline_new();

	(void)state;
	assert_false(lifeline_is_cut(line)); /* nobody has held it */
	for (int i = 0; i < 3; i++) {
		pid_t child = hold(line);

		assert_false(lifeline_is_cut(line));
		kill(child, SIGKILL);
		assert_true(is_cut_soon(line));
		assert_false(lifeline_is_cut(line)); /* it is told once */
		waitpid(child, NULL, 0);
	}
	lifeline_free(line);
}

static void test_the_next_one_takes_over(void **state)
{
	struct lifeline *line = lifeline_new();
	pid_t child = hold(line);

	(void)state;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	lifeline_reset(line);
	assert_false(lifeline_is_cut(line));
	child = hold(line);
	assert_false(lifeline_is_cut(line));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* even where nobody mended it */
	child = hold(line);
	assert_false(lifeline_is_cut(line));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	lifeline_free(line);
}

/* vfork(2) keeps its caller in state D for as long as the child has not ended. */
static int wait_in_vfork(void *argument)
{
	char byte;

	if (vfork() == 0) {
		while (read(*(int *)argument, &byte, 1) > 0)
			;
		_exit(0);
	}
	pause();
	return 0;
}

static bool is_stuck_soon(pid_t process)
{
	for (int i = 0; i < 5000 && !lifeline_rest_is_stuck(process); i++)
		usleep(1000);
	return lifeline_rest_is_stuck(process);
}

static void test_what_is_left_of_a_process(void **state)
{
	pid_t child;
	int fds[2];

	(void)state;
	assert_false(lifeline_rest_is_stuck(getpid()));
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		close(fds[1]);
		_exit(wait_in_vfork(&fds[0]));
	}
	close(fds[0]);
	assert_true(is_stuck_soon(child)); /* in state D */
	close(fds[1]);                     /* now it waits where signals end it */
	for (int i = 0; i < 5000 && lifeline_rest_is_stuck(child); i++)
		usleep(1000);
	assert_false(lifeline_rest_is_stuck(child));
	kill(child, SIGKILL);
	assert_true(is_stuck_soon(child)); /* dead, not reaped */
	waitpid(child, NULL, 0);
	assert_true(lifeline_rest_is_stuck(child)); /* there is none */
}

static const struct CMUnitTest lifeline[] = {
	cmocka_unit_test(test_cut_by_death_before_it_is_reaped),
	cmocka_unit_test(test_the_next_one_takes_over),
	cmocka_unit_test(test_what_is_left_of_a_process),
};

UNIT_MAIN(lifeline)
