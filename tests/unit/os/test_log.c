/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log: one line a message, whatever is in it. */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_ring.h"
#include "os/bounded.h"
#include "os/log_file.h"
#include "os/log_writer.h"

static void write_one(void *text)
{
	log_open("prog", LOG_LEVEL_WARN);
	log_error("%s", (const char *)text);
}

static const struct {
	const char *text, *line;
} lines[] = {
	{ "plain", "prog: plain\n" },
	{ "", "prog: \n" },
	{ "two\nlines", "prog: two\\012lines\n" },
	{ "\033[31mred\a\r\t\177", "prog: \\033[31mred\\007\\015\\011\\177\n" },
	{ "gr\xc3\xbc\xc3\x9f", "prog: gr\xc3\xbc\xc3\x9f\n" },
	{ "%s%n", "prog: %s%n\n" },
};

static void test_control_characters_are_escaped(void **state)
{
	size_t i = unit_row(state);
	char *got = unit_stderr_of(write_one, (void *)(uintptr_t)lines[i].text);

	assert_string_equal(got, lines[i].line);
	free(got);
}

/* All plain, and all escaped: four times as long. */
static const char fill[] = { 'x', '\n' };

static void test_long_messages_stay_one_line(void **state)
{
	size_t i = unit_row(state);
	char text[9000];
	char *got;

	memset(text, fill[i], sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	got = unit_stderr_of(write_one, text);
	assert_int_equal(unit_occurrences(got, "\n"), 1);
	assert_int_equal(got[strlen(got) - 1], '\n');
	assert_in_range(strlen(got), 4000, 4200);
	free(got);
}

static void write_levels(void *level)
{
	log_open("prog", *(const enum log_level *)level);
	log_notice("notice");
	log_error("error");
	log_warn("warn");
	log_info("info");
	log_debug("debug");
}

static void test_levels_above_the_set_one_are_dropped(void **state)
{
	(void)state;
	for (int i = LOG_LEVEL_NOTICE; i <= LOG_LEVEL_DEBUG; i++) {
		enum log_level level = (enum log_level)i;
		char *got = unit_stderr_of(write_levels, &level);

		assert_int_equal(unit_occurrences(got, "\n"), i + 1);
		assert_non_null(strstr(got, "prog: notice\n"));
		free(got);
	}
}

enum { TRIES = 50, BURST = 7, PERIOD_CHANGED = 200 };

static long period(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec / 10;
}

static int count_allowed(void *argument)
{
	long before = period();
	int allowed = 0;

	(void)argument;
	log_open("prog", LOG_LEVEL_WARN);
	for (int i = 0; i < TRIES; i++)
		allowed += log_allowed(BURST);
	return period() == before ? allowed : PERIOD_CHANGED;
}

/* In a child, whose account is fresh; again where ten seconds were just over. */
static void try_burst(void *allowed)
{
	do {
		*(int *)allowed = unit_child(count_allowed, NULL);
	} while (*(int *)allowed == PERIOD_CHANGED);
}

static void test_a_burst_is_bounded_and_says_so_once(void **state)
{
	int allowed;
	char *got = unit_stderr_of(try_burst, &allowed);

	(void)state;
	assert_int_equal(allowed, BURST);
	assert_in_range(unit_occurrences(got, "left out"), 1, 2);
	free(got);
}

static void *allow_from_thread(void *allowed)
{
	for (int i = 0; i < TRIES; i++)
		__atomic_fetch_add((int *)allowed, log_allowed(BURST), __ATOMIC_RELAXED);
	return NULL;
}

static int count_from_threads(void *argument)
{
	pthread_t threads[8];
	long before = period();
	int allowed = 0;

	(void)argument;
	for (size_t i = 0; i < COUNT(threads); i++)
		if (pthread_create(&threads[i], NULL, allow_from_thread, &allowed))
			return PERIOD_CHANGED + 1;
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	return period() == before ? allowed : PERIOD_CHANGED;
}

static void try_threads(void *allowed)
{
	do {
		*(int *)allowed = unit_child(count_from_threads, NULL);
	} while (*(int *)allowed == PERIOD_CHANGED);
}

/* The first call of all may race with the others for the new period. */
static void test_threads_share_one_burst(void **state)
{
	int allowed;
	char *got = unit_stderr_of(try_threads, &allowed);

	(void)state;
	assert_in_range(allowed, BURST, 2 * BURST);
	assert_in_range(unit_occurrences(got, "left out"), 1, 2);
	free(got);
}

/* To a file. Each in a child: there is no way back to standard error. */

#define LINE "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z " \
	     "prog\\[[0-9]+\\]: "

static void assert_line(const char *line, const char *message)
{
	char pattern[256];
	regex_t regex;

	snprintf(pattern, sizeof(pattern), LINE "%s$", message);
	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&regex, line, 0, NULL, 0) != 0)
		fail_msg("'%s' is not '%s'", line, message);
	regfree(&regex);
}

/* The lines of a file, checked one by one and counted. */
static unsigned check_lines(const char *path, const char *message)
{
	char *text = unit_read(path, NULL), *end;
	unsigned count = 0;

	for (char *line = text; *line; line = end, count++) {
		end = strchr(line, '\n');
		assert_non_null(end);
		*end++ = '\0';
		assert_line(line, message);
	}
	free(text);
	return count;
}

/* A busy machine may take longer for a line than a sender waits for it. */
static void await_lines(void)
{
	while (!log_writer_is_flushed())
		bounded_pause(1);
}

/* 0, and the messages of this program go to `path`. */
static int begin_file(const char *path)
{
	struct error e = { 0 };

	log_open("prog", LOG_LEVEL_WARN);
	if (log_to_file(path, &e) == 0)
		return 0;
	fprintf(stderr, "# %s\n", e.text);
	return 1;
}

static int write_to_file(void *path)
{
	if (begin_file(path))
		return 1;
	log_error("%s", "two\nlines");
	log_to_syslog(); /* the file was chosen */
	log_error("%s", "two\nlines");
	log_info("not this one");
	await_lines();
	return 0;
}

static void run_write_to_file(void *status)
{
	*(int *)status = unit_child(write_to_file, (void *)(uintptr_t)"log");
}

static void test_a_file_gets_the_lines(void **state)
{
	struct stat st;
	mode_t before = umask(022);
	char *said;
	int status = -1;

	(void)state;
	for (unsigned times = 1; times <= 2; times++) {
		said = unit_stderr_of(run_write_to_file, &status);
		assert_int_equal(status, 0);
		assert_string_equal(said, "");
		free(said);
		assert_int_equal(check_lines("log", "two\\\\012lines"), 2 * times);
	}
	umask(before);
	assert_int_equal(stat("log", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

enum { WRITERS = 4, LINES = 500 };

static int write_many(void *path)
{
	char text[200];
	pid_t children[WRITERS];
	int failed = 0;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	if (begin_file(path))
		return 1;
	for (int i = 0; i < WRITERS; i++) {
		children[i] = fork();
		if (children[i] < 0)
			return 1;
		for (int n = 0; children[i] == 0 && n < LINES; n++) {
			log_error("%s", text);
			await_lines();
		}
		if (children[i] == 0)
			_exit(0);
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		failed |= waitpid(children[i], &status, 0) < 0 || status != 0;
	}
	return failed;
}

static void test_processes_share_a_file(void **state)
{
	(void)state;
	assert_int_equal(unit_child(write_many, (void *)(uintptr_t)"shared"), 0);
	assert_int_equal(check_lines("shared", "x{199}"), WRITERS * LINES);
}

static int write_and_cut(void *path)
{
	if (begin_file(path))
		return 1;
	log_error("before");
	await_lines();
	if (truncate(path, 0) < 0)
		return 1;
	log_error("after");
	await_lines();
	return 0;
}

static void test_a_file_that_is_cut(void **state)
{
	(void)state;
	assert_int_equal(unit_child(write_and_cut, (void *)(uintptr_t)"cut"), 0);
	assert_int_equal(check_lines("cut", "after"), 1);
}

/* The number of its writer, which becomes a child of this process; or -1. */
static pid_t begin_own_file(const char *path)
{
	char list[64] = "";
	FILE *children;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || begin_file(path))
		return -1;
	children = fopen("/proc/thread-self/children", "re");
	if (!children || !fgets(list, sizeof(list), children))
		return -1;
	fclose(children);
	return (pid_t)strtol(list, NULL, 10);
}

static int write_over_limit(void *path)
{
	struct rlimit small = { 100, RLIM_INFINITY }, large;
	pid_t writer;

	if (getrlimit(RLIMIT_FSIZE, &large) < 0)
		return 1;
	setrlimit(RLIMIT_FSIZE, &small);
	writer = begin_own_file(path);
	if (writer < 0)
		return 1;
	log_error("this one is there");
	for (int i = 0; i < 10; i++)
		log_error("a line that is too long for what is left of so few bytes");
	await_lines();
	if (prlimit(writer, RLIMIT_FSIZE, &large, NULL) < 0)
		return 1;
	log_error("room");
	log_error("again");
	await_lines();
	return 0;
}

/* A beginning that found room is ended before the next line. */
static void test_a_full_file_loses_lines_and_says_so(void **state)
{
	char *text, *line, *rest;

	(void)state;
	assert_int_equal(unit_child(write_over_limit, (void *)(uintptr_t)"full"), 0);
	text = unit_read("full", NULL);
	line = strtok_r(text, "\n", &rest);
	assert_line(line, "this one is there");
	line = strtok_r(NULL, "\n", &rest);
	assert_null(strstr(line, "bytes"));
	assert_line(strtok_r(NULL, "\n", &rest), "\\(10 lines were lost\\) room");
	assert_line(strtok_r(NULL, "\n", &rest), "again");
	assert_null(strtok_r(NULL, "\n", &rest));
	free(text);
}

static bool has_ended(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child;
}

static int kill_writer(void *path)
{
	pid_t writer = begin_own_file(path);

	if (writer < 0)
		return 1;
	kill(writer, SIGTERM); /* it is told by its senders when to end */
	log_error("before");
	await_lines();
	kill(writer, SIGKILL);
	if (!has_ended(writer))
		return 1;
	log_error("after");
	log_error("and on");
	return 0;
}

static void run_kill_writer(void *status)
{
	*(int *)status = unit_child(kill_writer, (void *)(uintptr_t)"killed");
}

static void test_a_writer_that_is_killed(void **state)
{
	int status;
	char *said = unit_stderr_of(run_kill_writer, &status);

	(void)state;
	assert_int_equal(status, 0);
	assert_int_equal(check_lines("killed", "before"), 1);
	assert_string_equal(said, "prog: the process that writes the log's file was ended: "
				  "lines go here from now on\nprog: after\nprog: and on\n");
	free(said);
}

enum { FLOOD = 3000 };

/* Its storage hangs: as good as stopped. */
static int stop_writer(void *path)
{
	pid_t writer = begin_own_file(path);
	long long began = bounded_now();

	if (writer < 0 || kill(writer, SIGSTOP) < 0)
		return 1;
	for (int i = 0; i < FLOOD; i++)
		log_error("flood");
	/* each line would wait for 200 ms */
	if (bounded_now() - began > FLOOD * 100)
		return 1;
	kill(writer, SIGCONT);
	for (int i = 0; i < 100; i++) { /* until it has taken what waited */
		bounded_pause(20);
		log_error("flood");
	}
	await_lines();
	return 0;
}

/* All lines of the file, and those that it says were lost. */
static unsigned long count_flood(const char *path)
{
	char *text = unit_read(path, NULL), *rest, *note;
	unsigned long count = 0;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		assert_line(line, "(\\([0-9]+ lines were lost\\) )?flood");
		note = strchr(line, '(');
		count += 1 + (note ? strtoul(note + 1, NULL, 10) : 0);
	}
	free(text);
	return count;
}

static void test_a_writer_that_hangs_loses_lines_and_says_so(void **state)
{
	(void)state;
	assert_int_equal(unit_child(stop_writer, (void *)(uintptr_t)"hangs"), 0);
	assert_int_equal(count_flood("hangs"), FLOOD + 100);
}

static int write_to_device(void *path)
{
	if (begin_file(path))
		return 1;
	for (int i = 0; i < 3; i++)
		log_error("lost");
	return 0;
}

static void test_a_device_is_no_trouble(void **state)
{
	(void)state;
	assert_int_equal(unit_child(write_to_device, (void *)(uintptr_t)"/dev/full"), 0);
	assert_int_equal(unit_child(write_to_device, (void *)(uintptr_t)"/dev/null"), 0);
}

static int refuse_all(void *nothing)
{
	static const char *const paths[] = { "fifo", "held", ".", "no/directory", "" };
	struct error e;

	(void)nothing;
	for (size_t i = 0; i < COUNT(paths); i++) {
		if (log_to_file(paths[i], &e) >= 0 || e.status != ERROR_SYSTEM ||
		    !strstr(e.text, paths[i]))
			return 1;
	}
	log_open("prog", LOG_LEVEL_WARN);
	log_error("still here");
	return 0;
}

static void run_refuse_all(void *status)
{
	*(int *)status = unit_child(refuse_all, NULL);
}

/* Neither without a reader, which open(2) would wait for, nor with one. */
static void test_what_could_block_is_refused(void **state)
{
	int status, reader;
	char *said;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(mkfifo("held", 0600), 0);
	reader = open("held", O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	said = unit_stderr_of(run_refuse_all, &status);
	assert_int_equal(status, 0);
	assert_string_equal(said, "prog: still here\n");
	free(said);
	close(reader);
}

/* ---- The ring ---- */

static char kept[LOG_RING_BYTES + 1];

static size_t read_ring(void)
{
	size_t n = log_ring_text(kept, LOG_RING_BYTES);

	kept[n] = '\0';
	return n;
}

static int log_in_a_child(void *argument)
{
	log_open("prog", LOG_LEVEL_WARN);
	log_warn("%s", (const char *)argument);
	return 0;
}

static void test_the_ring_outlives_a_process(void **state)
{
	(void)state;
	log_ring_make();
	assert_int_equal(read_ring(), 0);
	assert_int_equal(unit_child(log_in_a_child, (char[]){ "first\nline" }), 0);
	assert_int_equal(unit_child(log_in_a_child, (char[]){ "second" }), 0);
	read_ring();
	assert_int_equal(unit_occurrences(kept, "\n"), 2);
	assert_non_null(strstr(kept, "]: first\\012line\n"));
	assert_non_null(strstr(kept, "]: second\n"));
}

static void test_the_ring_keeps_the_last_lines(void **state)
{
	char line[100];
	size_t n;

	(void)state;
	log_ring_make();
	for (int i = 0; i < 10000; i++) {
		int length = snprintf(line, sizeof(line), "<%d %.*s>\n", i, i % 60,
				      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");

		log_ring_add(line, (size_t)length);
	}
	n = read_ring();
	assert_in_range(n, LOG_RING_BYTES - 100, LOG_RING_BYTES);
	assert_int_equal(kept[0], '<');
	assert_int_equal(kept[n - 1], '\n');
	assert_non_null(strstr(kept, "<9999 "));
	assert_int_equal(unit_occurrences(kept, "<"), unit_occurrences(kept, ">\n"));
	/* in less room whole lines, too */
	n = log_ring_text(kept, 200);
	assert_in_range(n, 100, 200);
	assert_int_equal(kept[0], '<');
	log_ring_add("\033[31m\0x\n", 9);
	read_ring();
	assert_non_null(strstr(kept, "?[31m?x\n"));
}

static const struct CMUnitTest logging[] = {
	unit_table(test_control_characters_are_escaped, lines, text),
	unit_rows(test_long_messages_stay_one_line, fill),
	cmocka_unit_test(test_levels_above_the_set_one_are_dropped),
	cmocka_unit_test(test_a_burst_is_bounded_and_says_so_once),
	cmocka_unit_test(test_threads_share_one_burst),
	cmocka_unit_test(test_a_file_gets_the_lines),
	cmocka_unit_test(test_processes_share_a_file),
	cmocka_unit_test(test_a_file_that_is_cut),
	cmocka_unit_test(test_a_full_file_loses_lines_and_says_so),
	cmocka_unit_test(test_a_writer_that_is_killed),
	cmocka_unit_test(test_a_writer_that_hangs_loses_lines_and_says_so),
	cmocka_unit_test(test_a_device_is_no_trouble),
	cmocka_unit_test(test_what_could_block_is_refused),
	cmocka_unit_test(test_the_ring_outlives_a_process),
	cmocka_unit_test(test_the_ring_keeps_the_last_lines),
};

UNIT_MAIN(logging)
