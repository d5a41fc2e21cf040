/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Claims: one makes an index, the others see whether it lives. */
#include "place/claim_kit.h"

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
	assert_int_equal(claim_acquire(here(), &second), -EEXIST);
	assert_null(second);
	claim_release(claim);
	assert_int_equal(unit_names_in("."), 0);
	claim_release(taken());
	claim_release(NULL);
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
	claim_release(claim);
}

static void test_where_there_can_be_none(void **state)
{
	struct claim *claim;
	struct place *place;

	(void)state;
	assert_int_equal(place_open("/proc/x.gidx", false, &place, NULL), 0);
	assert_int_equal(claim_acquire(place, &claim), -ENOENT);
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
	    mount(".", ".", NULL, MS_BIND, NULL) < 0 || chdir(unit_directory()) < 0 ||
	    mount(NULL, ".", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0)
		return CANNOT;
	if (place_open("new.gidx", false, &place, NULL) < 0 ||
	    claim_acquire(place, &claim) != -EROFS)
		return 1;
	/* who may not write there may still see that somebody else does */
	return claim_acquire(here(), &claim) == -EEXIST ? 0 : 2;
}

static void test_a_read_only_directory(void **state)
{
	struct claim *claim = taken();
	int status = unit_child(take_on_read_only, NULL);

	(void)state;
	claim_release(claim);
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
		assert_int_equal(claim_acquire(here(), &claim), -EINVAL);
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
	claim_release(claim);
	assert_string_equal(claim_owner(here(), owner), "another process");
	unit_write(CLAIM, "", 0);
	assert_string_equal(claim_owner(here(), owner), "another process");
}

/* ---- The time without a touch --------------------------------------------- */

static void test_an_untouched_one_is_broken(void **state)
{
	struct claim_wait wait = { .uid = geteuid(), .poll_ms = 20, .dead_ms = NEVER_MS,
				   .most_ms = 150 };
	struct claim *claim;

	(void)state;
	write_foreign();
	assert_int_equal(claim_acquire(here(), &claim), -EEXIST);
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
		assert_int_equal(claim_acquire(here(), &claim), -EEXIST);
		assert_int_equal(await(NEVER_MS, 60), -ETIMEDOUT);
		assert_int_equal(await(60, NEVER_MS), 0);
		assert_int_equal(unit_names_in("."), 0);
	}
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
static int wait_in_sticky_directory(void *unused)
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
	assert_int_equal(unit_child(wait_in_sticky_directory, NULL), 0);
}

static const struct CMUnitTest claims[] = {
	TEST(test_one_takes_it),
	TEST(test_no_more_permissions_than_the_umask_leaves),
	TEST(test_where_there_can_be_none),
	TEST(test_a_read_only_directory),
	TEST(test_what_is_no_claim_is_left_alone),
	TEST(test_who_it_is),
	TEST(test_an_untouched_one_is_broken),
	TEST(test_odd_claims_are_broken_too),
	TEST(test_waiting_ends_when_it_is_dropped),
	TEST(test_waiting_ends_when_it_is_anothers),
	TEST(test_anothers_is_not_waited_for),
	TEST(test_a_dead_one_that_may_not_be_removed),
};

UNIT_MAIN(claims)
