/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * without: runs a command on a kernel that lacks something, by a seccomp filter, which
 * all processes that it starts inherit.
 *
 *	without LACK[=ERROR]... -- COMMAND...
 *
 * LACK is a line of the table below: a system call, one use of it, or all calls that are
 * newer than a kernel. ERROR is ENOSYS, EINVAL, ENOTTY, EPERM or EOPNOTSUPP, in the place
 * of what such a kernel says. Who is not root loses set-uid programs with it.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As linux/fcntl.h, linux/fs.h, linux/mount.h and linux/prctl.h have them. */
enum {
	NOREPLACE = 1, NOWAIT = 8, ADD_SEALS = 1033, TMPFILE = 020000000, AMBIENT = 47,
	MOUNT_NOSUID = 2, FILTER_SET = 22, MOUNT_NOEXEC = 8, MOVE_BENEATH = 0x200, DATA = 3,
};

/* Numbers are the same on all machines from here on. */
enum { OPEN_TREE = 428, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, CLOSE_RANGE = 436, OPENAT2 };
enum { LANDLOCK = 444 };
enum { FIRST_OF_5_1 = 424, FIRST_OF_5_15 = 448 };

enum test { ANY, EQUAL, BIT, FROM };

static const struct lack {
	const char *name;
	int call;
	int argument;    /* that is tested; FROM: this call, and all with higher numbers */
	enum test test;
	uint32_t value;
	int errnum;
} lacks[] = {
	{ "open_tree", OPEN_TREE, 0, ANY, 0, ENOSYS },
	{ "move_mount", MOVE_MOUNT, 0, ANY, 0, ENOSYS },
	{ "fsopen", FSOPEN, 0, ANY, 0, ENOSYS },
	{ "fsconfig", FSCONFIG, 0, ANY, 0, ENOSYS },
	{ "fsmount", FSMOUNT, 0, ANY, 0, ENOSYS },
	{ "close_range", CLOSE_RANGE, 0, ANY, 0, ENOSYS },
	{ "openat2", OPENAT2, 0, ANY, 0, ENOSYS },
	{ "statx", SYS_statx, 0, ANY, 0, ENOSYS },
	{ "renameat2", SYS_renameat2, 0, ANY, 0, ENOSYS },
	{ "preadv2", SYS_preadv2, 0, ANY, 0, ENOSYS },
	{ "getrandom", SYS_getrandom, 0, ANY, 0, ENOSYS },
	{ "memfd_create", SYS_memfd_create, 0, ANY, 0, ENOSYS },
	{ "fadvise", SYS_fadvise64, 0, ANY, 0, ENOSYS },
	{ "mlock", SYS_mlock, 0, ANY, 0, EPERM },
	{ "setaffinity", SYS_sched_setaffinity, 0, ANY, 0, EPERM },
	/* before Linux 6.5 */
	{ "beneath", MOVE_MOUNT, 4, BIT, MOVE_BENEATH, EINVAL },
	/* our own, with the second layer of a front; and the front */
	{ "tmpfs", FSMOUNT, 2, EQUAL, MOUNT_NOEXEC, EPERM },
	{ "overlay", FSMOUNT, 2, BIT, MOUNT_NOSUID, EPERM },
	/* filesystems differ in these */
	{ "noreplace", SYS_renameat2, 4, BIT, NOREPLACE, EINVAL },
	{ "tmpfile", SYS_openat, 2, BIT, TMPFILE, EOPNOTSUPP },
	{ "nowait", SYS_preadv2, 5, BIT, NOWAIT, EOPNOTSUPP },
	{ "seek-data", SYS_lseek, 2, EQUAL, DATA, EINVAL },
	{ "seals", SYS_fcntl, 1, EQUAL, ADD_SEALS, EINVAL },
	{ "fionread", SYS_ioctl, 1, EQUAL, FIONREAD, ENOTTY },
	{ "ambient", SYS_prctl, 0, EQUAL, AMBIENT, EINVAL },
	{ "user-namespaces", SYS_unshare, 0, BIT, CLONE_NEWUSER, EINVAL },
	{ "mount-namespaces", SYS_unshare, 0, BIT, CLONE_NEWNS, ENOSPC },
	/* what is taken from who parses */
	{ "landlock", LANDLOCK, 0, ANY, 0, ENOSYS },
	{ "seccomp", SYS_prctl, 0, EQUAL, FILTER_SET, EINVAL },
	/* before 6.7 what is sealed against writing is not mapped shared */
	{ "map-shared", SYS_mmap, 3, EQUAL, MAP_SHARED, EPERM },
	{ "newer-than-4.18", FIRST_OF_5_1, 0, FROM, 0, ENOSYS },
	{ "newer-than-5.14", FIRST_OF_5_15, 0, FROM, 0, ENOSYS },
};

static const struct {
	const char *name;
	int errnum;
} errors[] = {
	{ "ENOSYS", ENOSYS }, { "EINVAL", EINVAL },         { "ENOTTY", ENOTTY },
	{ "EPERM", EPERM },   { "EOPNOTSUPP", EOPNOTSUPP },
};

enum { STEPS = 5, LACKS_MOST = 32 };

static _Noreturn void refuse(const char *what)
{
	fprintf(stderr, "without: %s\n", what);
	exit(125);
}

static int error_of(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].errnum;
	}
	refuse(name);
}

static struct lack find(const char *text)
{
	size_t n = strcspn(text, "=");

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		struct lack lack = lacks[i];

		if (strlen(lack.name) != n || strncmp(lack.name, text, n) != 0)
			continue;
		if (text[n])
			lack.errnum = error_of(text + n + 1);
		return lack;
	}
	refuse(text);
}

static uint32_t argument_at(int number)
{
	const uint16_t probe = 1;
	uint32_t low = *(const uint8_t *)&probe ? 0 : 4;

	return (uint32_t)offsetof(struct seccomp_data, args) + 8 * (uint32_t)number + low;
}

/* As far as one of them holds, the call fails; else the next lack is looked at. */
static void add(struct sock_filter *out, const struct lack *lack)
{
	static const uint16_t tests[] = {
		[ANY] = BPF_JGE, [EQUAL] = BPF_JEQ, [BIT] = BPF_JSET, [FROM] = BPF_JGE,
	};
	uint16_t which = lack->test == FROM ? BPF_JGE : BPF_JEQ;
	const struct sock_filter steps[STEPS] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP((uint16_t)(BPF_JMP | which | BPF_K), (uint32_t)lack->call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_at(lack->argument)),
		BPF_JUMP((uint16_t)(BPF_JMP | tests[lack->test] | BPF_K), lack->value, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)lack->errnum),
	};

	memcpy(out, steps, sizeof(steps));
}

int main(int argc, char **argv)
{
	struct sock_filter filter[STEPS * LACKS_MOST + 1];
	struct sock_fprog program = { .filter = filter };
	int i = 1;

	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		struct lack lack = find(argv[i]);

		if (i > LACKS_MOST)
			refuse("too many");
		add(filter + program.len, &lack);
		program.len += STEPS;
	}
	if (i + 1 >= argc)
		refuse("needs a command behind --");
	filter[program.len++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (geteuid() != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		refuse(strerror(errno));
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		refuse(strerror(errno));
	execvp(argv[i + 1], argv + i + 1);
	refuse(strerror(errno));
}
