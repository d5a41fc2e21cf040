/* The log: one line a message, whatever is in it. */
#include "unit.h"

#include <pthread.h>
#include <time.h>

#include "util/log.h"

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
	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		char *got = unit_stderr_of(write_one, (void *)(uintptr_t)lines[i].text);

		assert_string_equal(got, lines[i].line);
		free(got);
	}
}

/* All plain, and all escaped: four times as long. */
static void test_long_messages_stay_one_line(void **state)
{
	static const char fill[] = { 'x', '\n' };
	char text[9000];

	(void)state;
	for (size_t i = 0; i < COUNT(fill); i++) {
		char *got;

		memset(text, fill[i], sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		got = unit_stderr_of(write_one, text);
		assert_int_equal(unit_occurrences(got, "\n"), 1);
		assert_int_equal(got[strlen(got) - 1], '\n');
		assert_in_range(strlen(got), 4000, 4200);
		free(got);
	}
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

static const struct CMUnitTest logging[] = {
	cmocka_unit_test(test_control_characters_are_escaped),
	cmocka_unit_test(test_long_messages_stay_one_line),
	cmocka_unit_test(test_levels_above_the_set_one_are_dropped),
	cmocka_unit_test(test_a_burst_is_bounded_and_says_so_once),
	cmocka_unit_test(test_threads_share_one_burst),
};

UNIT_MAIN(logging)
