/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Claims: one makes an index, the others see whether it lives. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place/claim.h"
#include "os/child.h"

#define PLACE "x.gidx"
#define CLAIM "x.gidx.claim"

/* So long that no test comes there, and short enough to end one that hangs. */
enum { NEVER_MS = 20 * 1000 };

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Of the folder that the process is in; it stays open to the end of the process. */
static struct place *here(void)
{
	static struct place *places[16];
	static unsigned count;
	struct place **place = &places[count++ % COUNT(places)];

	place_close(*place);
	assert_int_equal(place_open(PLACE, false, place, NULL), 0);
	return *place;
}

static struct claim *taken(void)
{
	struct claim *claim = NULL;

	assert_int_equal(claim_take(here(), &claim), 0);
	assert_non_null(claim);
	return claim;
}

static int await(unsigned dead_ms, unsigned most_ms)
{
	struct claim_wait wait = { .poll_ms = 20, .dead_ms = dead_ms, .most_ms = most_ms };

	claim_uid(here(), &wait.uid);
	return claim_await(here(), &wait);
}

/* Away with what a test left, claims of dead processes mostly. */
static int clean(void **state)
{
	(void)state;
	unit_shell("rm -rf x.gidx*");
	return 0;
}

/* ---- One process --------------------------------------------------------- */

static void test_one_takes_it(void **state)
{
	struct claim *claim, *second = NULL;
	char line[64], *text;

	(void)state;
	claim = taken();
	text = unit_read(CLAIM, NULL);
	snprintf(line, sizeof(line), "\nprocess %d\nstarted ", (int)getpid());
	assert_int_equal(strncmp(text, "granary claim\nhost ", 19), 0);
	assert_non_null(strstr(text, line));
	free(text);
	assert_int_equal(claim_take(here(), &second), -EEXIST);
	assert_null(second);
	claim_drop(claim);
	assert_int_equal(unit_names_in("."), 0);
	claim_drop(taken());
	claim_drop(NULL);
	assert_int_equal(unit_names_in("."), 0);
}

static void test_no_more_permissions_than_the_umask_leaves(void **state)
{
	mode_t before = umask(027);
	struct claim *claim = taken();
	struct stat st;

	(void)state;
	umask(before);
	assert_int_equal(stat(CLAIM, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	claim_drop(claim);
}

static void test_where_there_can_be_none(void **state)
{
	struct claim *claim;
	struct place *place;

	(void)state;
	assert_int_equal(place_open("/proc/x.gidx", false, &place, NULL), 0);
	assert_int_equal(claim_take(place, &claim), -ENOENT);
	place_close(place);
	assert_int_equal(await(NEVER_MS, NEVER_MS), 0);
}

enum { CANNOT = 77 };

static int take_on_read_only(void *unused)
{
	struct claim *claim;
	struct place *place;

	(void)unused;
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(".", ".", NULL, MS_BIND, NULL) < 0 || chdir(unit_folder()) < 0 ||
	    mount(NULL, ".", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0)
		return CANNOT;
	if (place_open("new.gidx", false, &place, NULL) < 0 ||
	    claim_take(place, &claim) != -EROFS)
		return 1;
	/* who may not write there may still see that somebody else does */
	return claim_take(here(), &claim) == -EEXIST ? 0 : 2;
}

static void test_a_read_only_folder(void **state)
{
	struct claim *claim = taken();
	int status = unit_child(take_on_read_only, NULL);

	(void)state;
	claim_drop(claim);
	if (status == CANNOT)
		skip();
	assert_int_equal(status, 0);
}

static const char *const in_the_way[] = {
	"ln -s target x.gidx.claim && echo safe >target",
	"rm target; ln -s target x.gidx.claim",
	"ln -s x.gidx.claim x.gidx.claim",
	"mkfifo x.gidx.claim",
	"mkdir x.gidx.claim && touch x.gidx.claim/inside",
	"echo 'what I have to do' >x.gidx.claim",
	"truncate -s 1T x.gidx.claim",
};

static void test_what_is_no_claim_is_left_alone(void **state)
{
	struct claim *claim;
	struct stat before, after;

	for (size_t i = 0; i < COUNT(in_the_way); i++) {
		unit_shell(in_the_way[i]);
		assert_int_equal(lstat(CLAIM, &before), 0);
		assert_int_equal(claim_take(here(), &claim), -EINVAL);
		assert_int_equal(await(0, NEVER_MS), 0);
		assert_int_equal(lstat(CLAIM, &after), 0);
		assert_int_equal(before.st_ino, after.st_ino);
		assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
		clean(state);
	}
	assert_false(is_there("target")); /* the dangling link has made none */
}

static void test_who_it_is(void **state)
{
	char owner[CLAIM_OWNER_BYTES], host[65], expected[CLAIM_OWNER_BYTES];
	struct claim *claim = taken();

	(void)state;
	gethostname(host, sizeof(host));
	snprintf(expected, sizeof(expected), "%s (process %d)", host, (int)getpid());
	assert_string_equal(claim_owner(here(), owner), expected);
	claim_drop(claim);
	assert_string_equal(claim_owner(here(), owner), "another process");
	unit_write(CLAIM, "", 0);
	assert_string_equal(claim_owner(here(), owner), "another process");
}

/* ---- The time without a touch --------------------------------------------- */

/* As from another machine: this process can tell nothing by its number. */
static void write_foreign(void)
{
	static const char text[] = "granary claim\nhost elsewhere\nboot b\npids p\n"
				   "process 1\nstarted 1\n";

	unit_write(CLAIM, text, strlen(text));
}

static void test_an_untouched_one_is_broken(void **state)
{
	struct claim_wait wait = { .uid = geteuid(), .poll_ms = 20, .dead_ms = NEVER_MS,
				   .most_ms = 150 };
	struct claim *claim;

	(void)state;
	write_foreign();
	assert_int_equal(claim_take(here(), &claim), -EEXIST);
	assert_int_equal(claim_await(here(), &wait), -ETIMEDOUT);
	assert_int_equal(wait.most_ms, 0);
	assert_true(is_there(CLAIM));
	assert_int_equal(await(100, NEVER_MS), 0);
	assert_int_equal(unit_names_in("."), 0);
}

static const struct {
	const char *text; /* "" where a disk was full */
	const char *then;
} odd[] = {
	{ "", "true" },
	{ "granary claim\n", "truncate -s 1T x.gidx.claim" },
	{ "granary claim\nprocess -1\n", "touch -d 1960-01-01 x.gidx.claim" },
	{ "granary claim\nprocess 99999999999999999999\n", "touch -d 2200-01-01 x.gidx.claim" },
};

static void test_odd_claims_are_broken_too(void **state)
{
	struct claim *claim;

	(void)state;
	for (size_t i = 0; i < COUNT(odd); i++) {
		unit_write(CLAIM, odd[i].text, strlen(odd[i].text));
		unit_shell(odd[i].then);
		assert_int_equal(claim_take(here(), &claim), -EEXIST);
		assert_int_equal(await(NEVER_MS, 60), -ETIMEDOUT);
		assert_int_equal(await(60, NEVER_MS), 0);
		assert_int_equal(unit_names_in("."), 0);
	}
}

/* ---- Owners that are processes -------------------------------------------- */

/* How an owner is to be; each runs as a process of its own. */
struct owner {
	int ignored;     /* a signal, or 0 */
	int early;       /* raised between taking and keeping */
	int work_signal; /* what the one that works ends by; 0: it works on */
	bool no_where;   /* its claim is not from this machine */
	int ready;       /* a descriptor that it closes when it has begun */
};

static void work(const struct owner *owner)
{
	struct rlimit no_core = { 0, 0 };

	close(owner->ready);
	setrlimit(RLIMIT_CORE, &no_core);
	if (owner->work_signal) {
		signal(owner->work_signal, SIG_DFL);
		raise(owner->work_signal);
	}
	for (;;)
		pause();
}

/* 0 where it kept the claim until the one that works was gone. */
static int own(const struct owner *owner)
{
	struct claim *claim;
	int status;
	pid_t child;

	if (owner->ignored)
		signal(owner->ignored, SIG_IGN);
	if (claim_take(here(), &claim) < 0)
		return 1;
	if (owner->no_where)
		write_foreign();
	if (child_fork(&child, NULL) < 0)
		return 1;
	if (child == 0) {
		claim_leave(claim);
		work(owner);
	}
	close(owner->ready);
	if (owner->early)
		raise(owner->early);
	if (claim_keep(claim, child, 10, &status) < 0)
		return 2;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != owner->work_signal)
		return 3;
	claim_drop(claim);
	return 0;
}

static int run_owner(void *owner)
{
	return own(owner);
}

/* In the background, until this test ends at the latest; it has the claim. */
static pid_t start(struct owner owner)
{
	int ready[2];
	char none;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	owner.ready = ready[1];
	assert_int_equal(child_fork(&pid, NULL), 0);
	if (pid == 0)
		_exit(own(&owner));
	close(ready[1]);
	assert_int_equal(read(ready[0], &none, 1), 0);
	close(ready[0]);
	assert_true(is_there(CLAIM));
	return pid;
}

static int end_of(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void kill_owner(pid_t pid)
{
	kill(pid, SIGKILL);
	end_of(pid);
}

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
	claim_drop(claim);
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
	claim_drop(claim);
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

/* It was stopped, its claim broken, and another claims: that is not its own. */
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
	claim_drop(next);
	assert_int_equal(unit_names_in("."), 0);
}

/* ---- Waiting ---------------------------------------------------------------- */

static void test_waiting_ends_when_it_is_dropped(void **state)
{
	pid_t pid, ender;

	(void)state;
	pid = start((struct owner){ 0 });
	fflush(NULL);
	ender = fork();
	if (ender == 0) {
		usleep(100 * 1000);
		kill(pid, SIGTERM);
		_exit(0);
	}
	assert_int_equal(await(NEVER_MS, NEVER_MS), 0);
	end_of(ender);
	end_of(pid);
	assert_int_equal(unit_names_in("."), 0);
}

/* Waiting for one claim does not go over into waiting for the next. */
static void test_waiting_ends_when_it_is_anothers(void **state)
{
	static const char other[] = "granary claim\nhost third\n";
	pid_t replacer;

	(void)state;
	write_foreign();
	fflush(NULL);
	replacer = fork();
	if (replacer == 0) {
		usleep(100 * 1000);
		unit_write("new", other, strlen(other));
		_exit(rename("new", CLAIM) == 0 ? 0 : 1);
	}
	assert_int_equal(await(NEVER_MS, NEVER_MS), 0);
	assert_int_equal(end_of(replacer), 0);
	assert_true(is_there(CLAIM));
}

/* A claim of somebody whose index would not be used stops nobody. */
static void test_anothers_is_not_waited_for(void **state)
{
	struct claim_wait wait = { .uid = geteuid() + 1, .poll_ms = 20, .dead_ms = 0,
				   .most_ms = NEVER_MS };
	uid_t uid = (uid_t)-1;

	(void)state;
	assert_int_equal(claim_uid(here(), &uid), -ENOENT);
	write_foreign();
	assert_int_equal(claim_uid(here(), &uid), 0);
	assert_int_equal(uid, geteuid());
	assert_int_equal(claim_await(here(), &wait), 0);
	assert_true(is_there(CLAIM)); /* nor is it broken */
	assert_in_range(wait.most_ms, NEVER_MS / 2, NEVER_MS);
}

/* In /tmp one may not remove what another left there. */
static int wait_in_sticky_folder(void *unused)
{
	(void)unused;
	if (chdir("x.gidx-sticky") < 0 || setresuid(65534, 65534, 65534) < 0)
		return CANNOT;
	if (await(60, NEVER_MS) != -EPERM)
		return 1;
	return is_there(CLAIM) ? 0 : 2;
}

static void test_a_dead_one_that_may_not_be_removed(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	write_foreign();
	unit_shell("mkdir -m 1777 x.gidx-sticky && mv x.gidx.claim x.gidx-sticky && "
		   "chmod 600 x.gidx-sticky/* && chmod 755 .");
	assert_int_equal(unit_child(wait_in_sticky_folder, NULL), 0);
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

	while ((err = claim_take(here(), &claim)) == -EEXIST) {
		if (claim_await(here(), &wait) < 0)
			return 1;
	}
	if (err || go_in_and_out() < 0)
		return 2;
	if (*(int *)number % 2)
		raise(SIGKILL);
	claim_drop(claim);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, clean, clean)

static const struct CMUnitTest claims[] = {
	TEST(test_one_takes_it),
	TEST(test_no_more_permissions_than_the_umask_leaves),
	TEST(test_where_there_can_be_none),
	TEST(test_a_read_only_folder),
	TEST(test_what_is_no_claim_is_left_alone),
	TEST(test_who_it_is),
	TEST(test_an_untouched_one_is_broken),
	TEST(test_odd_claims_are_broken_too),
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
	TEST(test_waiting_ends_when_it_is_dropped),
	TEST(test_waiting_ends_when_it_is_anothers),
	TEST(test_anothers_is_not_waited_for),
	TEST(test_a_dead_one_that_may_not_be_removed),
	TEST(test_a_crowd_goes_in_one_by_one),
};

UNIT_MAIN(claims)
