/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options that shape a tree, as texts; and the files that they name. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "place/config.h"
#include "place/map_files.h"

#define LONG "a_name_that_is_longer_than_thirty-two_bytes"

/* The options that an index was made with, those in its name, and those of a user. */
static const struct {
	const char *options, *shape, *variant, *words;
} texts[] = {
	{ "", "", "", "" },
	{ "missing=skip,index=off,subdir=x", "", "", "" },
	{ "labels=targets", ",labels=targets", ",labels=targets", "labels=targets" },
	{ "view=tree,labels=y", ",labels=y", ",view=tree,labels=y", "view=tree,labels=y" },
	{ "sidecars=hide", ",sidecars=hide", ",sidecars=hide", "sidecars=hide" },
	{ "sidecars=auto,labels=a.b-c_D9", ",labels=a.b-c_D9", ",labels=a.b-c_D9",
	  "labels=a.b-c_D9" },
	{ "sidecars=show", ",sidecars=show", ",sidecars=show", "sidecars=show" },
	{ "labels=a/b\\,c", ",labels=#", ",labels=#", "labels=a/b\\,c" },
	{ "labels=" LONG, ",labels=#", ",labels=#", "labels=" LONG },
	{ "base=512,nested=off,sidecars=hide,labels=l", ",labels=l,sidecars=hide",
	  ",nested=off,base=512,labels=l,sidecars=hide",
	  "nested=off,base=512,labels=l,sidecars=hide" },
	{ "names=a b:c\\\\\\,d,classes=x", "", "", "classes=x,names=a b:c\\\\\\,d" },
};

static struct dataset_config parse(const char *options)
{
	struct dataset_config config = { 0 };
	struct option_target target = { dataset_options, &config };
	struct error e;

	if (options_apply(options, &target, 1, &e) < 0)
		fail_msg("%s", e.text);
	return config;
}

static bool begins(const char *text, const char *beginning)
{
	size_t n = strlen(beginning);

	/* the sign of a hash stands for all of it */
	if (n && beginning[n - 1] == '#')
		return strncmp(text, beginning, n) == 0 && strlen(text) == n + 16;
	return strcmp(text, beginning) == 0;
}

static void test_texts(void **state)
{
	size_t i = unit_row(state);
	struct dataset_config config = parse(texts[i].options);
	char shape[CONFIG_TEXT_BYTES], variant[CONFIG_TEXT_BYTES];
	char *words = dataset_config_words(&config, 1), *rest;

	rest = strstr(dataset_config_shape(&config, 1, shape), ",base=");
	rest += strcspn(rest + 1, ",") + 1;
	dataset_config_variant(&config, 1, variant);
	if (!begins(rest, texts[i].shape) || !begins(variant, texts[i].variant) ||
	    strcmp(words, texts[i].words) != 0)
		fail_msg("%s: %s, %s, %s", texts[i].options, shape, variant, words);
	free(words);
	dataset_config_free(&config);
}

static void test_long_names_are_not_cut_off(void **state)
{
	struct dataset_config one = parse("labels=" LONG LONG LONG "1");
	struct dataset_config two = parse("labels=" LONG LONG LONG "2");
	char a[CONFIG_TEXT_BYTES], b[CONFIG_TEXT_BYTES];

	(void)state;
	assert_string_not_equal(dataset_config_shape(&one, 1, a),
				dataset_config_shape(&two, 1, b));
	assert_string_not_equal(dataset_config_variant(&one, 1, a),
				dataset_config_variant(&two, 1, b));
	dataset_config_free(&one);
	dataset_config_free(&two);
}

/* With every option as long as can be. */
static void test_the_longest_text_fits(void **state)
{
	struct dataset_config config = parse("nested=off,duplicates=first,view=arrays,"
					     "base=9223372036854775807,sidecars=hide,"
					     "classes=c,names=n,labels=12345678901234567890123456789012");
	char text[CONFIG_TEXT_BYTES];
	struct map_files maps;
	struct error e;

	(void)state;
	unit_write("c", "c", 1);
	unit_write("n", "n", 1);
	assert_int_equal(map_files_open(&config, &maps, &e), 0);
	dataset_config_shape(&config, 2, text);
	assert_int_equal(map_files_append_key(&maps, text, &e), 0);
	assert_non_null(strstr(text, "labels=12345678901234567890123456789012,sidecars=hide,"
				     "classes="));
	assert_int_equal(strlen(strstr(text, "names=")), 6 + 16);
	map_files_close(&maps);
	dataset_config_free(&config);
}

/* The key of these map files. */
static void key_of(const char *options, char text[CONFIG_TEXT_BYTES])
{
	struct dataset_config config = parse(options);
	struct map_files maps;
	struct error e = { 0 };

	*text = '\0';
	if (map_files_open(&config, &maps, &e) < 0 ||
	    map_files_append_key(&maps, text, &e) < 0)
		fail_msg("%s", e.text);
	map_files_close(&maps);
	dataset_config_free(&config);
}

static void test_the_contents_of_maps_count(void **state)
{
	char key[CONFIG_TEXT_BYTES], other[CONFIG_TEXT_BYTES];

	(void)state;
	unit_shell("printf 1 >m1; cp -p m1 same; printf 2 >m2; touch -r m1 m2");
	key_of("", key);
	assert_string_equal(key, "");
	key_of("names=m1:m2", key);
	key_of("names=./same:m2", other);
	assert_string_equal(key, other);
	key_of("names=m2:m1", other);
	assert_string_not_equal(key, other);
	key_of("names=m1", other);
	assert_string_not_equal(key, other);
	key_of("classes=m1", other);
	assert_null(strstr(other, "names="));
	unit_shell("printf 3 >m2; touch -r m1 m2");
	key_of("names=m1:m2", other);
	assert_string_not_equal(key, other);
}

static const struct {
	const char *options, *said;
	int err;
} refused[] = {
	{ "names=is-not-there", "-o names: 'is-not-there' does not exist", -ENOENT },
	{ "classes=is-not-there", "-o classes: 'is-not-there' does not exist", -ENOENT },
	{ "names=one:is-not-there", "-o names: 'is-not-there' does not exist", -ENOENT },
	{ "names=one:", "a path is missing", -EINVAL },
	{ "names=:one", "a path is missing", -EINVAL },
	{ "names=.", "-o names: '.' is a directory; name the file itself", -EISDIR },
	{ "names=one:empty", "-o names: 'empty' is empty", -EINVAL },
	{ "classes=empty", "-o classes: 'empty' is empty", -EINVAL },
	{ "names=fifo", "-o names: 'fifo' is a pipe", -EINVAL },
	{ "names=large", "more than the GiB that a map may have", -EFBIG },
};

static void test_what_is_no_map(void **state)
{
	(void)state;
	unit_shell("printf 1 >one; : >empty; mkfifo fifo; truncate -s 1073741825 large");
	for (size_t i = 0; i < COUNT(refused); i++) {
		struct dataset_config config = parse(refused[i].options);
		struct map_files maps;
		struct error e = { 0 };
		int err = map_files_open(&config, &maps, &e);

		if (err != refused[i].err || !strstr(e.text, refused[i].said))
			fail_msg("%s: %d: %s", refused[i].options, err, e.text);
		dataset_config_free(&config);
	}
}

static const struct CMUnitTest config[] = {
	unit_table(test_texts, texts, options),
	cmocka_unit_test(test_long_names_are_not_cut_off),
	cmocka_unit_test(test_the_longest_text_fits),
	cmocka_unit_test(test_the_contents_of_maps_count),
	cmocka_unit_test(test_what_is_no_map),
};

UNIT_MAIN(config)
