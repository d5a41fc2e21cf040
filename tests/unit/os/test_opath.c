/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only what is a regular file is opened, and nothing else is touched. */
/* granary-test: LDFLAGS = -Wl,--wrap=open64,--wrap=__open64_2,--wrap=syscall */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/opath.h"

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap___open64_2(const char *path, int flags);

static bool denied; /* a FUSE filesystem says that what is held is not there */

int __wrap_open64(const char *path, int flags, ...)
{
	if (denied && strncmp(path, "/proc/self/fd/", 14) == 0) {
		errno = ENOENT;
		return -1;
	}
	return __real_open64(path, flags, 0);
}

/* The names of open(2) with _FORTIFY_SOURCE. */
int __wrap___open64_2(const char *path, int flags)
{
	return __wrap_open64(path, flags);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static unsigned refusals; /* of openat2, to come */
static int refusal;

long __wrap_syscall(long number, ...)
{
	long a[4];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < COUNT(a); i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == __NR_openat2 && refusals) {
		refusals--;
		errno = refusal;
		return -1;
	}
	return __real_syscall(number, a[0], a[1], a[2], a[3]);
}

static const struct {
	const char *script, *path;
	int err; /* 0: it is opened */
} cases[] = {
	{ "echo x >plain", "plain", 0 },
	{ "ln -s plain link", "link", 0 },
	{ "ln -s none dangling", "dangling", -ENOENT },
	{ "ln -s loop loop", "loop", -ELOOP },
	{ "mkdir directory", "directory", -EINVAL },
	{ "mkfifo pipe", "pipe", -EINVAL },
	{ "true", "/dev/null", -EINVAL },
	{ "true", "/dev/tty", -EINVAL }, /* ENXIO, were it opened without a terminal */
	{ "true", "none", -ENOENT },
	{ "true", "plain/x", -ENOTDIR },
};

static void test_what_is_opened(void **state)
{
	size_t i = unit_row(state);
	int fd;

	unit_shell(cases[i].script);
	fd = opath_open_file(cases[i].path);
	if (cases[i].err ? fd != cases[i].err : fd < 0)
		fail_msg("%s: %d", cases[i].path, fd);
	if (fd >= 0)
		close(fd);
}

/* Its name may be another's by then. */
static void test_what_was_held_is_opened(void **state)
{
	char text[8] = "";
	int held, fd;

	(void)state;
	unit_shell("echo right >file");
	held = open("file", O_PATH | O_CLOEXEC);
	unit_shell("mv file moved && echo wrong >file");
	fd = opath_reopen(held, "file", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, 5), 5);
	assert_string_equal(text, "right");
	close(fd);
	close(held);
}

/* Its path leads to another file by then, and that is not what was looked at. */
static void test_a_file_that_is_denied_is_not_opened_by_its_path(void **state)
{
	int held, fd;

	(void)state;
	unit_shell("echo right >file");
	held = open("file", O_PATH | O_CLOEXEC);
	unit_shell("mv file moved && echo wrong >file");
	denied = true;
	fd = opath_reopen(held, "file", O_RDONLY);
	denied = false;
	assert_int_equal(fd, -ENOENT);
	close(held);
}

static const struct {
	const char *path;
	int refusal;
	unsigned refusals;
	int err;
} below[] = {
	{ "plain", 0, 0, 0 }, { "a/in", 0, 0, 0 }, { "inner/in", 0, 0, 0 },
	{ "out", 0, 0, EXDEV }, { "outer/plain", 0, 0, EXDEV }, { "none", 0, 0, ENOENT },
	{ "plain/x", 0, 0, ENOTDIR },
	/* a rename beside it, once and for ever */
	{ "inner/in", EAGAIN, 3, 0 }, { "a/in", EAGAIN, UINT_MAX, 0 },
	/* an old kernel, or a filter */
	{ "a/in", ENOSYS, UINT_MAX, 0 }, { "a//in", EPERM, UINT_MAX, 0 },
	{ "inner/in", ENOSYS, UINT_MAX, ELOOP }, { "out", ENOSYS, UINT_MAX, ELOOP },
	{ "outer/plain", ENOSYS, UINT_MAX, ELOOP }, { "plain/x", ENOSYS, UINT_MAX, ENOTDIR },
	{ "none/x", ENOSYS, UINT_MAX, ENOENT },
};

/* A link is followed or refused, and never called something else. */
static void test_what_lies_below(void **state)
{
	int root;

	(void)state;
	unit_shell("mkdir -p below/a out && :>below/plain && :>below/a/in && :>out/plain && "
		   "ln -s a below/inner && ln -s ../out below/outer && ln -s ../out/plain below/out");
	root = open("below", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root >= 0);
	for (size_t i = 0; i < COUNT(below); i++) {
		int fd;

		refusal = below[i].refusal;
		refusals = below[i].refusals;
		errno = 0;
		fd = opath_hold_below(root, below[i].path);
		refusals = 0;
		if ((fd < 0 ? errno : 0) != below[i].err)
			fail_msg("%s after %d: %s", below[i].path, below[i].refusal, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	close(root);
}

static const struct CMUnitTest holding[] = {
	unit_table(test_what_is_opened, cases, script),
	cmocka_unit_test(test_what_was_held_is_opened),
	cmocka_unit_test(test_what_lies_below),
	cmocka_unit_test(test_a_file_that_is_denied_is_not_opened_by_its_path),
};

UNIT_MAIN(holding)
