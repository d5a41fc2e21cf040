/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pyjson_text.h"
#include "base/utf8.h"

/* These functions walk a checked text: each string and bracket has an end. */

/* Skips the string at `at`. */
static const char *end_of_string(const char *at)
{
	while (*++at != '"')
		at += *at == '\\';
	return at + 1;
}

static const char *end_of_list(const char *at)
{
	size_t depth = 0;

	do {
		if (*at == '"') {
			at = end_of_string(at);
			continue;
		}
		depth += *at == '[' || *at == '{';
		depth -= *at == ']' || *at == '}';
		at++;
	} while (depth);
	return at;
}

/* Skips a word or a number. */
static const char *end_of_scalar(const char *at, const char *end)
{
	while (at < end && *at != ',' && *at != ']' && *at != '}' && !pyjson_is_blank(*at))
		at++;
	return at;
}

static enum pyjson_kind number_kind(const char *at, const char *end)
{
	for (; at < end; at++)
		if (*at == '.' || *at == 'e' || *at == 'E' || *at == 'I')
			return PYJSON_REAL;
	return PYJSON_INTEGER;
}

static const char *pyjson_value_skip_blanks(const char *at, const char *end)
{
	while (at < end && pyjson_is_blank(*at))
		at++;
	return at;
}

struct pyjson_value pyjson_value_at(const char *at, const char *end)
{
	static const struct {
		char first;
		enum pyjson_kind kind;
	} kinds[] = {
		{ '"', PYJSON_STRING }, { '[', PYJSON_ARRAY },  { '{', PYJSON_OBJECT },
		{ 'n', PYJSON_NULL },   { 'f', PYJSON_FALSE },  { 't', PYJSON_TRUE },
		{ 'N', PYJSON_REAL },   { 'I', PYJSON_REAL },
	};
	struct pyjson_value value;
	size_t i = 0;

	at = pyjson_value_skip_blanks(at, end);
	value = (struct pyjson_value){ .kind = PYJSON_INTEGER, .text = at };
	while (i < sizeof(kinds) / sizeof(*kinds) && kinds[i].first != *at)
		i++;
	if (i < sizeof(kinds) / sizeof(*kinds))
		value.kind = kinds[i].kind;
	if (value.kind == PYJSON_STRING)
		end = end_of_string(at);
	else if (value.kind == PYJSON_ARRAY || value.kind == PYJSON_OBJECT)
		end = end_of_list(at);
	else
		end = end_of_scalar(at, end);
	if (value.kind == PYJSON_INTEGER)
		value.kind = number_kind(at, end);
	value.size = (size_t)(end - at);
	return value;
}

struct pyjson_walk pyjson_items(const struct pyjson_value *list)
{
	if (list->kind != PYJSON_ARRAY && list->kind != PYJSON_OBJECT)
		return (struct pyjson_walk){ .at = list->text, .end = list->text };
	return (struct pyjson_walk){ .at = list->text + 1,
				     .end = list->text + list->size - 1,
				     .keys = list->kind == PYJSON_OBJECT };
}

bool pyjson_next(struct pyjson_walk *walk, struct pyjson_value *key,
		 struct pyjson_value *item)
{
	const char *at = pyjson_value_skip_blanks(walk->at, walk->end);

	if (at == walk->end)
		return false;
	if (*at == ',')
		at++;
	if (walk->keys) {
		*key = pyjson_value_at(at, walk->end);
		at = pyjson_value_skip_blanks(key->text + key->size, walk->end) +
		     1; /* ':' */
	}
	*item = pyjson_value_at(at, walk->end);
	walk->at = item->text + item->size;
	return true;
}

bool pyjson_find(const struct pyjson_value *object, const char *name, size_t n,
		 struct pyjson_value *out)
{
	struct pyjson_walk walk = pyjson_items(object);
	struct pyjson_value key, item;
	bool found = false;

	while (walk.keys && pyjson_next(&walk, &key, &item)) {
		if (!pyjson_equals(&key, name, n))
			continue;
		*out = item;
		found = true;
	}
	return found;
}

/* Decoded strings */

/* Decodes the \uXXXX of the `u` at `at`, or two of them for one character. */
static const char *unescape_unit(const char *at, uint32_t *out)
{
	uint32_t low;

	utf8_hex(at + 1, 4, 4, out);
	at += 5;
	if (*out >> 10 != 0xd800 >> 10 || at[0] != '\\' || at[1] != 'u')
		return at;
	utf8_hex(at + 2, 4, 4, &low);
	if (low >> 10 != 0xdc00 >> 10)
		return at;
	*out = 0x10000 + ((*out & 0x3ff) << 10) + (low & 0x3ff);
	return at + 6;
}

/* Decodes one byte or escape; returns the next one. */
static const char *pyjson_value_unescape(const char *at, char out[UTF8_MOST], unsigned *n)
{
	static const char kinds[] = "bfnrt", escaped[] = "\b\f\n\r\t";
	const char *kind;
	uint32_t character;

	*n = 1;
	*out = *at;
	if (*at++ != '\\')
		return at;
	if (*at == 'u') {
		at = unescape_unit(at, &character);
		*n = utf8_encode(out, character);
		return at;
	}
	kind = strchr(kinds, *at);
	*out = kind ? escaped[kind - kinds] : *at;
	return at + 1;
}

size_t pyjson_string(const struct pyjson_value *string, char *out)
{
	const char *at = string->text + 1, *end = string->text + string->size - 1;
	char piece[UTF8_MOST];
	size_t used = 0;
	unsigned n;

	while (at < end) {
		at = pyjson_value_unescape(at, piece, &n);
		memcpy(out + used, piece, n);
		used += n;
	}
	return used;
}

bool pyjson_equals(const struct pyjson_value *string, const char *text, size_t size)
{
	const char *at = string->text + 1, *end = string->text + string->size - 1;
	char piece[UTF8_MOST];
	unsigned n;

	while (at < end) {
		at = pyjson_value_unescape(at, piece, &n);
		if (n > size || memcmp(text, piece, n) != 0)
			return false;
		text += n;
		size -= n;
	}
	return size == 0;
}

/* Numbers */

int pyjson_real(const struct pyjson_value *number, double *out)
{
	CLEANUP(cleanup_free) char *text = strndup(number->text, number->size);

	if (!text)
		return -ENOMEM;
	*out = strtod(text, NULL);
	return 0;
}
