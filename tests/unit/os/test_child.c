/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a child ended, in words. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/child.h"

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
	size_t i = unit_row(state);
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

/* ---- Ends together ---- */

enum manner { POLITE, STUBBORN, STOPPED, AGAIN };

/* In a child that is to be ended: "polite" is made by one that was asked to. */
static void live(enum manner manner)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	unit_write("lives", "", 0);
	if (manner == STOPPED)
		raise(SIGSTOP);
	if (manner != STUBBORN && sigwait(&set, &number) == 0) {
		unit_write("polite", "", 0);
		_exit(0);
	}
	for (;;)
		pause();
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void await_file(const char *path)
{
	for (int i = 0; i < 3000 && !is_there(path); i++)
		usleep(10000);
	assert_true(is_there(path));
}

static void forget_files(void)
{
	unlink("lives");
	unlink("polite");
}

static void test_any_child_ends(void **state)
{
	(void)state;
	for (enum manner manner = POLITE; manner <= STOPPED; manner++) {
		pid_t child;

		forget_files();
		assert_int_equal(child_fork(&child, NULL), 0);
		if (child == 0)
			live(manner);
		await_file("lives");
		child_end(child);
		assert_int_equal(kill(child, 0), -1);
		assert_int_equal(is_there("polite"), manner != STUBBORN);
	}
	child_end(getpid() + 1000000); /* there is none */
}

/* A program that lost the promise makes it again, if it was not too late. */
static void lose_and_live(void)
{
	prctl(PR_SET_PDEATHSIG, 0);
	if (child_ends_with_parent(getpid() + 1000000) != -ESRCH ||
	    child_ends_with_parent(1) != 0)
		_exit(8);
	prctl(PR_SET_PDEATHSIG, 0);
	if (child_ends_with_parent(getppid()) != 0)
		_exit(8);
	live(STUBBORN);
}

/* In a process that waits for a child; ends by a signal, or with the status 9. */
static void wait_for_one(enum manner manner)
{
	pid_t child;
	int status;

	if (child_fork(&child, NULL) < 0)
		_exit(8);
	if (child == 0 && manner == AGAIN)
		lose_and_live();
	if (child == 0)
		live(manner);
	_exit(child_wait(child, &status, NULL) == 0 ? 9 : 8);
}

struct pair {
	pid_t waiting;
	int alive; /* a pipe's end that reads nothing more when both have ended */
};

static struct pair start_pair(enum manner manner)
{
	struct pair pair;
	int fds[2];

	forget_files();
	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pair.waiting = fork();
	assert_true(pair.waiting >= 0);
	if (pair.waiting == 0) {
		close(fds[0]);
		signal(SIGHUP, SIG_IGN);
		wait_for_one(manner);
	}
	close(fds[1]);
	pair.alive = fds[0];
	await_file("lives");
	return pair;
}

static int end_of(const struct pair *pair)
{
	int status = -1;
	char byte;

	assert_int_equal(waitpid(pair->waiting, &status, 0), pair->waiting);
	assert_int_equal(read(pair->alive, &byte, 1), 0);
	close(pair->alive);
	return status;
}

/* Did the child that the signal was for have its say, before it had to go? */
static bool ends_politely(enum manner manner, int ending)
{
	struct pair pair = start_pair(manner);
	int status;

	kill(pair.waiting, ending);
	status = end_of(&pair);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == ending);
	return is_there("polite");
}

/* The child has a second for that, which on a busy machine may be too little once. */
static const int endings[] = { SIGTERM, SIGINT };

static void test_a_signal_is_the_childs_too(void **state)
{
	size_t i = unit_row(state);

	assert_false(ends_politely(STUBBORN, endings[i]));
	for (enum manner manner = POLITE; manner <= STOPPED; manner++) {
		bool polite = manner == STUBBORN;

		for (int tries = 0; tries < 10 && !polite; tries++)
			polite = ends_politely(manner, endings[i]);
		assert_true(polite);
	}
}

static void test_an_ignored_signal_is_ignored(void **state)
{
	struct pair pair = start_pair(POLITE);
	int status;

	(void)state;
	for (int i = 0; i < 5; i++) {
		kill(pair.waiting, SIGHUP);
		usleep(10000);
	}
	assert_false(is_there("polite"));
	kill(pair.waiting, SIGTERM);
	status = end_of(&pair);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* end_of comes back: so the child has ended. */
static void test_no_child_is_left_behind(void **state)
{
	(void)state;
	for (enum manner manner = POLITE; manner <= STOPPED; manner++) {
		struct pair pair = start_pair(manner);

		kill(pair.waiting, SIGKILL);
		assert_true(WIFSIGNALED(end_of(&pair)));
		assert_false(is_there("polite"));
	}
}

static void test_a_promise_that_is_made_again(void **state)
{
	struct pair pair = start_pair(AGAIN);

	(void)state;
	kill(pair.waiting, SIGKILL);
	assert_true(WIFSIGNALED(end_of(&pair)));
}

static const struct CMUnitTest child[] = {
	cmocka_unit_test(test_one_that_ends_by_itself_did_not_die),
	unit_rows(test_the_cause_of_death_is_said, deaths),
	cmocka_unit_test(test_one_of_many),
	cmocka_unit_test(test_memory_is_blamed_for_a_kill_only),
	cmocka_unit_test(test_signals_do_not_end_the_wait),
	cmocka_unit_test(test_any_child_ends),
	unit_rows(test_a_signal_is_the_childs_too, endings),
	cmocka_unit_test(test_an_ignored_signal_is_ignored),
	cmocka_unit_test(test_no_child_is_left_behind),
	cmocka_unit_test(test_a_promise_that_is_made_again),
};

UNIT_MAIN(child)
