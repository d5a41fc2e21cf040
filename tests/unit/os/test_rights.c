/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose rights a process has, until it runs another program and for good. What changes them runs in
 * a child. Root, who can be anybody, runs all of it, and the program once more as a
 * user without privileges; others run what they can.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/rights.h"

/* Not in any database: numbers are enough here. */
enum { USER = 4201, GROUP = 4202, OTHER_GROUP = 4203 };

static gid_t user_groups[] = { OTHER_GROUP, GROUP };
static char user_home[] = "/home/of-user";

static const struct rights user = {
	.uid = USER, .gid = GROUP, .groups = user_groups, .group_count = 2,
	.home = user_home,
};

/* In a child: what is wrong is said, and is its exit status. */
#define WANT(condition)                                                         \
	do {                                                                    \
		if (!(condition)) {                                             \
			fprintf(stderr, "# line %d: %s (%s)\n", __LINE__,       \
				#condition, strerror(errno));                   \
			return 1;                                               \
		}                                                               \
	} while (0)

/* A line of /proc/self/status, without its name. */
static const char *status_of(const char *name)
{
	static char line[4096];
	FILE *f = fopen("/proc/self/status", "r");
	size_t n = strlen(name);
	const char *found = NULL;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			found = line + n + 1 + strspn(line + n + 1, "\t ");
	}
	if (f)
		fclose(f);
	return found ? found : "";
}

static bool is_zero(const char *name)
{
	return strcmp(status_of(name), "0000000000000000") == 0;
}

static bool has_no_capability(void)
{
	return is_zero("CapInh") && is_zero("CapPrm") && is_zero("CapEff") &&
	       is_zero("CapAmb") && strcmp(status_of("NoNewPrivs"), "1") == 0;
}

static bool ids_are(uid_t uid, gid_t gid)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof(uids), "%u\t%u\t%u\t%u", uid, uid, uid, uid);
	snprintf(gids, sizeof(gids), "%u\t%u\t%u\t%u", gid, gid, gid, gid);
	return strcmp(status_of("Uid"), uids) == 0 && strcmp(status_of("Gid"), gids) == 0;
}

static bool may_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void make_file(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	unlink(path);
	unit_write(path, "x", 1);
	assert_int_equal(chown(path, uid, gid), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* Files that different people may read; the folder lets everybody in. */
static void make_files(void)
{
	assert_int_equal(chmod(".", 0755), 0);
	make_file("of-root", 0, 0, 0600);
	make_file("of-user", USER, 0, 0400);
	make_file("of-group", 0, GROUP, 0040);
	make_file("of-other-group", 0, OTHER_GROUP, 0040);
	make_file("of-nobody-else", USER + 1, GROUP + 7, 0440);
}

enum { NOT_HERE = 77 };

/* In a child, whose status is NOT_HERE where the kernel does not let it begin. */
static void where_possible(int (*run)(void *), void *argument)
{
	int status = unit_child(run, argument);

	if (status == NOT_HERE)
		print_message("# not tested: this process may not become what it takes\n");
	else
		assert_int_equal(status, 0);
}

/* Root becomes a user without privileges; others are that. */
static bool become_plain(void)
{
	return geteuid() != 0 || (setgroups(0, NULL) == 0 && setgid(GROUP) == 0 &&
				  setuid(USER) == 0);
}

/* ---- rights_of ---- */

static const char *const names[] = {
	"no such user", "", "-1", "4294967295", "4294967296", "99999999999999999999",
	"0x0", " 0", "0 ", "3999999999", "root/daemon",
};

static void test_unknown_users(void **state)
{
	size_t i = unit_row(state);
	struct rights rights = { .uid = 7 };
	struct error e = { 0 };

	assert_int_equal(rights_of(names[i], &rights, &e), -ENOENT);
	assert_int_equal(e.status, ERROR_USAGE);
	if (!strstr(e.text, names[i]) || strchr(e.text, '\n'))
		fail_msg("%s", e.text);
	assert_null(rights.groups);
	assert_null(rights.home);
}

static void same_as_now(const struct rights *rights)
{
	gid_t groups[1024];
	int n = getgroups(1024, groups);

	assert_int_equal(rights->uid, geteuid());
	assert_int_equal(rights->gid, getegid());
	assert_int_equal(rights->group_count, n);
	assert_memory_equal(rights->groups, groups, (size_t)n * sizeof(*groups));
}

static void test_oneself_by_name_and_number(void **state)
{
	const struct passwd *me = getpwuid(geteuid());
	struct rights rights;
	char number[16];

	(void)state;
	snprintf(number, sizeof(number), "%u", geteuid());
	assert_int_equal(rights_of(number, &rights, NULL), 0);
	same_as_now(&rights);
	assert_int_equal(rights_assume(&rights, NULL), 0); /* changes nothing */
	rights_free(&rights);
	rights_free(&rights);
	if (!me)
		return;
	assert_int_equal(rights_of(me->pw_name, &rights, NULL), 0);
	same_as_now(&rights);
	assert_string_equal(rights.home, me->pw_dir);
	rights_free(&rights);
}

/* id(1) asks the same database. */
static void compare_with_id(const struct passwd *one)
{
	struct rights by_name, by_number;
	char command[256], line[8192] = "", ours[8192] = "";
	FILE *id;

	snprintf(command, sizeof(command), "%u", one->pw_uid);
	assert_int_equal(rights_of(one->pw_name, &by_name, NULL), 0);
	assert_int_equal(rights_of(command, &by_number, NULL), 0);
	assert_int_equal(by_name.uid, by_number.uid);
	assert_int_equal(by_name.gid, by_number.gid);
	snprintf(command, sizeof(command), "id -G '%s'", one->pw_name);
	id = popen(command, "r");
	assert_non_null(id);
	assert_non_null(fgets(line, sizeof(line), id));
	pclose(id);
	for (size_t i = 0; i < by_name.group_count; i++)
		snprintf(ours + strlen(ours), sizeof(ours) - strlen(ours), "%s%u",
			 i ? " " : "", by_name.groups[i]);
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(ours, line);
	rights_free(&by_name);
	rights_free(&by_number);
}

static void test_every_user_of_this_machine(void **state)
{
	unsigned compared = 0;

	(void)state;
	for (unsigned uid = 1; uid < 100; uid++) {
		const struct passwd *one = getpwuid(uid);
		struct passwd copy;
		char name[64];

		if (!one || strlen(one->pw_name) >= sizeof(name))
			continue;
		copy = *one;
		snprintf(name, sizeof(name), "%s", one->pw_name);
		copy.pw_name = name;
		compare_with_id(&copy);
		compared++;
	}
	assert_true(compared > 0);
}

static int ask_for_another(void *argument)
{
	const char *whom = argument;
	struct rights rights;
	struct error e = { 0 };

	if (!become_plain())
		return NOT_HERE;
	WANT(rights_of(whom, &rights, &e) == -EPERM);
	WANT(e.status == ERROR_SYSTEM && strstr(e.text, "only root"));
	WANT(!rights.groups);
	return 0;
}

static void test_another_user_is_only_for_root(void **state)
{
	(void)state;
	where_possible(ask_for_another, (char[]){ "root" });
	where_possible(ask_for_another, (char[]){ "0" });
}

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

/* What a program is that one with an assumed user's rights has run. */
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

/* ---- The whole once more ---- */

static int run_again(void *argument)
{
	int fd = open("output", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	(void)argument;
	WANT(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	WANT(become_plain());
	execl("/proc/self/exe", "test_rights", (char *)NULL);
	return 2;
}

static void test_all_of_it_as_a_user(void **state)
{
	(void)state;
	if (unit_child(run_again, NULL) != 0) {
		unit_shell("sed 's/^/# /' output");
		fail();
	}
}

static const struct CMUnitTest plain[] = {
	unit_texts(test_unknown_users, names),
	cmocka_unit_test(test_oneself_by_name_and_number),
	cmocka_unit_test(test_another_user_is_only_for_root),
	cmocka_unit_test(test_refused_in_a_user_namespace),
	cmocka_unit_test(test_a_plain_user_for_good),
	cmocka_unit_test(test_nobody_becomes_another_user),
	cmocka_unit_test(test_root_of_a_user_namespace_for_good),
};

static const struct CMUnitTest privileged[] = {
	unit_texts(test_unknown_users, names),
	cmocka_unit_test(test_oneself_by_name_and_number),
	cmocka_unit_test(test_every_user_of_this_machine),
	cmocka_unit_test(test_another_user_is_only_for_root),
	cmocka_unit_test(test_as_another_user),
	cmocka_unit_test(test_no_home_and_no_groups),
	cmocka_unit_test(test_refused_in_a_user_namespace),
	cmocka_unit_test(test_never_with_capabilities),
	cmocka_unit_test(test_root_for_good),
	cmocka_unit_test(test_an_assumed_user_for_good),
	cmocka_unit_test(test_a_program_for_good),
	cmocka_unit_test(test_a_program_that_is_not_the_user),
	cmocka_unit_test(test_a_plain_user_for_good),
	cmocka_unit_test(test_nobody_becomes_another_user),
	cmocka_unit_test(test_root_of_a_user_namespace_for_good),
	cmocka_unit_test(test_given_capabilities_for_good),
	cmocka_unit_test(test_programs_gain_nothing),
	cmocka_unit_test(test_all_of_it_as_a_user),
};

static int try_plain(void *argument)
{
	(void)argument;
	return become_plain() ? 0 : 1;
}

int main(void)
{
	if (geteuid() == 0 && unit_child(try_plain, NULL) == 0)
		return unit_run(privileged, COUNT(privileged), unit_enter, unit_leave);
	print_message("# only root can have other users' rights: that is not tested\n");
	return unit_run(plain, COUNT(plain), unit_enter, unit_leave);
}
