/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose rights a process has, until it runs another program and for good. What changes
 * them runs in a child.
 */
#include "os/rights_kit.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

/* ---- rights_assume and rights_become ---- */

static bool has_the_users_files(void)
{
	return may_read("of-user") && may_read("of-group") && may_read("of-other-group") &&
	       !may_read("of-root") && !may_read("of-nobody-else");
}

/* For good, and so by all ids, where *argument says so. */
static int act_as_user(void *argument)
{
	gid_t mine[] = { 5, 6, 7 };
	const bool *for_good = argument;

	WANT(setgroups(3, mine) == 0);
	setenv("HOME", "/root", 1);
	setenv("XDG_CACHE_HOME", "/root/cache", 1);
	WANT((*for_good ? rights_become : rights_assume)(&user, NULL) == 0);
	WANT(geteuid() == USER && getegid() == GROUP && getuid() == (*for_good ? USER : 0));
	WANT(!*for_good || (ids_are(USER, GROUP) && has_no_capability()));
	WANT(strcmp(status_of("Groups"), "4202 4203 ") == 0);
	WANT(is_zero("CapEff") && has_the_users_files());
	WANT(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
	WANT(strcmp(getenv("HOME"), user_home) == 0 && !getenv("XDG_CACHE_HOME"));
	return 0;
}

static void test_as_another_user(void **state)
{
	(void)state;
	make_files();
	assert_int_equal(unit_child(act_as_user, (bool[]){ false }), 0);
	assert_int_equal(unit_child(act_as_user, (bool[]){ true }), 0);
}

static int assume_without_home(void *argument)
{
	struct rights homeless = user;

	(void)argument;
	homeless.home = NULL;
	homeless.group_count = 0;
	homeless.groups = NULL;
	WANT(rights_assume(&homeless, NULL) == 0);
	WANT(!getenv("HOME"));
	WANT(getgroups(0, NULL) == 0);
	return 0;
}

static void test_no_home_and_no_groups(void **state)
{
	(void)state;
	assert_int_equal(unit_child(assume_without_home, NULL), 0);
}

static bool enter_user_namespace(void)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int fd;

	if (unshare(CLONE_NEWUSER) < 0)
		return false;
	fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "deny", 4) == 4)
		close(fd);
	for (int i = 0; i < 2; i++) {
		int n = snprintf(map, sizeof(map), "0 %u 1\n", i ? gid : uid);

		fd = open(i ? "/proc/self/gid_map" : "/proc/self/uid_map",
			  O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, map, (size_t)n) != n)
			return false;
		close(fd);
	}
	return geteuid() == 0;
}

/* root there, but nobody else is */
static int assume_in_namespace(void *argument)
{
	struct error e = { 0 };

	(void)argument;
	if (!enter_user_namespace())
		return NOT_HERE;
	WANT(rights_assume(&user, &e) < 0);
	WANT(strstr(e.text, "4201") && e.status == ERROR_SYSTEM);
	WANT(geteuid() == 0 && getegid() == 0);
	return 0;
}

static void test_refused_in_a_user_namespace(void **state)
{
	(void)state;
	where_possible(assume_in_namespace, NULL);
}

/* A parent may have said that capabilities survive a change of ids. */
static int assume_with_securebits(void *argument)
{
	struct error e = { 0 };

	(void)argument;
	WANT(prctl(PR_SET_SECUREBITS, 1 << 2 /* SECBIT_NO_SETUID_FIXUP */, 0, 0, 0) == 0);
	WANT(rights_assume(&user, &e) == -EPERM && *e.text);
	return 0;
}

static void test_never_with_capabilities(void **state)
{
	(void)state;
	assert_int_equal(unit_child(assume_with_securebits, NULL), 0);
}

/* ---- rights_renounce ---- */

/* effective, permitted, inheritable: 64 bits each */
static int set_capabilities(uint64_t effective, uint64_t permitted, uint64_t inheritable)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	for (int i = 0; i < 2; i++)
		data[i] = (struct __user_cap_data_struct){
			(uint32_t)(effective >> (32 * i)), (uint32_t)(permitted >> (32 * i)),
			(uint32_t)(inheritable >> (32 * i)) };
	return (int)syscall(SYS_capset, &header, data);
}

static uint64_t permitted_now(void)
{
	return strtoull(status_of("CapPrm"), NULL, 16);
}

/*
 * ThreadSanitizer has a thread of its own in every process, which keeps its
 * capabilities; where an id is refused to one thread and not to another the C library
 * gives up.
 */
static bool has_one_thread(void)
{
	return strcmp(status_of("Threads"), "1") == 0;
}

static int renounce_root(void *argument)
{
	(void)argument;
	WANT(rights_renounce(NULL) == 0);
	WANT(has_no_capability() && is_zero("CapBnd") && ids_are(0, 0));
	WANT(has_one_thread() ? seteuid(USER) < 0 && setgroups(0, NULL) < 0 &&
				setgid(GROUP) < 0 : true);
	WANT(may_read("of-root"));
	WANT(!may_read("of-user") && !may_read("of-nobody-else"));
	WANT(chown("of-root", USER, 0) < 0);
	WANT(rights_renounce(NULL) == 0); /* nothing is left to give up */
	return 0;
}

static void test_root_for_good(void **state)
{
	(void)state;
	make_files();
	assert_int_equal(unit_child(renounce_root, NULL), 0);
}

static int renounce_as_user(void *argument)
{
	(void)argument;
	WANT(rights_assume(&user, NULL) == 0);
	/* as where the administrator has set fs.suid_dumpable=1 */
	WANT(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
	WANT(rights_renounce(NULL) == 0);
	WANT(has_no_capability() && is_zero("CapBnd") && ids_are(USER, GROUP));
	WANT(strcmp(status_of("Groups"), "4202 4203 ") == 0);
	WANT(setuid(0) < 0 && seteuid(0) < 0 && setreuid(0, 0) < 0 && setgid(0) < 0);
	WANT(setresuid(USER, USER, 0) < 0 && setegid(0) < 0);
	WANT(may_read("of-user") && !may_read("of-root"));
	WANT(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 1);
	return 0;
}

static void test_an_assumed_user_for_good(void **state)
{
	(void)state;
	make_files();
	assert_int_equal(unit_child(renounce_as_user, NULL), 0);
}

/* The rights of a program that is run with an assumed user's rights. */
static int renounce_in_a_program(void *argument)
{
	bool lost_ids = argument;

	WANT(rights_assume(&user, NULL) == 0);
	WANT(setresuid(0, lost_ids ? 0 : USER, USER) == 0);
	WANT(!lost_ids || setresgid(0, 0, 0) == 0);
	WANT(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0);
	WANT(set_capabilities(0, permitted_now(), 0) == 0);
	WANT(rights_renounce_as(USER, GROUP, NULL) == 0);
	WANT(has_no_capability() && is_zero("CapBnd") && ids_are(USER, GROUP));
	WANT(strcmp(status_of("Groups"), "4202 4203 ") == 0);
	WANT(setuid(0) < 0 && seteuid(0) < 0 && setgid(0) < 0);
	WANT(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0);
	return 0;
}

static void test_a_program_for_good(void **state)
{
	(void)state;
	assert_int_equal(unit_child(renounce_in_a_program, NULL), 0);
}

/* As under no_new_privs: the kernel made both ids the real one, which is root's. */
static void test_a_program_that_is_not_the_user(void **state)
{
	(void)state;
	assert_int_equal(unit_child(renounce_in_a_program, (char[]){ "" }), 0);
}

static int renounce_as_another(void *argument)
{
	struct error e = { 0 };

	(void)argument;
	if (!become_plain())
		return NOT_HERE;
	WANT(rights_renounce_as(getuid() + 1, getgid(), &e) == -EPERM);
	WANT(e.status == ERROR_SYSTEM && strstr(e.text, "may not"));
	WANT(rights_renounce_as(getuid(), getgid() + 1, &e) == -EPERM);
	WANT(rights_renounce_as(getuid(), getgid(), &e) == 0 && has_no_capability());
	return 0;
}

static void test_nobody_becomes_another_user(void **state)
{
	(void)state;
	where_possible(renounce_as_another, NULL);
}

static int renounce_plain(void *argument)
{
	char bounds[32];

	(void)argument;
	if (!become_plain())
		return NOT_HERE;
	snprintf(bounds, sizeof(bounds), "%s", status_of("CapBnd"));
	WANT(rights_renounce(NULL) == 0);
	WANT(has_no_capability() && ids_are(getuid(), getgid()));
	WANT(strcmp(status_of("CapBnd"), bounds) == 0);
	WANT(setuid(0) < 0);
	return 0;
}

static void test_a_plain_user_for_good(void **state)
{
	(void)state;
	where_possible(renounce_plain, NULL);
}

static int renounce_in_namespace(void *argument)
{
	(void)argument;
	if (!enter_user_namespace())
		return NOT_HERE;
	WANT(!is_zero("CapEff"));
	WANT(rights_renounce(NULL) == 0);
	WANT(has_no_capability() && is_zero("CapBnd") && ids_are(0, 0));
	WANT(unshare(CLONE_NEWNS) < 0);
	return 0;
}

static void test_root_of_a_user_namespace_for_good(void **state)
{
	(void)state;
	where_possible(renounce_in_namespace, NULL);
}

/* A user that was given capabilities, as setpriv(1) and systemd do. */
static int renounce_ambient(void *argument)
{
	uint64_t some = 1 << CAP_CHOWN | 1 << CAP_DAC_OVERRIDE | 1 << CAP_SETUID;

	(void)argument;
	WANT(setgid(GROUP) == 0 && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0);
	WANT(setuid(USER) == 0 && set_capabilities(some, some, some) == 0);
	WANT(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0) == 0);
	WANT(!is_zero("CapAmb") && !is_zero("CapInh") && may_read("of-root"));
	WANT(rights_renounce(NULL) == 0);
	WANT(has_no_capability() && ids_are(USER, GROUP) && !may_read("of-root"));
	return 0;
}

static void test_given_capabilities_for_good(void **state)
{
	(void)state;
	make_files();
	assert_int_equal(unit_child(renounce_ambient, NULL), 0);
}

/* ---- What a program that is run afterwards gets ---- */

/* A set-uid root grep(1) looks at its own status: is every line of `lines` in it? */
static int run_set_uid(const char *const *lines)
{
	static char command[1024];
	size_t n = 0;

	for (; *lines; lines++)
		n += (size_t)snprintf(command + n, sizeof(command) - n,
				      "./set-uid -q '%s' /proc/self/status || exit 1; ",
				      *lines);
	/* sh(1) keeps an effective id that differs only with -p: the ids are equal */
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	return 2;
}

static bool set_uid_works(void)
{
	struct statvfs fs;

	assert_int_equal(statvfs(".", &fs), 0);
	return !(fs.f_flag & (ST_NOSUID | ST_NOEXEC)) &&
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

static const char *const gains_nothing[] = {
	"^Uid:\t4201\t4201\t4201\t4201$", "^Gid:\t4202\t4202\t4202\t4202$",
	"^CapPrm:\t0000000000000000$", "^CapEff:\t0000000000000000$", "^NoNewPrivs:\t1$",
	NULL,
};
static const char *const gains_root[] = { "^Uid:\t4201\t0\t0\t0$", NULL };
static const char *const root_without[] = {
	"^Uid:\t0\t0\t0\t0$", "^CapPrm:\t0000000000000000$",
	"^CapEff:\t0000000000000000$", NULL,
};

static int run_as_user(void *argument)
{
	WANT(rights_assume(&user, NULL) == 0);
	if (argument)
		WANT(rights_renounce(NULL) == 0);
	else
		WANT(setregid(GROUP, GROUP) == 0 && setreuid(USER, USER) == 0);
	return run_set_uid(argument ? gains_nothing : gains_root);
}

static int run_as_root(void *argument)
{
	uint64_t all = permitted_now();

	if (argument) { /* the bounding set cannot be emptied then */
		all &= ~(UINT64_C(1) << CAP_SETPCAP);
		WANT(set_capabilities(all, all, all) == 0);
	}
	WANT(rights_renounce(NULL) == 0);
	WANT(has_no_capability() && is_zero("CapBnd") == !argument);
	return run_set_uid(root_without);
}

static void test_programs_gain_nothing(void **state)
{
	(void)state;
	if (!set_uid_works()) {
		print_message("# not tested: no set-uid program can gain anything here\n");
		return;
	}
	assert_int_equal(chmod(".", 0755), 0);
	unit_shell("cp /bin/grep set-uid && chown 0:0 set-uid && chmod 6755 set-uid");
	assert_int_equal(unit_child(run_as_user, NULL), 0); /* it would gain */
	assert_int_equal(unit_child(run_as_user, (char[]){ "" }), 0);
	assert_int_equal(unit_child(run_as_root, NULL), 0);
	assert_int_equal(unit_child(run_as_root, (char[]){ "" }), 0);
}

static const struct CMUnitTest plain[] = {
	cmocka_unit_test(test_refused_in_a_user_namespace),
	cmocka_unit_test(test_nobody_becomes_another_user),
	cmocka_unit_test(test_a_plain_user_for_good),
	cmocka_unit_test(test_root_of_a_user_namespace_for_good),
};

static const struct CMUnitTest privileged[] = {
	cmocka_unit_test(test_as_another_user),
	cmocka_unit_test(test_no_home_and_no_groups),
	cmocka_unit_test(test_refused_in_a_user_namespace),
	cmocka_unit_test(test_never_with_capabilities),
	cmocka_unit_test(test_root_for_good),
	cmocka_unit_test(test_an_assumed_user_for_good),
	cmocka_unit_test(test_a_program_for_good),
	cmocka_unit_test(test_a_program_that_is_not_the_user),
	cmocka_unit_test(test_nobody_becomes_another_user),
	cmocka_unit_test(test_a_plain_user_for_good),
	cmocka_unit_test(test_root_of_a_user_namespace_for_good),
	cmocka_unit_test(test_given_capabilities_for_good),
	cmocka_unit_test(test_programs_gain_nothing),
	cmocka_unit_test(test_all_of_it_as_a_user),
};

RIGHTS_MAIN(plain, privileged)
