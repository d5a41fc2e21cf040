/* Brace expansion against bash, which is the definition of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "util/brace.h"

static const char *const patterns[] = {
	"plain", "a.tar", "train-{000000..000127}.tar", "{a,b}", "{a,b}{1,2}",
	"{a,b}{1,2}{x,y,z}", "x{a,b}y{c,d}z", "{a,{b,c}}", "{a,{b,{c,d}}e}f",
	"{{a,b},c}", "{{a,b}{1,2},c}", "{a}", "a{}", "{}", "a{}b", "{},b}",
	"a{},b}c", "{x,y}{},b}", "{a,b", "a,b}", "{a}{b,c}", "{a}b,c}", "{a,b}}",
	"{{a,b}", "{a{b,c}}", "{,a}x", "x{,}", "x{,,}y", "{a,}", "{a,b,}",
	"{1..5}", "{5..1}", "{0..10..5}", "{10..0..3}", "{1..10..-3}",
	"{1..3..0}", "{-3..3}", "{-03..3}", "{01..3}", "{1..03}", "{1..010}",
	"{001..10..4}", "{-1..001}", "{a..e}", "{e..a}", "{a..i..3}", "{A..E}",
	"{a..3}", "{1..a}", "{aa..cc}", "{1..}", "{..1}", "{1..2..}", "{1...3}",
	"{1..3..x}", "{1..2..3..4}", "{+1..+3}", "{1.5..2.5}", "{0..0}",
	"{00..0}", "{000..1}", "{-0..1}", "{1..5..2}{a,b}", "{1..2}{1..2}",
	"{99999999999999999999..1}x{a,b}", "{99999999999999999999..1}",
	"p{9223372036854775806..9223372036854775807}", "{1..3}-{a..c}",
	"{a..c}..{1..2}", "a..b", "{a..c},{1..2}", "{a,1..3}", "{{1..3},x}",
	"\\{a,b}", "{a\\,b}", "{a\\,b,c}",
	"{a,b\\}", "{a,b\\},c}", "a\\\\{b,c}", "\\a{b,c}", "{\\{,\\}}",
	"{a,b}\\{c,d}", "d/{x,y}/f-{08..11}.tar", "{a,b}{c}", "{a,b}{c}{d,e}",
	"{a{1,2}b,c{3..4}d}", "{}{a,b}", "{,{,a}}b", "{a,b}{", "{a,b}}{", "}{a,b}",
	"{{a}", "{{a},b}", "{{}}", "{{},{}}", "{a,{}}", "{..}", "{a..}", "{a..c",
	"{1..2}}", "{1..3},", "{a,b}..{c,d}", "{x..z..}{1,2}",
};

static char *bash_says(const char *pattern)
{
	char command[4096], chunk[4096];
	char *text = NULL;
	size_t n = 0, room;
	FILE *stream, *pipe;

	snprintf(command, sizeof(command), "bash -c 'printf \"%%s\\n\" %s'", pattern);
	pipe = popen(command, "r");
	stream = open_memstream(&text, &room);
	assert_non_null(pipe);
	assert_non_null(stream);
	while ((n = fread(chunk, 1, sizeof(chunk), pipe)) > 0)
		fwrite(chunk, 1, n, stream);
	fclose(stream);
	assert_int_equal(pclose(pipe), 0);
	return text;
}

static char *we_say(const char *pattern)
{
	struct brace_words words = { VEC_INIT };
	struct error e;
	char *text = NULL;
	size_t n;
	FILE *stream = open_memstream(&text, &n);

	assert_non_null(stream);
	assert_int_equal(brace_expand(pattern, &words, &e), 0);
	/* bash drops words that become empty; a path is never empty. */
	for (size_t i = 0; i < words.words.count; i++)
		if (*words.words.items[i])
			fprintf(stream, "%s\n", words.words.items[i]);
	fclose(stream);
	brace_free(&words);
	return text;
}

static void test_as_bash(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		char *want = bash_says(patterns[i]);
		char *got = we_say(patterns[i]);

		if (strcmp(want, got) != 0)
			print_message("# pattern %s\n", patterns[i]);
		assert_string_equal(got, want);
		free(want);
		free(got);
	}
}

static void test_limits(void **state)
{
	static const char *const hostile[] = {
		"{1..2000000}", "{1..999}{1..999}{1..999}",
		"{1..1000}{1..1001}", "{{1..600000},{1..600000}}",
		"{-9223372036854775808..9223372036854775807}",
		"{1..9223372036854775807..2}",
	};
	time_t start = time(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		struct brace_words words = { VEC_INIT };
		struct error e;

		assert_int_equal(brace_expand(hostile[i], &words, &e), -E2BIG);
		assert_int_equal(e.status, ERROR_USAGE);
		assert_non_null(strstr(e.text, hostile[i]));
		assert_int_equal(words.words.count, 0);
		brace_free(&words);
	}
	assert_true(time(NULL) - start < 20);
}

/* Few words can still be too many bytes. */
static void test_limit_of_bytes(void **state)
{
	struct brace_words words = { VEC_INIT };
	size_t n = 8000;
	char *pattern = malloc(n + 32);
	int k;

	(void)state;
	assert_non_null(pattern);
	k = sprintf(pattern, "{1..900000}");
	memset(pattern + k, 'x', n);
	pattern[(size_t)k + n] = '\0';
	assert_int_equal(brace_expand(pattern, &words, NULL), -E2BIG);
	brace_free(&words);
	free(pattern);
}

static void test_limit_is_of_all_words(void **state)
{
	struct brace_words words = { VEC_INIT };

	(void)state;
	assert_int_equal(brace_expand("{1..600000}", &words, NULL), 0);
	assert_int_equal(words.words.count, 600000);
	assert_int_equal(brace_expand("{1..600000}", &words, NULL), -E2BIG);
	assert_int_equal(words.words.count, 600000);
	assert_string_equal(words.words.items[599999], "600000");
	brace_free(&words);
}

static void test_long_and_deep(void **state)
{
	size_t n = 30000;
	char *pattern = malloc(3 * n + 1);
	struct brace_words words = { VEC_INIT };

	(void)state;
	assert_non_null(pattern);
	memset(pattern, '{', n);
	pattern[n] = '\0';
	assert_int_equal(brace_expand(pattern, &words, NULL), 0);
	assert_int_equal(words.words.count, 1);
	assert_string_equal(words.words.items[0], pattern);
	memset(pattern, 'x', 3 * n);
	pattern[3 * n] = '\0';
	assert_int_equal(brace_expand(pattern, &words, NULL), -E2BIG);
	brace_free(&words);
	free(pattern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_bash),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_limit_of_bytes),
		cmocka_unit_test(test_limit_is_of_all_words),
		cmocka_unit_test(test_long_and_deep),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("brace", tests, NULL, NULL);
}
