/* How a child ended, in words. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/child.h"

/* A child that ends itself by a signal, or where that is 0 by an exit status. */
static int status_of(int signal, int exit_status)
{
	struct rlimit no_core = { 0, 0 };
	pid_t child;
	int status = -1;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		if (signal) {
			(void)!sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL },
					 NULL);
			raise(signal);
		}
		_exit(exit_status);
	}
	assert_int_equal(child_wait(child, &status, NULL), 0);
	return status;
}

static const int exits[] = { 0, 1, 3, 127, 255 };

static void test_one_that_ends_by_itself_did_not_die(void **state)
{
	struct error e = { .text = "untouched" };

	(void)state;
	for (size_t i = 0; i < COUNT(exits); i++) {
		int status = status_of(0, exits[i]);

		assert_int_equal(WEXITSTATUS(status), exits[i]);
		assert_int_equal(child_indexer_died(status, "x", 0, &e), 0);
	}
	assert_string_equal(e.text, "untouched");
}

static const struct {
	int signal;
	int err;
	enum error_status status;
	const char *words[2];
} deaths[] = {
	{ SIGSEGV, -EBADMSG, ERROR_DATASET, { "'a.h5' made the indexer crash", "pack it again" } },
	{ SIGBUS, -EBADMSG, ERROR_DATASET, { "'a.h5' made the indexer crash", "damaged" } },
	{ SIGFPE, -EBADMSG, ERROR_DATASET, { "'a.h5' made the indexer crash", "damaged" } },
	{ SIGILL, -EBADMSG, ERROR_DATASET, { "'a.h5' made the indexer crash", "damaged" } },
	{ SIGABRT, -EBADMSG, ERROR_DATASET, { "'a.h5' made the indexer crash", "signal 6" } },
	{ SIGKILL, -EIO, ERROR_SYSTEM, { "'a.h5' was ended by signal 9", "memory" } },
	{ SIGTERM, -EIO, ERROR_SYSTEM, { "'a.h5' was ended by signal 15", "" } },
};

static void test_the_cause_of_death_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(deaths); i++) {
		struct error e = { 0 };
		int status = status_of(deaths[i].signal, 0);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(child_indexer_died(status, "a.h5", 0, &e), deaths[i].err);
		assert_int_equal(e.status, deaths[i].status);
		for (size_t k = 0; k < 2; k++)
			if (!strstr(e.text, deaths[i].words[k]))
				fail_msg("signal %d: %s", deaths[i].signal, e.text);
		assert_null(strchr(e.text, '\n'));
	}
}

static void test_memory_is_blamed_for_a_kill_only(void **state)
{
	struct error e = { 0 };

	(void)state;
	child_indexer_died(status_of(SIGTERM, 0), "a", 0, &e);
	assert_null(strstr(e.text, "memory"));
}

static void test_one_of_many(void **state)
{
	struct error e = { 0 };

	(void)state;
	child_indexer_died(status_of(SIGSEGV, 0), "a", 127, &e);
	assert_non_null(strstr(e.text, "'a' or one of the 127 other files made"));
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* An interrupted wait goes on until the child has ended. */
static void test_signals_do_not_end_the_wait(void **state)
{
	struct sigaction action = { .sa_handler = on_alarm }, before;
	int status = -1;
	pid_t child;

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		for (int i = 0; i < 5; i++) {
			usleep(10000);
			kill(getppid(), SIGALRM);
		}
		_exit(7);
	}
	assert_int_equal(child_wait(child, &status, NULL), 0);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(child_wait(child, &status, NULL), -ECHILD);
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
}

static const struct CMUnitTest child[] = {
	cmocka_unit_test(test_one_that_ends_by_itself_did_not_die),
	cmocka_unit_test(test_the_cause_of_death_is_said),
	cmocka_unit_test(test_one_of_many),
	cmocka_unit_test(test_memory_is_blamed_for_a_kill_only),
	cmocka_unit_test(test_signals_do_not_end_the_wait),
};

UNIT_MAIN(child)
