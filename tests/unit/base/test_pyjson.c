/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON as Python reads it: the same texts are refused, and the same values are read. */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/pyjson.h"

/* The verdict of pyjson_oracle.py on a value. */
static void say(FILE *out, const struct pyjson_value *value);

static void say_string(FILE *out, const struct pyjson_value *string)
{
	char *text = malloc(string->size);
	size_t n = pyjson_string(string, text);

	putc('s', out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%02x", (unsigned char)text[i]);
	assert_true(pyjson_equals(string, text, n));
	assert_false(n && pyjson_equals(string, text, n - 1));
	free(text);
}

static void say_number(FILE *out, const struct pyjson_value *number)
{
	double real;
	uint64_t bits;

	if (number->kind == PYJSON_INTEGER && number->size == 2 &&
	    memcmp(number->text, "-0", 2) == 0) {
		fprintf(out, "i0"); /* Python's integers have no negative zero */
	} else if (number->kind == PYJSON_INTEGER) {
		fprintf(out, "i%.*s", (int)number->size, number->text);
	} else {
		assert_int_equal(pyjson_real(number, &real), 0);
		memcpy(&bits, &real, sizeof(bits));
		fprintf(out, "r%016" PRIx64, bits);
	}
}

/* Is this the first member with its name? */
static bool is_first(const struct pyjson_value *object, const struct pyjson_value *wanted)
{
	struct pyjson_walk walk = pyjson_items(object);
	char *name = malloc(wanted->size);
	size_t n = pyjson_string(wanted, name);
	struct pyjson_value key, item;

	while (pyjson_next(&walk, &key, &item) && !pyjson_equals(&key, name, n))
		;
	free(name);
	return key.text == wanted->text;
}

static void say_object(FILE *out, const struct pyjson_value *object)
{
	struct pyjson_walk walk = pyjson_items(object);
	struct pyjson_value key, item;

	putc('{', out);
	while (pyjson_next(&walk, &key, &item)) {
		char *name = malloc(key.size);

		if (is_first(object, &key)) {
			assert_true(pyjson_find(object, name, pyjson_string(&key, name), &item));
			say_string(out, &key);
			putc(':', out);
			say(out, &item);
			putc(',', out);
		}
		free(name);
	}
	putc('}', out);
}

static void say(FILE *out, const struct pyjson_value *value)
{
	struct pyjson_walk walk = pyjson_items(value);
	struct pyjson_value item;

	if (value->kind == PYJSON_STRING) {
		say_string(out, value);
	} else if (value->kind == PYJSON_INTEGER || value->kind == PYJSON_REAL) {
		say_number(out, value);
	} else if (value->kind == PYJSON_OBJECT) {
		say_object(out, value);
	} else if (value->kind == PYJSON_ARRAY) {
		putc('[', out);
		while (pyjson_next(&walk, NULL, &item)) {
			say(out, &item);
			putc(',', out);
		}
		putc(']', out);
	} else {
		putc("nft"[value->kind], out);
	}
}

static char *answer(const void *bytes, size_t n)
{
	/* of this size, so that sanitizers see whatever looks behind it */
	void *copy = n ? memcpy(malloc(n), bytes, n) : malloc(1);
	struct pyjson_fault fault;
	struct pyjson json;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err = pyjson_begin(&json, copy, n, &fault);

	if (err) {
		assert_int_equal(err, -EBADMSG);
		assert_true(fault.what && fault.line > 0);
		fputs("refused", out);
	} else {
		say(out, &json.root);
	}
	pyjson_end(&json);
	free(copy);
	fclose(out);
	return text;
}

static void test_python_reads_the_same(void **state)
{
	const char *srcdir = getenv("abs_top_srcdir"), *python = getenv("PYTHON");
	char command[512], *wanted = NULL;
	size_t room = 0, count = 0;
	FILE *inputs, *answers;
	unsigned char head[4];

	(void)state;
	snprintf(command, sizeof(command), "%s %s/tests/unit/base/pyjson_oracle.py inputs wanted",
		 python ? python : "python3", srcdir ? srcdir : "../..");
	unit_shell(command);
	inputs = fopen("inputs", "r");
	answers = fopen("wanted", "r");
	assert_true(inputs && answers);
	for (; fread(head, 1, sizeof(head), inputs) == sizeof(head); count++) {
		size_t n = (size_t)little_endian(head, sizeof(head));
		char *bytes = malloc(n + 1), *found;

		assert_int_equal(fread(bytes, 1, n, inputs), n);
		bytes[n] = '\0';
		assert_true(getline(&wanted, &room, answers) > 0);
		wanted[strcspn(wanted, "\n")] = '\0';
		found = answer(bytes, n);
		if (strcmp(found, wanted) != 0)
			fail_msg("%zu: '%s': wanted %s, found %s", count, bytes, wanted, found);
		free(found);
		free(bytes);
	}
	assert_true(count > 10000);
	free(wanted);
	fclose(inputs);
	fclose(answers);
}

/* A million levels, which would take all stack; and a number of a million digits. */
static void test_what_is_large(void **state)
{
	enum { MOST = 1000000 };
	struct pyjson_fault fault;
	struct pyjson_value item;
	struct pyjson json;
	struct pyjson_walk walk;
	char *text = malloc(2 * MOST);
	double real;

	(void)state;
	memset(text, '[', MOST);
	memset(text + MOST, ']', MOST);
	assert_int_equal(pyjson_begin(&json, text, 2 * MOST, &fault), 0);
	walk = pyjson_items(&json.root);
	assert_true(pyjson_next(&walk, NULL, &item));
	assert_int_equal(item.size, 2 * MOST - 2);
	pyjson_end(&json);
	assert_int_equal(pyjson_begin(&json, text, 2 * MOST - 1, &fault), -EBADMSG);
	assert_string_equal(fault.what, "an end before its last bracket");
	pyjson_end(&json);
	memset(text, '9', MOST);
	assert_int_equal(pyjson_begin(&json, text, MOST, &fault), 0);
	assert_int_equal(pyjson_real(&json.root, &real), 0);
	assert_true(real > 1e308);
	pyjson_end(&json);
	free(text);
}

static const struct {
	const char *text, *what;
	size_t line;
} cases[] = {
	{ "", "an end before its last value", 1 },
	{ "\n\n{a: 1}", "a member without a name in quotes", 3 },
	{ "{\"a\" 1}", "a name without a colon behind it", 1 },
	{ "[1,\n2\n3]", "two values without a comma", 3 },
	{ "{\"a\": 1}\n{\"a\": 2}", "something behind the value", 2 },
	{ "\"a\nb\"", "a control character in a string", 1 },
	{ "\"a", "a string that does not end", 1 },
	{ "\"\\q\"", "a backslash before a character that it cannot escape", 1 },
	{ "\"\\u12\"", "a \\u without four hexadecimal digits", 1 },
	{ "\"\xff\"", "bytes that are not UTF-8", 1 },
	{ "[nil]", "characters that are no value", 1 },
};

static void test_faults_are_said(void **state)
{
	size_t i = unit_row(state);
	struct pyjson_fault fault;
	struct pyjson json;

	assert_int_equal(pyjson_begin(&json, cases[i].text, strlen(cases[i].text),
				      &fault), -EBADMSG);
	assert_string_equal(fault.what, cases[i].what);
	assert_int_equal(fault.line, cases[i].line);
	pyjson_end(&json);
}

static const struct CMUnitTest pyjson[] = {
	cmocka_unit_test(test_python_reads_the_same),
	cmocka_unit_test(test_what_is_large),
	unit_table(test_faults_are_said, cases, text),
};

UNIT_MAIN(pyjson)
