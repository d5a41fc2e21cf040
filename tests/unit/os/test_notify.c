/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readiness: to a service manager, and into a FIFO. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/bounded.h"
#include "os/notify.h"

enum { SOON = 10000, SHORT = 60 };

/* The service manager's end of the socket. */

static int serve(const char *address)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	size_t n = strlen(address);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);

	assert_true(fd >= 0 && n < sizeof(name.sun_path));
	memcpy(name.sun_path, address, n);
	if (*address == '@')
		name.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&name, size), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", address, 1), 0);
	return fd;
}

static const char *hear(int fd)
{
	static char text[8192];
	struct pollfd news = { .fd = fd, .events = POLLIN };
	ssize_t n;

	assert_int_equal(poll(&news, 1, SOON), 1);
	n = recv(fd, text, sizeof(text) - 1, 0);
	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static void assert_silent(int fd)
{
	struct pollfd news = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&news, 1, 0), 0);
}

static void check_manager(const char *address)
{
	struct notify notify = NOTIFY_INIT;
	struct error e = { ERROR_MOUNT, "mnt: two\nlines\tand READY=1" };
	int fd = serve(address);
	char wanted[128];

	assert_int_equal(notify_open(&notify, NULL, NULL), 0);
	assert_null(getenv("NOTIFY_SOCKET"));
	assert_int_equal(notify.pipe, -1);
	assert_silent(fd);
	notify_ready(&notify, "serves mnt");
	snprintf(wanted, sizeof(wanted), "READY=1\nMAINPID=%ld\nSTATUS=serves mnt",
		 (long)getpid());
	assert_string_equal(hear(fd), wanted);
	notify_stopping();
	assert_string_equal(hear(fd), "STOPPING=1\nSTATUS=unmounting");
	notify_failed(&notify, &e);
	snprintf(wanted, sizeof(wanted), "ERRNO=%d\nSTATUS=mnt: two lines and READY=1",
		 ENODEV);
	assert_string_equal(hear(fd), wanted);
	assert_silent(fd);
	assert_true(notify_close(&notify, 0));
	close(fd);
}

static void test_a_manager_at_a_path(void **state)
{
	char address[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

	(void)state;
	snprintf(address, sizeof(address), "%s/socket", unit_directory());
	check_manager(address);
	/* the longest that there is: a path has no NUL of its own then */
	memset(address + strlen(address), 'x', sizeof(address) - strlen(address));
	address[sizeof(address) - 1] = '\0';
	check_manager(address);
}

static void test_a_manager_with_an_abstract_name(void **state)
{
	char address[64];

	(void)state;
	snprintf(address, sizeof(address), "@granary-unit-%ld", (long)getpid());
	check_manager(address);
}

static void test_a_manager_that_is_gone(void **state)
{
	struct notify notify = NOTIFY_INIT;
	char address[128];

	(void)state;
	snprintf(address, sizeof(address), "%s/gone", unit_directory());
	close(serve(address));
	assert_int_equal(notify_open(&notify, NULL, NULL), 0);
	notify_ready(&notify, "nobody hears it");
	notify_stopping();
}

/* In a child: what was found before is remembered. */
static int run_without_manager(void *address)
{
	struct notify notify = NOTIFY_INIT;
	struct error e = { ERROR_SYSTEM, "" };

	if (address)
		setenv("NOTIFY_SOCKET", address, 1);
	else
		unsetenv("NOTIFY_SOCKET");
	if (notify_open(&notify, NULL, &e) != 0 || getenv("NOTIFY_SOCKET"))
		return 1;
	notify_ready(&notify, "nobody hears it");
	notify_failed(&notify, &e);
	notify_stopping();
	return notify_close(&notify, 0) ? 0 : 2;
}

static void test_no_manager(void **state)
{
	static char empty[] = "", nothing[] = "@", relative[] = "relative", vsock[] = "vsock:2:1";
	char longer[512];
	char *const addresses[] = { NULL, empty, nothing, relative, vsock, longer };

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	for (size_t i = 0; i < COUNT(addresses); i++)
		assert_int_equal(unit_child(run_without_manager, addresses[i]), 0);
}

/* Datagrams until the manager's queue is full: how many. */
static unsigned fill(void)
{
	unsigned count = 0;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	assert_true(fd >= 0);
	snprintf(name.sun_path, sizeof(name.sun_path), "full");
	assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	while (send(fd, "x", 1, 0) == 1)
		count++;
	assert_int_equal(errno, EAGAIN);
	close(fd);
	return count;
}

static int ready_in_child(void *notify)
{
	notify_ready(notify, "at last");
	return 0;
}

static void test_a_manager_whose_queue_is_full(void **state)
{
	struct notify notify = NOTIFY_INIT;
	char address[128];
	long long start;
	unsigned count;
	int fd;

	(void)state;
	snprintf(address, sizeof(address), "%s/full", unit_directory());
	fd = serve(address);
	assert_int_equal(notify_open(&notify, NULL, NULL), 0);
	count = fill();
	start = bounded_now();
	notify_ready(&notify, "lost");
	assert_in_range(bounded_now() - start, 900, SOON);
	while (count--)
		assert_string_equal(hear(fd), "x");
	assert_silent(fd);
	assert_int_equal(unit_child(ready_in_child, &notify), 0);
	assert_non_null(strstr(hear(fd), "READY=1\n"));
	close(fd);
}

/* The queue has room again before the second is over: nothing is lost. */
static void test_a_manager_that_is_slow(void **state)
{
	struct notify notify = NOTIFY_INIT;
	const char *text;
	char address[128];
	pid_t child;
	int fd;

	(void)state;
	unlink("full");
	snprintf(address, sizeof(address), "%s/full", unit_directory());
	fd = serve(address);
	assert_int_equal(notify_open(&notify, NULL, NULL), 0);
	fill();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		notify_ready(&notify, "late");
		_exit(0);
	}
	bounded_pause(SHORT);
	do {
		text = hear(fd);
	} while (strcmp(text, "x") == 0);
	assert_non_null(strstr(text, "STATUS=late"));
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(fd);
}

/* The FIFO. */

static void open_fifo(struct notify *notify, const char *path)
{
	struct error e;

	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	if (notify_open(notify, path, &e) != 0)
		fail_msg("%s", e.text);
}

static void test_a_reader_that_is_there(void **state)
{
	struct notify notify = NOTIFY_INIT;
	char byte = 0;
	int reader;

	(void)state;
	open_fifo(&notify, "fifo");
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	notify_ready(&notify, "");
	assert_false(notify_close(&notify, 0));
	assert_int_equal(read(reader, &byte, 1), 1);
	assert_int_equal(byte, 's');
	assert_int_equal(read(reader, &byte, 1), -1); /* not the end: it is open */
	assert_true(notify_close(&notify, 0));
	assert_int_equal(notify.pipe, -1);
	assert_int_equal(read(reader, &byte, 1), 0);
	assert_true(notify_close(&notify, 0));
	close(reader);
}

static void test_a_reader_that_comes_later(void **state)
{
	struct notify notify = NOTIFY_INIT;
	struct error e = { ERROR_DATASET, "broken" };
	char byte = 0;
	int reader;

	(void)state;
	open_fifo(&notify, "fifo");
	notify_failed(&notify, &e);
	assert_false(notify_close(&notify, 0));
	reader = open("fifo", O_RDONLY);
	assert_int_equal(read(reader, &byte, 1), 1);
	assert_int_equal(byte, 'f');
	assert_true(notify_close(&notify, 0));
	close(reader);
}

/* The byte, and then the end: `cat` must not wait for as long as the mount is there. */
static int read_later(void)
{
	char bytes[8];
	int reader = open("fifo", O_RDONLY);

	bounded_pause(SHORT);
	return read(reader, bytes, sizeof(bytes)) == 1 && *bytes == 's' &&
	       read(reader, bytes, sizeof(bytes)) == 0;
}

static void test_closing_waits_for_the_reader(void **state)
{
	struct notify notify = NOTIFY_INIT;
	int status;
	pid_t child;

	(void)state;
	open_fifo(&notify, "fifo");
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(notify.pipe);
		_exit(read_later() ? 0 : 1);
	}
	notify_ready(&notify, "");
	assert_true(notify_close(&notify, SOON));
	assert_int_equal(notify.pipe, -1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_a_reader_that_never_comes(void **state)
{
	struct notify notify = NOTIFY_INIT;
	long long start = bounded_now();

	(void)state;
	open_fifo(&notify, "fifo");
	notify_ready(&notify, "");
	assert_false(notify_close(&notify, 0));
	assert_false(notify_close(&notify, SHORT));
	assert_in_range(bounded_now() - start, SHORT, SOON);
	close(notify.pipe);
}

static void test_a_fifo_that_is_full(void **state)
{
	struct notify notify = NOTIFY_INIT;
	long long start = bounded_now();
	char bytes[4096] = "";

	(void)state;
	open_fifo(&notify, "fifo");
	while (write(notify.pipe, bytes, sizeof(bytes)) > 0)
		;
	notify_ready(&notify, "");
	assert_false(notify_close(&notify, 0));
	assert_true(bounded_now() - start < SOON);
	close(notify.pipe);
}

static const char *const paths[] = {
	"file", ".", "/dev/null", "socket", "nothing",
};

static void test_what_is_no_fifo(void **state)
{
	size_t i = unit_row(state);
	struct notify notify = NOTIFY_INIT;
	struct error e;

	unit_write("file", "", 0);
	assert_true(notify_open(&notify, paths[i], &e) < 0);
	assert_int_equal(e.status, ERROR_SYSTEM);
	assert_non_null(strstr(e.text, paths[i]));
	assert_non_null(strstr(e.text, "mkfifo"));
	assert_int_equal(notify.pipe, -1);
	assert_true(notify_close(&notify, SOON));
}

static const struct CMUnitTest notifying[] = {
	cmocka_unit_test(test_a_manager_at_a_path),
	cmocka_unit_test(test_a_manager_with_an_abstract_name),
	cmocka_unit_test(test_a_manager_that_is_gone),
	cmocka_unit_test(test_no_manager),
	cmocka_unit_test(test_a_manager_whose_queue_is_full),
	cmocka_unit_test(test_a_manager_that_is_slow),
	cmocka_unit_test(test_a_reader_that_is_there),
	cmocka_unit_test(test_a_reader_that_comes_later),
	cmocka_unit_test(test_closing_waits_for_the_reader),
	cmocka_unit_test(test_a_reader_that_never_comes),
	cmocka_unit_test(test_a_fifo_that_is_full),
	unit_texts(test_what_is_no_fifo, paths),
};

UNIT_MAIN(notifying)
