/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that stays is written by one process; another waits, and not without end. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place/spool.h"

enum { SHORT_MS = 400, LONG_MS = 2000, GROWTHS = 25, GROWTH_MS = 100 };

static struct dataset_config config;
static struct source_set sources;
static struct identity identity;

static void choose(struct spool *out, unsigned wait_ms)
{
	struct error e;

	assert_int_equal(spool_choose(&config, &sources, out, &e), 0);
	assert_true(out->files[0].compressed);
	assert_int_equal(out->wait_ms, SPOOL_WAIT_MS);
	out->wait_ms = wait_ms;
}

/* A stream, and a spool that has its file open and locked. */
static void begin(struct spool *writer)
{
	static const unsigned char gzip[64] = { 0x1f, 0x8b, 8 };
	char name[] = "stream.tar.gz", *names[] = { name };
	char option[4096];
	struct error e;

	snprintf(option, sizeof(option), "keep:%s", unit_directory());
	unit_write(name, gzip, sizeof(gzip));
	config = (struct dataset_config){ .spool = strdup(option) };
	assert_int_equal(source_set_open(names, 1, false, &sources, &e), 0);
	assert_int_equal(source_set_identify(&sources, &identity, &e), 0);
	choose(writer, SHORT_MS);
	assert_int_equal(spool_open(&config, &sources, &identity, writer, &e), 0);
	assert_true(writer->files[0].fd >= 0);
}

static void end(struct spool *writer)
{
	spool_close(writer);
	source_set_close(&sources);
	free((void *)(uintptr_t)config.spool);
	unit_shell("rm -f *.unpacking");
}

static void test_a_writer_that_hangs_is_not_waited_for(void **state)
{
	struct spool writer = { 0 }, waiter = { 0 };
	struct error e;

	(void)state;
	begin(&writer);
	choose(&waiter, SHORT_MS);
	assert_int_equal(spool_open(&config, &sources, &identity, &waiter, &e), -ETIMEDOUT);
	assert_int_equal(e.status, ERROR_LATE);
	assert_non_null(strstr(e.text, "has written nothing"));
	spool_close(&waiter);
	end(&writer);
}

/* Longer than the patience, a little at a time; then it is gone. */
static void *write_slowly(void *argument)
{
	struct spool *writer = argument;

	for (int i = 1; i <= GROWTHS; i++) {
		usleep(GROWTH_MS * 1000);
		if (ftruncate(writer->files[0].fd, i) < 0)
			break;
	}
	spool_close(writer);
	return NULL;
}

static void test_a_writer_that_goes_on_is_waited_for(void **state)
{
	struct spool writer = { 0 }, waiter = { 0 };
	pthread_t thread;
	struct error e;

	(void)state;
	begin(&writer);
	choose(&waiter, LONG_MS);
	assert_int_equal(pthread_create(&thread, NULL, write_slowly, &writer), 0);
	assert_int_equal(spool_open(&config, &sources, &identity, &waiter, &e), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(waiter.files[0].fd >= 0);
	spool_close(&waiter);
	end(&writer);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_writer_that_hangs_is_not_waited_for),
	cmocka_unit_test(test_a_writer_that_goes_on_is_waited_for),
};

UNIT_MAIN(tests)
