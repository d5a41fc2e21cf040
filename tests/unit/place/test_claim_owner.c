/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owners of claims: how they end, and what others see of it. */
#include "place/claim_kit.h"

static const int endings[] = { SIGTERM, SIGINT, SIGHUP };

static void test_a_signal_removes_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(endings); i++) {
		pid_t pid = start((struct owner){ 0 });
		int status;

		kill(pid, endings[i]);
		status = end_of(pid);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), endings[i]);
		assert_int_equal(unit_names_in("."), 0);
	}
}

static void test_one_that_came_before_the_wait_too(void **state)
{
	struct owner owner = { .early = SIGTERM, .ready = -1 };

	(void)state;
	assert_int_equal(unit_child(run_owner, &owner), 256 + SIGTERM);
	assert_int_equal(unit_names_in("."), 0);
}

static void test_one_that_is_ignored_is_ignored(void **state)
{
	struct owner owner = { .ignored = SIGHUP, .early = SIGHUP,
			       .work_signal = SIGUSR1, .ready = -1 };

	(void)state;
	assert_int_equal(unit_child(run_owner, &owner), 0);
	assert_int_equal(unit_names_in("."), 0);
}

static const int deaths[] = { SIGSEGV, SIGABRT, SIGKILL, SIGTERM };

static void test_the_work_may_end_in_any_way(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(deaths); i++) {
		struct owner owner = { .work_signal = deaths[i], .ready = -1 };

		assert_int_equal(unit_child(run_owner, &owner), 0);
		assert_int_equal(unit_names_in("."), 0);
	}
}

static void test_signals_are_as_before_afterwards(void **state)
{
	sigset_t before, during, after;
	struct claim *claim;

	(void)state;
	sigprocmask(SIG_BLOCK, NULL, &before);
	claim = taken();
	sigprocmask(SIG_BLOCK, NULL, &during);
	claim_release(claim);
	sigprocmask(SIG_BLOCK, NULL, &after);
	for (size_t i = 0; i < COUNT(endings); i++) {
		assert_false(sigismember(&before, endings[i]));
		assert_true(sigismember(&during, endings[i]));
		assert_false(sigismember(&after, endings[i]));
	}
}

static void test_a_dead_owner_is_seen_at_once(void **state)
{
	pid_t pid;

	(void)state;
	pid = start((struct owner){ 0 });
	assert_int_equal(await(NEVER_MS, 100), -ETIMEDOUT);
	kill_owner(pid);
	assert_true(is_there(CLAIM));
	assert_int_equal(await(NEVER_MS, NEVER_MS), 0);
	assert_int_equal(unit_names_in("."), 0);
}

/* Two at once would break the claim of whoever comes next, too. */
static void test_one_breaks_it_at_a_time(void **state)
{
	char aside[64];
	struct stat st;

	(void)state;
	kill_owner(start((struct owner){ 0 }));
	assert_int_equal(stat(CLAIM, &st), 0);
	snprintf(aside, sizeof(aside), PLACE ".%06x", (unsigned)(st.st_ino & 0xffffff));
	assert_int_equal(link(CLAIM, aside), 0);
	assert_int_equal(await(NEVER_MS, 100), -ETIMEDOUT);
	assert_true(is_there(CLAIM));
	/* who was at it has been killed */
	assert_int_equal(await(50, NEVER_MS), 0);
	assert_int_equal(unit_names_in("."), 0);
}

/* Dead, and its parent has not asked yet. */
static void test_a_zombie_is_dead(void **state)
{
	siginfo_t info;
	pid_t pid;

	(void)state;
	pid = start((struct owner){ 0 });
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(await(NEVER_MS, NEVER_MS), 0);
	assert_false(is_there(CLAIM));
	end_of(pid);
}

/* The number is this process's now; the claim is of one that started earlier. */
static void test_a_number_that_was_given_away_again(void **state)
{
	struct claim *claim = taken();
	char *text = unit_read(CLAIM, NULL), *end = strstr(text, "\nstarted ");

	(void)state;
	assert_non_null(end);
	claim_release(claim);
	strcpy(end, "\nstarted 1\n");
	unit_write(CLAIM, text, strlen(text));
	assert_int_equal(await(NEVER_MS, NEVER_MS), 0);
	assert_false(is_there(CLAIM));
	free(text);
}

/* The same process number means nothing on another host, boot, or pid namespace. */
static void test_a_dead_number_elsewhere_says_nothing(void **state)
{
	static const char *const keys[] = { "\nhost ", "\nboot ", "\npids " };

	(void)state;
	for (size_t i = 0; i < COUNT(keys); i++) {
		pid_t pid = start((struct owner){ 0 });
		char *text = unit_read(CLAIM, NULL);

		kill_owner(pid);
		strstr(text, keys[i])[strlen(keys[i])] ^= 1;
		unit_write(CLAIM, text, strlen(text));
		assert_int_equal(await(NEVER_MS, 60), -ETIMEDOUT);
		assert_int_equal(await(60, NEVER_MS), 0);
		assert_false(is_there(CLAIM));
		free(text);
	}
}

static void test_a_touched_one_lives_and_a_stopped_one_does_not(void **state)
{
	pid_t pid;

	(void)state;
	pid = start((struct owner){ .no_where = true });
	assert_int_equal(await(500, 1500), -ETIMEDOUT);
	assert_true(is_there(CLAIM));
	kill(pid, SIGSTOP);
	assert_int_equal(await(500, NEVER_MS), 0);
	assert_int_equal(unit_names_in("."), 0);
	kill_owner(pid);
}

/* A stopped process whose claim was broken does not own the next one's claim. */
static void test_the_claim_of_the_next_is_not_removed(void **state)
{
	struct claim *next;
	pid_t pid;

	(void)state;
	pid = start((struct owner){ .no_where = true });
	kill(pid, SIGSTOP);
	assert_int_equal(await(100, NEVER_MS), 0);
	next = taken();
	kill(pid, SIGTERM);
	kill(pid, SIGCONT);
	assert_int_equal(WTERMSIG(end_of(pid)), SIGTERM);
	assert_true(is_there(CLAIM));
	claim_release(next);
	assert_int_equal(unit_names_in("."), 0);
}

/* ---- Many ------------------------------------------------------------------- */

enum { CROWD = 8, TURNS = 20 };

/* Nobody else is between the first and the last line of this. */
static int go_in_and_out(void)
{
	int fd = open("inside", O_CREAT | O_EXCL | O_WRONLY, 0600);

	if (fd < 0)
		return -1;
	close(fd);
	usleep(3000);
	return unlink("inside");
}

/* Every other one is killed while it has the claim, and the others have to break it. */
static int take_turn(void *number)
{
	struct claim_wait wait = { .uid = geteuid(), .poll_ms = 10, .dead_ms = NEVER_MS,
				   .most_ms = NEVER_MS };
	struct claim *claim;
	int err;

	while ((err = claim_acquire(here(), &claim)) == -EEXIST) {
		if (claim_await(here(), &wait) < 0)
			return 1;
	}
	if (err || go_in_and_out() < 0)
		return 2;
	if (*(int *)number % 2)
		raise(SIGKILL);
	claim_release(claim);
	return 0;
}

static int take_turns(void)
{
	for (int i = 0; i < TURNS; i++) {
		if (unit_child(take_turn, &i) != (i % 2 ? 256 + SIGKILL : 0))
			return 1;
	}
	return 0;
}

static void test_a_crowd_goes_in_one_by_one(void **state)
{
	pid_t crowd[CROWD];

	(void)state;
	for (int i = 0; i < CROWD; i++) {
		assert_int_equal(child_fork(&crowd[i], NULL), 0);
		if (crowd[i] == 0)
			_exit(take_turns());
	}
	for (int i = 0; i < CROWD; i++)
		assert_int_equal(end_of(crowd[i]), 0);
	assert_int_equal(await(NEVER_MS, NEVER_MS), 0);
	assert_int_equal(unit_names_in("."), 0);
}

static const struct CMUnitTest claims[] = {
	TEST(test_a_signal_removes_it),
	TEST(test_one_that_came_before_the_wait_too),
	TEST(test_one_that_is_ignored_is_ignored),
	TEST(test_the_work_may_end_in_any_way),
	TEST(test_signals_are_as_before_afterwards),
	TEST(test_a_dead_owner_is_seen_at_once),
	TEST(test_one_breaks_it_at_a_time),
	TEST(test_a_zombie_is_dead),
	TEST(test_a_number_that_was_given_away_again),
	TEST(test_a_dead_number_elsewhere_says_nothing),
	TEST(test_a_touched_one_lives_and_a_stopped_one_does_not),
	TEST(test_the_claim_of_the_next_is_not_removed),
	TEST(test_a_crowd_goes_in_one_by_one),
};

UNIT_MAIN(claims)
