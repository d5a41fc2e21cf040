/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Brace expansion against bash, which is the definition of it. */
#include "unit.h"

#include <errno.h>

#include "base/brace.h"

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

static struct brace *parse(const char *pattern)
{
	struct brace *brace = NULL;

	assert_int_equal(brace_parse(pattern, &brace, NULL), 0);
	return brace;
}

static char *we_say(const char *pattern)
{
	struct brace *brace = parse(pattern);
	char *text = NULL;
	size_t n;
	FILE *stream = open_memstream(&text, &n);

	assert_non_null(stream);
	/* bash drops words that become empty; a path is never empty. */
	for (uint64_t i = 0; i < brace_count(brace); i++) {
		char *word = brace_word(brace, i);

		assert_non_null(word);
		if (*word)
			fprintf(stream, "%s\n", word);
		free(word);
	}
	fclose(stream);
	brace_free(brace);
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

static void refuse(const char *pattern)
{
	struct brace *brace = NULL;
	struct error e;

	assert_int_equal(brace_parse(pattern, &brace, &e), -E2BIG);
	assert_null(brace);
	assert_int_equal(e.status, ERROR_USAGE);
	assert_non_null(strstr(e.text, "check its braces"));
	assert_null(strchr(e.text, '\n'));
}

static void test_too_many_words(void **state)
{
	static const char *const hostile[] = {
		"{1..2000000}", "{1..1000001}", "{1..999}{1..999}{1..999}",
		"{1..1000}{1..1001}", "{{1..600000},{1..600000}}",
		"{-9223372036854775808..9223372036854775807}",
		"{1..9223372036854775807..2}",
		"{{1..999999},{1..999999}}{1..18446744073709}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
		refuse(hostile[i]);
}

/* Counting costs nothing: each of these has the most words that there may be. */
static void test_any_word_of_many(void **state)
{
	static const struct {
		const char *pattern;
		uint64_t number;
		const char *word;
	} rows[] = {
		{ "p{000000..999999}.tar", 0, "p000000.tar" },
		{ "p{000000..999999}.tar", 999999, "p999999.tar" },
		{ "{1..1000}/{1..1000}", 999, "1/1000" },
		{ "{1..1000}/{1..1000}", 1000, "2/1" },
		{ "{{1..400000},x,{1..599999}}", 400000, "x" },
		{ "{{1..400000},x,{1..599999}}", 400001, "1" },
		{ "{{1..400000},x,{1..599999}}", 999999, "599999" },
		{ "{9..-999990}", 999999, "-999990" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct brace *brace = parse(rows[i].pattern);
		char *word = brace_word(brace, rows[i].number);

		assert_int_equal(brace_count(brace), 1000000);
		assert_string_equal(word, rows[i].word);
		free(word);
		brace_free(brace);
	}
}

/* "PART" times n, and `end`. */
static char *repeat(const char *part, size_t n, const char *end)
{
	size_t length = strlen(part);
	char *text = malloc(n * length + strlen(end) + 1);

	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		memcpy(text + i * length, part, length);
	strcpy(text + n * length, end);
	return text;
}

static void test_limits(void **state)
{
	static const struct {
		const char *part;
		size_t fits;
		const char *end;
	} rows[] = {
		{ "x", BRACE_MAX_WORD, "" },         /* bytes of a word, */
		{ "y", BRACE_MAX_WORD - 2, "{1..10}" },
		{ "{x,", BRACE_MAX_DEPTH, "y" },     /* depth, which needs its braces, */
		{ "{a,b}", 19, "" },                 /* and words: 2^20 are too many */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (size_t more = 0; more < 2; more++) {
			size_t n = rows[i].fits + more;
			char *text = repeat(rows[i].part, n, rows[i].end);
			char *closed = repeat("}", i == 2 ? n : 0, "");
			char *pattern = NULL;

			assert_true(asprintf(&pattern, "%s%s", text, closed) > 0);
			if (more)
				refuse(pattern);
			else
				brace_free(parse(pattern));
			free(pattern);
			free(closed);
			free(text);
		}
	}
}

static void test_long(void **state)
{
	/* 4,000 choices; braces that nothing closes; and more than a pattern may have */
	char *choices = repeat("a,", 4000, "b}"), *open = repeat("{", 4000, "");
	char *many = repeat("{a,b", BRACE_MAX_BYTES / 4, "}"), *pattern = NULL;
	struct brace *brace;
	char *word;

	(void)state;
	assert_true(asprintf(&pattern, "{%s", choices) > 0);
	brace = parse(pattern);
	assert_int_equal(brace_count(brace), 4001);
	word = brace_word(brace, 4000);
	assert_string_equal(word, "b");
	free(word);
	brace_free(brace);
	brace = parse(open);
	assert_int_equal(brace_count(brace), 1);
	brace_free(brace);
	refuse(many);
	free(pattern);
	free(choices);
	free(open);
	free(many);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_as_bash),
	cmocka_unit_test(test_too_many_words),
	cmocka_unit_test(test_any_word_of_many),
	cmocka_unit_test(test_limits),
	cmocka_unit_test(test_long),
};

UNIT_MAIN_IN(tests, NULL, NULL)
