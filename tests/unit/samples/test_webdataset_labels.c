/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels are read as Python reads them: int(bytes) of a .cls, json.loads(bytes). */
#include "unit.h"

#include "samples/wds_kit.h"
#include "samples/wds_window.h"

struct label {
	const char *text;
	size_t size;
	const char *class; /* NULL: none */
	const char *word;  /* what is said of it, then */
};

#define IS(text, class) { text, sizeof(text) - 1, class, NULL }
#define NONE(text, word) { text, sizeof(text) - 1, NULL, word }

/* Beside two labels that are fine, so that the shard is one of classes. */
static void expect_label(const char *suffix, const char *fine, const struct label *label)
{
	char name[32], other[2][32], wanted[64];
	struct member members[] = {
		{ other[0], fine, strlen(fine), 0 }, FILE_OF("a.jpg", "A"),
		{ other[1], fine, strlen(fine), 0 }, FILE_OF("b.jpg", "B"),
		FILE_OF("c.jpg", "C"), { name, label->text, label->size, 0 },
	};
	struct webdataset_config config = { .sidecars = SIDECARS_HIDE };
	struct shard shard;
	char *text;

	snprintf(other[0], sizeof(other[0]), "a.%s", suffix);
	snprintf(other[1], sizeof(other[1]), "b.%s", suffix);
	snprintf(name, sizeof(name), "c.%s", suffix);
	kit_write_tar("shard.tar", members, COUNT(members));
	shard = kit_take("shard.tar", &config);
	assert_int_equal(shard.result, 0);
	text = kit_text_of(&shard);
	snprintf(wanted, sizeof(wanted), "/%s/c.jpg=C ", label->class ? label->class : "");
	if (label->class ? !strstr(text, wanted) : !strstr(text, " -c.jpg=C -c."))
		fail_msg("'%s' in a .%s is shown as %s", label->text, suffix, text);
	free(text);
	kit_drop(&shard);
}

static void run_taken(void *argument)
{
	struct webdataset_config config = { .sidecars = SIDECARS_HIDE };
	struct shard shard = kit_take("shard.tar", &config);

	(void)argument;
	kit_drop(&shard);
}

static void expect_labels(const char *suffix, const char *fine, const struct label *labels,
			  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *said;

		expect_label(suffix, fine, &labels[i]);
		said = unit_stderr_of(run_taken, NULL);
		if (labels[i].word ? !strstr(said, labels[i].word) || !strstr(said, "'c") :
				     *said && !strstr(said, "could be the label, too"))
			fail_msg("'%s': said: %s", labels[i].text, said);
		free(said);
	}
}

static void test_numbers_are_whole(void **state)
{
	static const struct label labels[] = {
		IS("3", "3"), IS("3\n", "3"), IS("3\r\n", "3"), IS(" \t3\v\f\r\n", "3"),
		IS("+3", "3"), IS("-1", "-1"), IS("-0", "0"), IS("007", "7"), IS("1_000", "1000"),
		IS("00000000000000000000000000000000000000000012", "12"),
		IS("9223372036854775807", "9223372036854775807"),
		IS("18446744073709551615", "18446744073709551615"),
		IS("-0_99999999999999999999", "-99999999999999999999"),
		IS("\xef\xbb\xbf" "3\r\n", "3"),
		NONE("", "is empty"), NONE(" \r\n", "is empty"), IS("3.0", "3"),
		IS("1e0", "1"), NONE("3\0", "is not a number"), NONE("3.5", "is not a number"),
		NONE("3 4", "is not a number"), NONE("\xff\xfe" "3\0", "is not a number"),
		NONE("true", "is not a number"),
	};

	(void)state;
	expect_labels("cls", "1", labels, COUNT(labels));
}

static void test_numbers_of_json(void **state)
{
	static const struct label labels[] = {
		IS("{\"label\": 3}", "3"), IS("{\"label\": 3.0}", "3"), IS("{\"label\": \"3\"}", "3"),
		IS("{\"label\": 1e0}", "1"), IS("{\"label\": 1E+2}", "100"),
		IS("{\"label\": -0}", "0"), IS("{\"label\": -0.0}", "0"), IS("{\"label\": -1}", "-1"),
		IS("{\"label\": true}", "1"), IS("{\"label\": false}", "0"), IS("true", "1"),
		IS("1e16", "10000000000000000"), IS("{\"label\": 0e99999}", "0"),
		IS("{\"label\": 18446744073709551615}", "18446744073709551615"),
		IS("{\"label\": -123456789012345678901234567890}", "-123456789012345678901234567890"),
		IS("{\"label\": \"18446744073709551615\"}", "18446744073709551615"),
		NONE("{\"label\": NaN}", "holds a label that is NaN or infinite"),
		NONE("{\"label\": -Infinity}", "holds a label that is NaN or infinite"),
		NONE("{\"label\": 1e400}", "holds a label that is NaN or infinite"), NONE("NaN", "is NaN"),
		NONE("{\"label\": 0.5}", "no whole number"), NONE("{\"label\": 1e300}", "no whole number"),
		NONE("{\"label\": 1e-400, \"x\": 01}", "is not JSON (line 1: "),
	};

	(void)state;
	expect_labels("json", "{\"class\": 0}", labels, COUNT(labels));
}

static void test_names_of_json(void **state)
{
	static const struct label labels[] = {
		IS("{\"label\": \"007\"}", "007"), IS("{\"label\": \"+7\"}", "+7"),
		IS("{\"label\": \"1_0\"}", "1_0"), IS("{\"label\": \"-0\"}", "-0"),
		IS("{\"label\": \"3.0\"}", "3.0"), IS("{\"label\": \"NaN\"}", "NaN"),
		IS("{\"label\": \"c\\u00e2t \\ud83d\\ude00\"}", "c\xc3\xa2t \xf0\x9f\x98\x80"),
		IS("{\"label\": \"a\\udcffb\"}", "a\xff" "b"), IS("{\"label\": \"a\\tb\"}", "a\tb"),
		NONE("{\"label\": \"a\\u0000b\"}", "has a byte 0 in it"),
		NONE("{\"label\": \"\\ud83d\"}", "holds half of a character"),
		NONE("{\"label\": \"\"}", "is empty"), NONE("{\"label\": \"a/b\"}", "has a slash in it"),
		NONE("{\"label\": \".\"}", "cannot be a directory's name"),
		NONE("{\"label\": \".granaryfs\"}", "is .granaryfs"),
		NONE("{\"label\": null}", "holds null for a label"), NONE("null", "holds null"),
		NONE("{\"label\": [3]}", "holds a list for a label"),
		NONE("{\"label\": {\"id\": 3}}", "holds an object for a label"),
		NONE("{\"label\": \"a\tb\"}", "is not JSON (line 1: a control character in a string)"),
		NONE("{\"label\": 'a'}", "is not JSON (line 1: characters that are no value)"),
		NONE("{\"label\": \"a\xff\"}", "bytes that are not UTF-8"), NONE("", "is not JSON"),
		NONE("\n{\"label\": \"a\",}", "is not JSON (line 2: a member without a name in quotes)"),
		NONE("{\"x\": 3}", "sample 'c' has no label in .json"), NONE("[3]", "has no label in .json"),
		NONE("\"cat\"", "has no label in .json"),
	};
	static const struct label long_name = { NULL, 0, NULL, "a name of more than 255 bytes" };
	char text[2048] = "{\"label\": \"";

	(void)state;
	expect_labels("json", "{\"class\": \"x\"}", labels, COUNT(labels));
	for (int i = 0; i < 256; i++)
		strcat(text, "\\u0061");
	strcat(text, "\"}");
	expect_labels("json", "{\"class\": \"x\"}", &(struct label){ text, strlen(text), NULL,
		      long_name.word }, 1);
}

/* Other items of the .json do not matter; jansson and RFC 8259 refuse most of these. */
static void test_other_items_may_be_anything_that_python_reads(void **state)
{
	static const struct label labels[] = {
		IS("{\"p\": NaN, \"q\": [Infinity, -Infinity], \"label\": 2}", "2"),
		IS("{\"label\": 2, \"h\": 18446744073709551615, \"x\": 1e400}", "2"),
		IS("{\"e\": \"a\\u0000b\", \"label\": 2, \"\\u0000\": 1}", "2"),
		IS("{\"c\": \"\\ud83d\", \"label\": 2, \"\\ude00\": \"\\ude00\\ud83d\"}", "2"),
		IS("{\"c\": \"\xed\xa0\xbd\", \"label\": 2}", "2"),
		IS("\xef\xbb\xbf{\"label\": 2}\r\n", "2"), IS(" \n\t{\"label\": 2} \r\n", "2"),
		IS("{\"label\": 1, \"x\": {\"label\": 5}, \"label\": 2}", "2"),
		IS("{\"label\": null, \"class\": 2}", "2"), IS("{\"\\u006cabel\": 2}", "2"),
		IS("{\"LABEL\": 5, \"label \": 6, \"labe\": 7, \"labels\": 8, \"class\": 2}", "2"),
		IS("\xff\xfe{\0\"\0l\0a\0b\0e\0l\0\"\0:\0" "2\0}\0", "2"),
		IS("\0{\0\"\0c\0l\0a\0s\0s\0\"\0:\0" "2\0}", "2"),
		NONE("\xef\xbb\xbf\xef\xbb\xbf{\"label\": 2}", "is not JSON"),
		NONE("{\"label\": 2} {\"label\": 3}", "something behind the value"),
		NONE("{\"label\": 2, \"x\": \"\xc0\x80\"}", "bytes that are not UTF-8"),
		NONE("\xff\xfe{\0\"", "characters that are not UTF-16 or UTF-32"),
	};

	(void)state;
	expect_labels("json", "{\"class\": 0}", labels, COUNT(labels));
}

/* Lists in lists, and a number that is as long as the .json may be. */
static void test_large_json(void **state)
{
	enum { MOST = 400000 };
	char *text = malloc(MOST + 64);
	size_t n;

	(void)state;
	strcpy(text, "{\"label\": 2, \"x\": ");
	n = strlen(text);
	memset(text + n, '[', MOST / 2);
	memset(text + n + MOST / 2, ']', MOST / 2);
	strcpy(text + n + MOST, "}");
	expect_label("json", "{\"class\": 0}", &(struct label){ text, n + MOST + 1, "2", NULL });
	memset(text + n, '7', MOST);
	expect_label("json", "{\"class\": 0}", &(struct label){ text, n + MOST + 1, "2", NULL });
	free(text);
}

/* The first labels are null: those behind them count all the same. */
static void test_null_before_all_others(void **state)
{
	struct member members[50];
	char names[50][16];
	struct webdataset_config config = { .sidecars = SIDECARS_HIDE };
	struct shard shard;

	(void)state;
	for (size_t i = 0; i < COUNT(members); i++) {
		const char *text = i % 2 == 0 ? "J" : i < 24 ? "{\"label\": null}" : "{\"label\": 4}";

		snprintf(names[i], sizeof(names[i]), "%02zu.%s", i / 2, i % 2 ? "json" : "jpg");
		members[i] = (struct member){ names[i], text, strlen(text), 0 };
	}
	kit_write_tar("shard.tar", members, COUNT(members));
	shard = kit_take("shard.tar", &config);
	assert_int_equal(shard.result, 0);
	assert_true(shard.findings.taken);
	kit_drop(&shard);
}

/* A few bytes of a zip can be many of blanks: a shard's labels are bounded in all. */
static void test_decoded_labels_have_a_sum(void **state)
{
	struct wds_window *window = calloc(1, sizeof(*window));
	struct wds_member large = { .size = 16 << 20, .coded = true },
			  small = { .size = 4096, .coded = true },
			  plain = { .size = 16 << 20, .whole = true };
	struct source *source;
	unsigned taken = 0;

	(void)state;
	assert_non_null(window);
	unit_write("shard.zip", "PK", 2);
	assert_int_equal(source_open("shard.zip", &source, NULL), 0);
	window->source = source;
	while (taken < 1000 && wds_window_may_decode(window, &large))
		taken++;
	assert_int_equal(taken, 16);
	assert_true(wds_window_may_decode(window, &small));
	assert_true(wds_window_may_decode(window, &plain));
	source_close(source);
	free(window);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_numbers_are_whole),
	cmocka_unit_test(test_numbers_of_json),
	cmocka_unit_test(test_names_of_json),
	cmocka_unit_test(test_other_items_may_be_anything_that_python_reads),
	cmocka_unit_test(test_large_json),
	cmocka_unit_test(test_null_before_all_others),
	cmocka_unit_test(test_decoded_labels_have_a_sum),
};

UNIT_MAIN(tests)
