/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rights_kit.h: a user, its files, and what a process may do. What changes rights runs in
 * a child. */
#ifndef GRANARY_TESTS_RIGHTS_KIT_H
#define GRANARY_TESTS_RIGHTS_KIT_H

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/rights.h"

/* Not in any database: numbers are enough here. */
enum { USER = 4201, GROUP = 4202, OTHER_GROUP = 4203 };

static gid_t user_groups[] = { OTHER_GROUP, GROUP };
static char user_home[] = "/home/of-user";

static const struct rights user = {
	.uid = USER,
	.gid = GROUP,
	.groups = user_groups,
	.group_count = 2,
	.home = user_home,
};

static inline const char *status_of(const char *name)
{
	return unit_status_of(name, "self");
}

static inline bool is_zero(const char *name)
{
	return strcmp(status_of(name), "0000000000000000") == 0;
}

static inline bool has_no_capability(void)
{
	return is_zero("CapInh") && is_zero("CapPrm") && is_zero("CapEff") &&
	       is_zero("CapAmb") && strcmp(status_of("NoNewPrivs"), "1") == 0;
}

static inline bool ids_are(uid_t uid, gid_t gid)
{
	char uids[64], gids[64];

	snprintf(uids, sizeof(uids), "%u\t%u\t%u\t%u", uid, uid, uid, uid);
	snprintf(gids, sizeof(gids), "%u\t%u\t%u\t%u", gid, gid, gid, gid);
	return strcmp(status_of("Uid"), uids) == 0 && strcmp(status_of("Gid"), gids) == 0;
}

static inline bool may_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static inline void make_file(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	unlink(path);
	unit_write(path, "x", 1);
	assert_int_equal(chown(path, uid, gid), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* Files that different people may read; the directory lets everybody in. */
static inline void make_files(void)
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
static inline void where_possible(int (*run)(void *), void *argument)
{
	int status = unit_child(run, argument);

	if (status == NOT_HERE)
		print_message(
			"# not tested: this process may not become what it takes\n");
	else
		assert_int_equal(status, 0);
}

/* Root becomes a user without privileges; others are that. */
static inline bool become_plain(void)
{
	return geteuid() != 0 ||
	       (setgroups(0, NULL) == 0 && setgid(GROUP) == 0 && setuid(USER) == 0);
}

static inline int run_again(void *argument)
{
	int fd = open("output", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	(void)argument;
	WANT(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	WANT(become_plain());
	execl("/proc/self/exe", "test_rights", (char *)NULL);
	return 2;
}

/* Root runs all of a program, and the program once more as a user. */
static inline void test_all_of_it_as_a_user(void **state)
{
	(void)state;
	if (unit_child(run_again, NULL) != 0) {
		unit_shell("sed 's/^/# /' output");
		fail();
	}
}

static inline int try_plain(void *argument)
{
	(void)argument;
	return become_plain() ? 0 : 1;
}

/* Whether this process can have other users' rights. */
static inline bool is_privileged(void)
{
	if (geteuid() == 0 && unit_child(try_plain, NULL) == 0)
		return true;
	print_message("# only root can have other users' rights: that is not tested\n");
	return false;
}

/* Root, who can be anybody, runs all of it; others run what they can. */
#define RIGHTS_MAIN(plain, privileged)                                                   \
	int main(void)                                                                   \
	{                                                                                \
		return is_privileged()                                                   \
			       ? unit_run(privileged, COUNT(privileged), unit_enter,     \
					  unit_leave)                                    \
			       : unit_run(plain, COUNT(plain), unit_enter, unit_leave);  \
	}

#endif
