/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errands: what a child sends and how it ends. What only a
 * filesystem of the user's own shows is in tests/mount/rights-fuse.sh.
 */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/opener.h"
#include "base/log.h"

enum { USER = 4201, GROUP = 4202, MANY = 3000 };

/* A process that is not root opens files for itself. */
static struct rights user = { .uid = USER, .gid = GROUP };

struct taken {
	unsigned count;
	uint64_t numbers[3];
	char texts[3][16];
	char contents[3]; /* a byte of each descriptor */
	int refuse_at;    /* the item whose taking fails, counted from 1 */
};

static int take(void *context, const struct opener_item *item, struct error *e)
{
	struct taken *taken = context;
	CLEANUP(cleanup_close) int fd = item->fd;
	unsigned i = taken->count++;

	if (taken->refuse_at && (int)taken->count == taken->refuse_at)
		return error_set(e, ERROR_DATASET, ENOTSUP, "not this one");
	if (i >= 3)
		return 0;
	if (item->size == sizeof(taken->numbers[i]))
		memcpy(&taken->numbers[i], item->data, item->size);
	snprintf(taken->texts[i], sizeof(taken->texts[i]), "%s", item->text);
	if (fd >= 0 && pread(fd, &taken->contents[i], 1, 0) != 1)
		return -EIO;
	return 0;
}

static int run(int (*work)(void *, struct error *), struct taken *taken, struct error *e)
{
	const struct opener opener = { .work = work, .receive = take, .context = taken };

	*e = (struct error){ 0 };
	return opener_run(&user, &opener, e);
}

static unsigned open_descriptors(void)
{
	return unit_names_in("/proc/self/fd");
}

/* ---- What comes through ---- */

static int send_three(void *context, struct error *e)
{
	const struct taken *taken = context;
	uint64_t number = 1234567890123;
	int fd = open("of-user", O_RDONLY | O_CLOEXEC);
	int err;

	err = opener_send(&(struct opener_item){ .data = &number, .size = sizeof(number),
			  .text = "first", .fd = fd }, e);
	if (!err)
		err = opener_send(&(struct opener_item){ .text = "second", .fd = -1 }, e);
	/* of the parent's when it was begun */
	if (!err)
		err = opener_send(&(struct opener_item){ .fd = -1, .size = sizeof(number),
				  .data = &taken->numbers[2] }, e);
	return err;
}

static void test_data_texts_and_descriptors(void **state)
{
	struct taken taken = { .numbers = { 0, 0, 7 } };
	unsigned before = open_descriptors();
	uid_t before_uid = geteuid();
	struct error e;

	(void)state;
	unit_write("of-user", "y", 1);
	assert_int_equal(chmod(".", 0755), 0);
	assert_int_equal(chown("of-user", user.uid, user.gid), 0);
	assert_int_equal(chmod("of-user", 0400), 0);
	assert_int_equal(run(send_three, &taken, &e), 0);
	assert_int_equal(taken.count, 3);
	assert_int_equal(taken.numbers[0], 1234567890123);
	assert_string_equal(taken.texts[0], "first");
	assert_int_equal(taken.contents[0], 'y');
	assert_string_equal(taken.texts[1], "second");
	assert_int_equal(taken.numbers[2], 7);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(geteuid(), before_uid);
}

/* More than are let be under way at once, and more than a queue holds. */
static int send_many(void *context, struct error *e)
{
	int fd = open("of-user", O_RDONLY | O_CLOEXEC), err = 0;

	(void)context;
	for (int i = 0; i < MANY && !err; i++)
		err = opener_send(&(struct opener_item){ .text = "one of many", .fd = fd }, e);
	return err;
}

static int send_many_with_a_low_limit(void *context, struct error *e)
{
	const struct rlimit limit = { 32, 32 };

	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : send_many(context, e);
}

static void test_many_descriptors(void **state)
{
	struct taken taken = { 0 };
	unsigned before = open_descriptors();
	struct error e;

	(void)state;
	assert_int_equal(run(send_many, &taken, &e), 0);
	assert_int_equal(taken.count, MANY);
	taken.count = 0;
	assert_int_equal(run(send_many_with_a_low_limit, &taken, &e), 0);
	assert_int_equal(taken.count, MANY);
	assert_int_equal(open_descriptors(), before);
}

static int fail_to_open(void *context, struct error *e)
{
	(void)context;
	return error_set(e, ERROR_DATASET, ENOENT, "'x' is a sentence with %d numbers", 3);
}

static void test_errors(void **state)
{
	struct taken taken = { .refuse_at = 2 };
	unsigned before = open_descriptors();
	struct error e;

	(void)state;
	assert_int_equal(run(fail_to_open, &taken, &e), -ENOENT);
	assert_string_equal(e.text, "'x' is a sentence with 3 numbers");
	assert_int_equal(e.status, ERROR_DATASET);
	assert_int_equal(run(send_three, &taken, &e), -ENOTSUP);
	assert_string_equal(e.text, "not this one");
	assert_int_equal(taken.count, 2);
	assert_int_equal(open_descriptors(), before);
}

/* One that the user has taken over. */
static int send_bytes(void *context, struct error *e)
{
	unsigned char bytes[64];

	(void)e;
	memset(bytes, 0xff, sizeof(bytes));
	send(STDIN_FILENO, bytes, *(const size_t *)context, 0);
	return 0;
}

/* Its end, without an error number, with a status that no program has. */
static int send_odd_end(void *context, struct error *e)
{
	const int *end = context;

	e->status = (enum error_status)end[1];
	return end[0];
}

static void test_ends_that_make_no_sense(void **state)
{
	int ends[][2] = { { 7, ERROR_SYSTEM }, { INT_MIN, ERROR_SYSTEM }, { -5000, ERROR_SYSTEM },
			  { -EIO, 0 }, { -EIO, -1 }, { -EIO, 256 } };
	struct error e = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(ends); i++) {
		const struct opener opener = { send_odd_end, take, &ends[i] };

		assert_int_equal(opener_run(&user, &opener, &e), -EBADMSG);
		assert_int_equal(e.status, ERROR_SYSTEM);
	}
}

static void test_messages_that_make_no_sense(void **state)
{
	size_t sizes[] = { 1, 64 };
	struct taken taken = { 0 };
	struct error e = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct opener opener = { send_bytes, take, &sizes[i] };

		assert_int_equal(opener_run(&user, &opener, &e), -EBADMSG);
		assert_int_equal(taken.count, 0);
	}
}

static int say(void *context, struct error *e)
{
	(void)context;
	(void)e;
	log_warn("of the child's");
	dprintf(STDERR_FILENO, "not through the log");
	return 0;
}

static void run_say(void *context)
{
	struct error e;

	run(say, context, &e);
}

static void test_lines_of_the_log(void **state)
{
	struct taken taken = { 0 };
	char *said = unit_stderr_of(run_say, &taken);

	(void)state;
	assert_string_equal(said, "granary: of the child's\n");
	free(said);
}

/* ---- What the user may do ---- */

static int end_by_a_signal(void *context, struct error *e)
{
	(void)context;
	(void)e;
	return raise(SIGKILL);
}

static int end_early(void *context, struct error *e)
{
	(void)context;
	(void)e;
	_exit(0);
}

static void test_ended_by_the_user(void **state)
{
	struct taken taken = { 0 };
	struct error e;

	(void)state;
	assert_int_equal(run(end_by_a_signal, &taken, &e), -EINTR);
	assert_non_null(strstr(e.text, " was ended by signal 9"));
	assert_int_equal(run(end_early, &taken, &e), -EINTR);
	assert_non_null(strstr(e.text, "ended before"));
}

/* The child is done, but does not end. */
static int stop_when_done(void *context, struct error *e)
{
	(void)context;
	(void)e;
	if (fork() == 0) {
		usleep(20000);
		kill(getppid(), SIGSTOP);
		_exit(0);
	}
	return 0;
}

static void test_a_child_that_is_stopped_at_its_end(void **state)
{
	struct taken taken = { 0 };
	struct error e;

	(void)state;
	assert_int_equal(run(stop_when_done, &taken, &e), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_data_texts_and_descriptors),
	cmocka_unit_test(test_many_descriptors),
	cmocka_unit_test(test_errors),
	cmocka_unit_test(test_messages_that_make_no_sense),
	cmocka_unit_test(test_ends_that_make_no_sense),
	cmocka_unit_test(test_lines_of_the_log),
	cmocka_unit_test(test_ended_by_the_user),
	cmocka_unit_test(test_a_child_that_is_stopped_at_its_end),
};

int main(void)
{
	if (geteuid() != 0)
		user = (struct rights){ .uid = geteuid(), .gid = getegid() };
	return unit_run(tests, COUNT(tests), unit_enter, unit_leave);
}
