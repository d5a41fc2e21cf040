/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/pyjson.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pyjson_text.h"
#include "base/utf8.h"
#include "base/vec.h"

enum { WORD = 64 };

/* State of a check. */
struct pyjson_check {
	const char *text, *at, *end;
	VEC(uint64_t) objects; /* a bit a level: an object */
	size_t depth;
	const char *what; /* the fault at `at` */
};

static int pyjson_fail(struct pyjson_check *c, const char *what)
{
	c->what = what;
	return -EBADMSG;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void pyjson_skip_blanks(struct pyjson_check *c)
{
	while (c->at < c->end && pyjson_is_blank(*c->at))
		c->at++;
}

static bool skip_char(struct pyjson_check *c, char wanted)
{
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

/* Strings */

static int check_escape(struct pyjson_check *c)
{
	uint32_t unit;
	char kind;

	if (c->at == c->end)
		return pyjson_fail(c, "a string that does not end");
	kind = *c->at++;
	if (kind == 'u') {
		if (!utf8_hex(c->at, (size_t)(c->end - c->at), 4, &unit))
			return pyjson_fail(c, "a \\u without four hexadecimal digits");
		c->at += 4;
	} else if (!kind || !strchr("\"\\/bfnrt", kind)) {
		return pyjson_fail(
			c, "a backslash before a character that it cannot escape");
	}
	return 0;
}

/* Checks a string behind its first quote. */
static int check_string(struct pyjson_check *c)
{
	while (c->at < c->end) {
		unsigned char byte = (unsigned char)*c->at;
		uint32_t character;
		unsigned n = 1;

		if (byte == '"') {
			c->at++;
			return 0;
		}
		if (byte < 0x20)
			return pyjson_fail(c, "a control character in a string");
		if (byte >= 0x80)
			n = utf8_decode(c->at, (size_t)(c->end - c->at), &character);
		if (n == 0)
			return pyjson_fail(c, "bytes that are not UTF-8");
		c->at += n;
		if (byte == '\\' && check_escape(c) < 0)
			return -EBADMSG;
	}
	return pyjson_fail(c, "a string that does not end");
}

/* Scalars */

static bool skip_digits(struct pyjson_check *c)
{
	const char *begin = c->at;

	while (c->at < c->end && is_digit(*c->at))
		c->at++;
	return c->at > begin;
}

/* Checks the longest number; the caller checks the bytes behind it. */
static int check_number(struct pyjson_check *c)
{
	const char *begin;

	skip_char(c, '-');
	if (!skip_char(c, '0') && !skip_digits(c))
		return pyjson_fail(c, c->at == c->end ? "an end before its last value" :
							"characters that are no value");
	begin = c->at;
	if (skip_char(c, '.') && !skip_digits(c)) {
		c->at = begin;
		return 0;
	}
	begin = c->at;
	if (skip_char(c, 'e') || skip_char(c, 'E')) {
		if (!skip_char(c, '-'))
			skip_char(c, '+');
		if (!skip_digits(c))
			c->at = begin;
	}
	return 0;
}

static bool skip_word(struct pyjson_check *c, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
		return false;
	c->at += n;
	return true;
}

static int check_scalar(struct pyjson_check *c)
{
	static const char *const words[] = { "null", "true",     "false",
					     "NaN",  "Infinity", "-Infinity" };

	if (skip_char(c, '"'))
		return check_string(c);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (skip_word(c, words[i]))
			return 0;
	return check_number(c);
}

/* Arrays and objects */

static int push(struct pyjson_check *c, bool object)
{
	uint64_t bit = UINT64_C(1) << c->depth % WORD;

	if (c->depth % WORD == 0 && c->depth / WORD == c->objects.count &&
	    vec_push(&c->objects, 0) < 0)
		return -ENOMEM;
	c->objects.items[c->depth / WORD] &= ~bit;
	if (object)
		c->objects.items[c->depth / WORD] |= bit;
	c->depth++;
	return 0;
}

static bool in_object(const struct pyjson_check *c)
{
	return c->objects.items[(c->depth - 1) / WORD] >> (c->depth - 1) % WORD & 1;
}

static int check_key(struct pyjson_check *c)
{
	int err;

	pyjson_skip_blanks(c);
	if (!skip_char(c, '"'))
		return pyjson_fail(c, "a member without a name in quotes");
	err = check_string(c);
	if (err)
		return err;
	pyjson_skip_blanks(c);
	if (!skip_char(c, ':'))
		return pyjson_fail(c, "a name without a colon behind it");
	return 0;
}

/* Enters arrays and objects, up to a scalar or an empty list. */
static int check_begin(struct pyjson_check *c)
{
	for (;;) {
		bool object;
		int err;

		pyjson_skip_blanks(c);
		if (c->at == c->end || (*c->at != '[' && *c->at != '{'))
			return check_scalar(c);
		object = *c->at++ == '{';
		err = push(c, object);
		if (err)
			return err;
		pyjson_skip_blanks(c);
		if (c->at < c->end && *c->at == (object ? '}' : ']'))
			return 0; /* check_trailing() closes it */
		err = object ? check_key(c) : 0;
		if (err)
			return err;
	}
}

/* After a value: leaves arrays and objects. 1: a value follows, 0: the end. */
static int check_trailing(struct pyjson_check *c)
{
	while (c->depth) {
		bool object = in_object(c);

		pyjson_skip_blanks(c);
		if (skip_char(c, ',')) {
			int err = object ? check_key(c) : 0;

			return err ? err : 1;
		}
		if (!skip_char(c, object ? '}' : ']'))
			return pyjson_fail(c, c->at == c->end
						      ? "an end before its last bracket"
						      : "two values without a comma");
		c->depth--;
	}
	pyjson_skip_blanks(c);
	return c->at == c->end ? 0 : pyjson_fail(c, "something behind the value");
}

static int check_text(struct pyjson_check *c)
{
	int r;

	do {
		r = check_begin(c);
		if (r == 0)
			r = check_trailing(c);
	} while (r == 1);
	return r;
}

static size_t pyjson_line_of(const struct pyjson_check *c)
{
	size_t line = 1;

	for (const char *at = c->text; at < c->at; at++)
		line += *at == '\n';
	return line;
}

int pyjson_begin(struct pyjson *json, const void *bytes, size_t n,
		 struct pyjson_fault *fault)
{
	struct pyjson_check c = { .text = bytes };
	int err;

	*json = (struct pyjson){ .copy = NULL };
	err = pyjson_text(&c.text, &n, &json->copy);
	c.at = c.text;
	c.end = c.text + n;
	if (err == -EBADMSG)
		pyjson_fail(&c, "characters that are not UTF-16 or UTF-32");
	if (!err)
		err = check_text(&c);
	vec_free(&c.objects);
	*fault = (struct pyjson_fault){ err == -EBADMSG ? c.what : NULL,
					err == -EBADMSG ? pyjson_line_of(&c) : 0 };
	if (err)
		return err;
	json->root = pyjson_value_at(c.text, c.end);
	return 0;
}

void pyjson_end(struct pyjson *json)
{
	free(json->copy);
	json->copy = NULL;
}
