/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An opener that was taken over hands over something else than what it was asked for. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuse/user_files.h"
#include "os/log_file.h"

static int (*opened)(void);

static int open_plain(void)
{
	return open("plain", O_RDWR | O_CREAT, 0600);
}

static int open_stream(void)
{
	int ends[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ? -1 : ends[0];
}

static int open_pipe(void)
{
	int ends[2];

	return pipe(ends) < 0 ? -1 : ends[1];
}

/* In the place of src/os/log_file.c. */
int log_open_file(const char *path, struct error *e)
{
	(void)path;
	(void)e;
	return opened();
}

int log_to_file(const char *path, struct error *e)
{
	(void)path;
	(void)e;
	return -ENOSYS;
}

static void test_no_log_but_a_writers_socket(void **state)
{
	static int (*const others[])(void) = { open_plain, open_stream, open_pipe };
	const struct rights rights = { .uid = geteuid(), .gid = getegid() };
	struct error e;

	(void)state;
	for (size_t i = 0; i < COUNT(others); i++) {
		opened = others[i];
		assert_int_equal(user_log(&rights, "the log", &e), -EBADMSG);
		assert_non_null(strstr(e.text, "'the log'"));
	}
}

static const struct CMUnitTest user_files[] = {
	cmocka_unit_test(test_no_log_but_a_writers_socket),
};

UNIT_MAIN(user_files)
