/* SPDX-License-Identifier: GPL-3.0-or-later */
/* -o options as tables. */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>

#include "base/options.h"

struct config {
	bool flag;
	char *text;
	int choice;
	uint64_t size;
	unsigned number, octal;
};

static const char *const colours[] = { "red", "green", "blue", NULL };

static const struct option_spec specs[] = {
	{ "flag", OPTION_FLAG, offsetof(struct config, flag), NULL, NULL, "a flag" },
	{ "text", OPTION_TEXT, offsetof(struct config, text), NULL, "TEXT", "a text" },
	{ "colour", OPTION_CHOICE, offsetof(struct config, choice), colours,
	  "red|green|blue", "a colour" },
	{ "size", OPTION_SIZE, offsetof(struct config, size), NULL, "SIZE", "a size" },
	{ "number", OPTION_UINT, offsetof(struct config, number), NULL, "N", "a number" },
	{ "octal", OPTION_OCTAL, offsetof(struct config, octal), NULL, "MODE", NULL },
	{ "_netdev", OPTION_IGNORED, 0, NULL, NULL, NULL },
	{ "x-*", OPTION_IGNORED, 0, NULL, NULL, NULL },
	{ "old", OPTION_REMOVED, 0, NULL, "it did nothing", NULL },
	{ NULL, OPTION_IGNORED, 0, NULL, NULL, NULL },
};

static const struct option_spec other_specs[] = {
	{ "other", OPTION_UINT, offsetof(struct config, number), NULL, "N", "another" },
	{ "text", OPTION_TEXT, offsetof(struct config, text), NULL, "TEXT", "hidden" },
	{ NULL, OPTION_IGNORED, 0, NULL, NULL, NULL },
};

static int apply(const char *text, struct config *config, struct error *e)
{
	struct option_target target = { specs, config };

	return options_apply(text, &target, 1, e);
}

static char *show(const struct config *c, char *out, size_t size)
{
	snprintf(out, size, "%d %s %s %" PRIu64 " %u %o", c->flag,
		 c->text ? c->text : "-", colours[c->choice], c->size, c->number,
		 c->octal);
	return out;
}

static const struct {
	const char *text, *shown;
} good[] = {
	{ "", "0 - red 0 0 0" },
	{ ",,", "0 - red 0 0 0" },
	{ "flag", "1 - red 0 0 0" },
	{ "text=a", "0 a red 0 0 0" },
	{ "text=a=b", "0 a=b red 0 0 0" },
	{ "text=a\\,b,flag", "1 a,b red 0 0 0" },
	{ "text=a\\\\,flag", "1 a\\ red 0 0 0" },
	{ "text=a\\nb", "0 a\\nb red 0 0 0" },
	{ "text=a\\", "0 a\\ red 0 0 0" },
	{ "text=a,text=b", "0 b red 0 0 0" },
	{ "colour=blue", "0 - blue 0 0 0" },
	{ "size=8G", "0 - red 8589934592 0 0" },
	{ "number=4294967295", "0 - red 0 4294967295 0" },
	{ "number=010", "0 - red 0 10 0" },
	{ "octal=022", "0 - red 0 0 22" },
	{ "_netdev,x-systemd.automount,x-foo=bar,x-", "0 - red 0 0 0" },
	{ "flag,text=t,colour=green,size=1,number=2,octal=3", "1 t green 1 2 3" },
};

static void test_values_are_taken(void **state)
{
	size_t i = unit_row(state);
	struct config config = { 0 };
	struct error e = { 0 };
	char shown[128];

	assert_int_equal(apply(good[i].text, &config, &e), 0);
	assert_string_equal(show(&config, shown, sizeof(shown)), good[i].shown);
	options_free(specs, &config);
	assert_null(config.text);
}

static const struct {
	const char *text, *name, *word;
} bad[] = {
	{ "nonsense", "nonsense", "unknown" },
	{ "flag,nonsense=1", "nonsense", "unknown" },
	{ "fla", "fla", "unknown" },
	{ "flags", "flags", "unknown" },
	{ "x", "x", "unknown" },
	{ "=5", "", "unknown" },
	{ "old=1", "old", "no option any more: it did nothing" },
	{ "old", "old", "no option any more" },
	{ "flag=1", "flag", "takes no value" },
	{ "flag=", "flag", "takes no value" },
	{ "text", "text", "needs a value" },
	{ "text=", "text", "needs a value" },
	{ "number", "number=N", "needs a value" },
	{ "colour=pink", "red|green|blue", "not understood" },
	{ "colour=RED", "colour", "not understood" },
	{ "size=x", "size", "not understood" },
	{ "size=16E", "size", "not understood" },
	{ "number=-1", "number", "not understood" },
	{ "number=+1", "number", "not understood" },
	{ "number= 1", "number", "not understood" },
	{ "number=1x", "number", "not understood" },
	{ "number=4294967296", "number", "not understood" },
	{ "number=99999999999999999999", "number", "not understood" },
	{ "octal=8", "octal", "not understood" },
	{ "octal=0x7", "octal", "not understood" },
};

static void test_mistakes_are_named(void **state)
{
	size_t i = unit_row(state);
	struct config config = { 0 };
	struct error e = { 0 };

	assert_int_equal(apply(bad[i].text, &config, &e), -EINVAL);
	assert_int_equal(e.status, ERROR_USAGE);
	assert_non_null(strstr(e.text, bad[i].name));
	assert_non_null(strstr(e.text, bad[i].word));
	assert_int_equal(apply(bad[i].text, &config, NULL), -EINVAL);
	options_free(specs, &config);
}

static void test_first_target_that_knows_a_name_gets_it(void **state)
{
	struct config first = { 0 }, second = { 0 };
	struct option_target targets[] = { { specs, &first }, { other_specs, &second } };
	struct error e;

	(void)state;
	assert_int_equal(options_apply("other=7,text=a", targets, 2, &e), 0);
	assert_int_equal(second.number, 7);
	assert_string_equal(first.text, "a");
	assert_null(second.text);
	assert_int_equal(options_apply("other=7", targets, 1, &e), -EINVAL);
	options_free(specs, &first);
}

static void test_the_argument_is_left_alone(void **state)
{
	char text[] = "text=a\\,b,flag";
	struct config config = { 0 };

	(void)state;
	assert_int_equal(apply(text, &config, NULL), 0);
	assert_string_equal(text, "text=a\\,b,flag");
	options_free(specs, &config);
}

static void test_help_lists_what_has_a_sentence(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	options_print(specs, out);
	fclose(out);
	assert_int_equal(unit_occurrences(text, "\n"), 5);
	assert_int_equal(unit_occurrences(text, "    -o "), 5);
	assert_non_null(strstr(text, "-o colour=red|green|blue "));
	assert_non_null(strstr(text, "-o flag "));
	assert_null(strstr(text, "octal"));
	free(text);
}

static void test_values_are_told_as_they_are_written(void **state)
{
	static const char *const wanted[] = { "yes", "default", "blue", "8589934592",
					      "default", "027" };
	struct config config = { .flag = true, .choice = 2, .size = UINT64_C(8) << 30,
				 .number = 0xffffffff, .octal = 027 };
	char value[16];

	(void)state;
	for (size_t i = 0; i < COUNT(wanted); i++) {
		assert_int_equal(options_value(&specs[i], &config, value, sizeof(value)), 0);
		assert_string_equal(value, wanted[i]);
	}
	assert_int_equal(options_value(&specs[6], &config, value, sizeof(value)), -EINVAL);
	config.number = 12;
	assert_int_equal(options_value(&specs[4], &config, value, sizeof(value)), 0);
	assert_string_equal(value, "12");
	config.text = (char[]){ "a long one" };
	assert_int_equal(options_value(&specs[1], &config, value, 7), 0);
	assert_string_equal(value, "a long");
}

static const struct CMUnitTest options[] = {
	unit_table(test_values_are_taken, good, text),
	unit_table(test_mistakes_are_named, bad, text),
	cmocka_unit_test(test_first_target_that_knows_a_name_gets_it),
	cmocka_unit_test(test_the_argument_is_left_alone),
	cmocka_unit_test(test_help_lists_what_has_a_sentence),
	cmocka_unit_test(test_values_are_told_as_they_are_written),
};

UNIT_MAIN(options)
