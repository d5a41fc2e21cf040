/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Announced memfds: found, not found when gone, and names that lie. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/registry.h"

struct search {
	pid_t daemon;
	unsigned times;
	char text[16];
};

static int note(void *context, pid_t daemon, int record)
{
	struct search *search = context;

	if (daemon != search->daemon)
		return 0;
	search->times++;
	return pread(record, search->text, sizeof(search->text) - 1, 0) < 0 ? -errno : 0;
}

static unsigned times_found(pid_t daemon, struct search *search)
{
	*search = (struct search){ .daemon = daemon };
	assert_int_equal(registry_each(note, search), 0);
	return search->times;
}

static int memory_with(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

static void test_a_memfd_is_found_while_its_name_is_bound(void **state)
{
	int memory = memory_with("hello"), name = registry_add(memory);
	struct search search;

	(void)state;
	assert_true(name >= 0);
	assert_int_equal(times_found(getpid(), &search), 1);
	assert_string_equal(search.text, "hello");
	close(name);
	assert_int_equal(times_found(getpid(), &search), 0);
	close(memory);
}

/* Binds @granaryfs/1/`rest`. */
static int bind_name(const char *rest)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "granaryfs/1/%s",
			 rest);

	assert_int_equal(bind(fd, (struct sockaddr *)&address,
			      (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 +
				      (socklen_t)n), 0);
	return fd;
}

/* A FIFO, a directory, a socket, a number that is not open, and no numbers. */
static void test_names_that_lie_are_passed_over(void **state)
{
	int fds[2], directory = open("/", O_RDONLY), sockets[6];
	char rests[6][32];
	struct search search;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	snprintf(rests[0], 32, "%d/%d/0", (int)getpid(), fds[0]);
	snprintf(rests[1], 32, "%d/%d/0", (int)getpid(), directory);
	snprintf(rests[2], 32, "%d/%d/0", (int)getpid(), 999);
	snprintf(rests[3], 32, "%d/-5/0", (int)getpid());
	snprintf(rests[4], 32, "-1/0/0");
	snprintf(rests[5], 32, "99999999999999/1/../../x");
	for (int i = 0; i < 6; i++)
		sockets[i] = bind_name(rests[i]);
	assert_int_equal(times_found(getpid(), &search), 0);
	for (int i = 0; i < 6; i++)
		close(sockets[i]);
	close(fds[0]);
	close(fds[1]);
	close(directory);
}

/* A process that takes the name first does not keep the daemon from being announced. */
static void test_a_taken_name_is_passed_by(void **state)
{
	int memory = memory_with("mine"), taken, name;
	struct search search;
	char rest[32];

	(void)state;
	snprintf(rest, sizeof(rest), "%d/%d/0", (int)getpid(), memory);
	taken = bind_name(rest);
	name = registry_add(memory);
	assert_true(name >= 0);
	assert_true(times_found(getpid(), &search) >= 1);
	assert_string_equal(search.text, "mine");
	close(taken);
	close(name);
	close(memory);
}

static void test_a_killed_process_is_not_found(void **state)
{
	pid_t child;
	int ready[2];
	struct search search;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		int name = registry_add(memory_with("child"));

		if (name < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(times_found(child, &search), 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(times_found(child, &search), 0);
	close(ready[0]);
	close(ready[1]);
}

static const struct CMUnitTest registry[] = {
	cmocka_unit_test(test_a_memfd_is_found_while_its_name_is_bound),
	cmocka_unit_test(test_names_that_lie_are_passed_over),
	cmocka_unit_test(test_a_taken_name_is_passed_by),
	cmocka_unit_test(test_a_killed_process_is_not_found),
};

UNIT_MAIN(registry)
