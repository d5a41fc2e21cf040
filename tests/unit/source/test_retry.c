/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Storage that fails for a moment, or for good: faults lie between the sources and pread.
 * Time is ours here: no test waits.
 *
 * granary-test: SOURCES += tests/faults/parse.c
 * granary-test: LDFLAGS = $(faults_ldflags) -Wl,--wrap=nanosleep -Wl,--wrap=clock_gettime
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../faults/faults.h"
#include "source/source_set.h"
#include "stats/stats.h"
#include "base/log.h"
#include "os/pool.h"

enum { SIZE = 100000, THREADS = 8, READS = 200 };

static char content[SIZE];
static _Atomic int64_t clock_ms = 1000000;
static char pauses[256]; /* one word a pause, in milliseconds */
static bool threaded;
static uint64_t retries, reopened;

int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __real_nanosleep(const struct timespec *time, struct timespec *left);

int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
	int64_t ms = atomic_load(&clock_ms);

	(void)id;
	*out = (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
	return 0;
}

/* With threads a pause is as long as another one takes to open the file again. */
static void wait_for_reopening(void)
{
	const struct timespec little = { .tv_nsec = 1000000 };

	for (int i = 0; i < 10000 && stats_get(COUNTER_sources_reopened) == reopened; i++)
		__real_nanosleep(&little, NULL);
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
	int64_t ms = time->tv_sec * 1000 + time->tv_nsec / 1000000;
	size_t n = strlen(pauses);

	(void)left;
	atomic_fetch_add(&clock_ms, ms);
	if (threaded)
		wait_for_reopening();
	else
		snprintf(pauses + n, sizeof(pauses) - n, "%lld ", (long long)ms);
	return 0;
}

/* From now on these faults; what is counted begins at 0. */
static void suffer(const char *faults)
{
	faults_use(faults);
	*pauses = '\0';
	retries = stats_get(COUNTER_read_retries);
	reopened = stats_get(COUNTER_sources_reopened);
}

static void expect(const char *waited, uint64_t again)
{
	assert_string_equal(pauses, waited);
	assert_int_equal(stats_get(COUNTER_read_retries) - retries, again);
}

static struct source *open_source(const char *path)
{
	struct source *source = NULL;

	faults_use(NULL);
	unit_write(path, content, SIZE);
	assert_int_equal(source_open(path, &source, NULL), 0);
	return source;
}

static int read_at(struct source *source, size_t offset, size_t length)
{
	char *buffer = malloc(length);
	int err;

	assert_non_null(buffer);
	err = source_pread(source, buffer, length, offset);
	if (!err)
		assert_memory_equal(buffer, content + offset, length);
	free(buffer);
	return err;
}

static void test_once(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	suffer("kind=eio,count=1");
	assert_int_equal(read_at(source, 0, SIZE), 0);
	expect("10 ", 1);
	suffer("kind=etimedout,from=2,count=1");
	assert_int_equal(read_at(source, 5, 10), 0);
	expect("", 0);
	assert_int_equal(read_at(source, 5, 10), 0);
	expect("10 ", 1);
	source_close(source);
}

static void test_back_off(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	suffer("kind=eio,count=4");
	assert_int_equal(read_at(source, 0, SIZE), 0);
	expect("10 40 160 640 ", 4);
	suffer("kind=eio");
	assert_int_equal(read_at(source, 0, SIZE), -EIO);
	expect("10 40 160 640 ", 4);
	assert_int_equal(faults_struck(0), 5);
	source_close(source);
}

/* The bound is that of a whole read, whatever it has got already. */
static void test_bound_of_pieces(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	suffer("kind=eio,every=2;kind=short,bytes=1000");
	assert_int_equal(read_at(source, 0, SIZE), -EIO);
	expect("10 40 160 640 ", 4);
	source_close(source);
}

static void test_errors(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	suffer("kind=etimedout");
	assert_int_equal(read_at(source, 0, 10), -ETIMEDOUT);
	expect("10 40 160 640 ", 4);
	source_close(source);
	source = open_source("a");
	suffer("kind=eacces");
	assert_int_equal(read_at(source, 0, 10), -EACCES);
	expect("", 0);
	suffer("kind=eintr,count=1000");
	assert_int_equal(read_at(source, 0, 10), 0);
	expect("", 0);
	source_close(source);
}

static void test_short(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	suffer("kind=short,bytes=7");
	assert_int_equal(read_at(source, 3, 7000), 0);
	assert_int_equal(faults_struck(0), 1000);
	suffer("kind=short");
	assert_int_equal(read_at(source, 0, SIZE), 0);
	expect("", 0);
	source_close(source);
}

static void test_nothing(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	suffer("kind=zero,offset=5000-6000,count=2");
	assert_int_equal(read_at(source, 0, SIZE), 0);
	expect("10 40 ", 2);
	suffer("kind=zero");
	assert_int_equal(read_at(source, 0, SIZE), -EIO);
	expect("10 40 160 640 ", 4);
	source_close(source);
}

/* Nobody brings back what was cut off. */
static void test_shrunk(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	assert_int_equal(truncate("a", SIZE / 2), 0);
	suffer(NULL);
	assert_int_equal(read_at(source, 0, SIZE), -EIO);
	assert_int_equal(read_at(source, 0, SIZE / 2), 0);
	expect("", 0);
	suffer("kind=eio,count=1");
	assert_int_equal(read_at(source, 0, 10), 0);
	expect("10 ", 1);
	source_close(source);
}

static void test_slow_failure(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	suffer("kind=late,ms=4000;kind=eio");
	assert_int_equal(read_at(source, 0, 10), -EIO);
	expect("4000 ", 0);
	source_close(source);
}

static void test_failing(void **state)
{
	struct source *source = open_source("a"), *other = open_source("b");

	(void)state;
	suffer("kind=eio,offset=0-1000,path=/a;kind=eio,path=/b,count=1");
	assert_int_equal(read_at(source, 0, 10), -EIO);
	expect("10 40 160 640 ", 4);
	/* now at once, and no other source suffers from it */
	for (int i = 0; i < 10; i++)
		assert_int_equal(read_at(source, 500, 10), -EIO);
	expect("10 40 160 640 ", 4);
	assert_int_equal(read_at(other, 500, 10), 0);
	expect("10 40 160 640 10 ", 5);
	/* each failure prolongs it */
	for (int i = 0; i < 10; i++) {
		atomic_fetch_add(&clock_ms, 4000);
		assert_int_equal(read_at(source, 500, 10), -EIO);
	}
	expect("10 40 160 640 10 ", 5);
	source_close(source);
	source_close(other);
}

static void test_failing_ends(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	suffer("kind=eio,offset=0-1000");
	assert_int_equal(read_at(source, 0, 10), -EIO);
	atomic_fetch_add(&clock_ms, 6000);
	*pauses = '\0';
	assert_int_equal(read_at(source, 0, 10), -EIO);
	expect("10 40 160 640 ", 8);
	/* a success does too */
	assert_int_equal(read_at(source, 1000, 10), 0);
	*pauses = '\0';
	assert_int_equal(read_at(source, 0, 10), -EIO);
	expect("10 40 160 640 ", 12);
	source_close(source);
}

static void test_stale(void **state)
{
	struct source *source = open_source("a");
	int fd = source_hand_over(source, NULL);

	(void)state;
	assert_int_equal(rename("a", "moved"), 0);
	assert_int_equal(link("moved", "a"), 0);
	assert_int_equal(chdir("/"), 0);
	suffer("kind=stale");
	assert_int_equal(read_at(source, 0, SIZE), 0);
	assert_int_equal(chdir(unit_directory()), 0);
	expect("", 1);
	assert_int_equal(stats_get(COUNTER_sources_reopened) - reopened, 1);
	assert_int_equal(faults_struck(0), 1);
	assert_int_equal(source_hand_over(source, NULL), fd);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(unlink("moved"), 0);
	source_close(source);
}

/* A source that fails again after it was opened again: that has an end too. */
static void test_stale_for_good(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	suffer("kind=estale");
	assert_int_equal(read_at(source, 0, SIZE), -ESTALE);
	expect("10 40 160 640 ", 5);
	source_close(source);
}

/* Another file has the name now: its bytes are nobody's business. */
static void test_stale_and_replaced(void **state)
{
	struct source *source = open_source("a");
	struct stat st;

	(void)state;
	unit_write("new", content, SIZE);
	assert_int_equal(stat("a", &st), 0);
	assert_int_equal(utimensat(AT_FDCWD, "new", (struct timespec[]){ st.st_mtim,
				   st.st_mtim }, 0), 0);
	assert_int_equal(rename("new", "a"), 0);
	suffer("kind=stale");
	assert_int_equal(read_at(source, 0, 10), -ESTALE);
	expect("", 0);
	assert_int_equal(stats_get(COUNTER_sources_reopened), reopened);
	source_close(source);
}

static void test_stale_and_changed(void **state)
{
	const struct timespec times[] = { { 1000000, 5 }, { 1000000, 5 } };
	struct source *source = open_source("a");

	(void)state;
	assert_int_equal(utimensat(AT_FDCWD, "a", times, 0), 0);
	suffer("kind=stale");
	assert_int_equal(read_at(source, 0, 10), -ESTALE);
	expect("", 0);
	source_close(source);
}

/* A file may come back: a server that is starting has none. */
static void test_stale_and_gone(void **state)
{
	struct source *source = open_source("a");

	(void)state;
	assert_int_equal(unlink("a"), 0);
	suffer("kind=stale");
	assert_int_equal(read_at(source, 0, 10), -ESTALE);
	expect("10 40 160 640 ", 4);
	source_close(source);
}

static void read_much(void *argument)
{
	struct source *source = argument;

	for (size_t i = 0; i < READS; i++) {
		char buffer[64];
		size_t offset = i * 37;

		if (source_pread(source, buffer, sizeof(buffer), offset) != 0 ||
		    memcmp(buffer, content + offset, sizeof(buffer)) != 0)
			abort();
	}
}

static void test_stale_under_threads(void **state)
{
	struct source *source = open_source("a");
	struct pool *pool;
	uint64_t times;

	(void)state;
	threaded = true;
	suffer("kind=stale;kind=eio,every=50;kind=short,bytes=33");
	assert_int_equal(pool_start(&pool, THREADS), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pool_add(pool, read_much, source), 0);
	pool_finish(pool);
	threaded = false;
	times = stats_get(COUNTER_sources_reopened) - reopened;
	assert_in_range(times, 1, THREADS);
	assert_in_range(faults_struck(1), THREADS * READS / 50, THREADS * READS);
	source_close(source);
}

static void test_identity(void **state)
{
	struct source *source = open_source("a");
	struct source_set set = { &source, 1 };
	struct identity before, after;
	struct error e;

	(void)state;
	suffer(NULL);
	assert_int_equal(source_identity(source, 64, &before), 0);
	suffer("kind=eio,count=1;kind=zero,from=2,count=1");
	assert_int_equal(source_identity(source, 64, &after), 0);
	assert_int_equal(after.digest, before.digest);
	expect("10 10 ", 2);
	suffer("kind=etimedout");
	assert_int_equal(source_set_identify(&set, &after, &e), -ETIMEDOUT);
	assert_string_equal(e.text, "cannot read 'a': Connection timed out; check the "
				    "storage, or copy the file again");
	source_close(source);
}

/* Faults that a test may ask for, and others that it may not. */
static void test_words(void **state)
{
	const char *good = "kind=short,path=x,offset=10-20,from=2,every=3,count=4,bytes=5,"
			   "while=/p;kind=late,ms=5";
	const char *bad[] = {
		"", "kind", "kind=never", "path=x", "kind=eio,offset=5",
		"kind=eio,offset=5-5", "kind=eio,offset=-1-5", "kind=eio,from=0",
		"kind=eio,every=x", "kind=eio,count=", "kind=late", "kind=eio,mS=5",
		"kind=eio;kind=odd", "kind=eio,path=",
	};
	struct fault f[2];
	struct crash c;
	const char *wrong;

	(void)state;
	assert_int_equal(faults_parse(good, f, 2, &wrong), 2);
	assert_int_equal(f[0].kind, FAULT_SHORT);
	assert_true(f[0].begin == 10 && f[0].end == 20 && f[0].bytes == 5);
	assert_true(f[0].turns.from == 2 && f[0].turns.every == 3 && f[0].turns.count == 4);
	assert_string_equal(f[0].present, "/p");
	assert_true(f[1].kind == FAULT_LATE && f[1].ms == 5 && f[1].end == UINT64_MAX);
	assert_int_equal(faults_parse(good, f, 1, &wrong), -1);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(faults_parse(bad[i], f, 2, &wrong), -1);
	assert_int_equal(crash_parse("node=17,signal=KILL,count=2", &c, &wrong), 0);
	assert_true(c.node == 17 && c.signal == 9 && c.turns.count == 2);
	assert_int_equal(crash_parse("name=a b,signal=ABRT", &c, &wrong), 0);
	assert_string_equal(c.name, "a b");
	assert_int_equal(crash_parse("signal=KILL", &c, &wrong), -1);
	assert_int_equal(crash_parse("node=17,name=both", &c, &wrong), -1);
	assert_int_equal(crash_parse("node=17,signal=NONE", &c, &wrong), -1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_once),
	cmocka_unit_test(test_back_off),
	cmocka_unit_test(test_bound_of_pieces),
	cmocka_unit_test(test_errors),
	cmocka_unit_test(test_short),
	cmocka_unit_test(test_nothing),
	cmocka_unit_test(test_shrunk),
	cmocka_unit_test(test_slow_failure),
	cmocka_unit_test(test_failing),
	cmocka_unit_test(test_failing_ends),
	cmocka_unit_test(test_stale),
	cmocka_unit_test(test_stale_for_good),
	cmocka_unit_test(test_stale_and_replaced),
	cmocka_unit_test(test_stale_and_changed),
	cmocka_unit_test(test_stale_and_gone),
	cmocka_unit_test(test_stale_under_threads),
	cmocka_unit_test(test_identity),
	cmocka_unit_test(test_words),
};

int main(void)
{
	log_level_now = LOG_LEVEL_ERROR;
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (char)(i * 2654435761u >> 13);
	return unit_run(tests, COUNT(tests), unit_enter, unit_leave);
}
