/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

/* The number of bytes at `s` that need no escape. */
static size_t plain_length(const unsigned char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

/* Writes the character at `s`, escaped if needed; returns its length. */
static size_t write_character(FILE *out, const unsigned char *s, size_t n)
{
	uint32_t character;
	size_t length = utf8_decode(s, n, &character);

	if (length && utf8_is_surrogate(character))
		length = 0; /* invalid in standard UTF-8 */
	if (length == 0)
		fprintf(out, "\\udc%02x", s[0]);
	else if (s[0] == '"' || s[0] == '\\')
		fprintf(out, "\\%c", s[0]);
	else if (s[0] < 0x20 || s[0] == 0x7f)
		fprintf(out, "\\u%04x", s[0]);
	else
		fwrite_unlocked(s, 1, length, out);
	return length ? length : 1;
}

static void write_quoted(FILE *out, const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;

	putc_unlocked('"', out);
	for (size_t i = 0; i < size;) {
		size_t length = plain_length(s + i, size - i);

		fwrite_unlocked(s + i, 1, length, out);
		i += length;
		if (i < size)
			i += write_character(out, s + i, size - i);
	}
	putc_unlocked('"', out);
}

static void begin_value(struct json *json, const char *key)
{
	if (json->comma)
		putc_unlocked(',', json->out);
	json->comma = true;
	if (key) {
		write_quoted(json->out, key, strlen(key));
		putc_unlocked(':', json->out);
	}
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	putc_unlocked(bracket, json->out);
	json->comma = false;
}

void json_close(struct json *json, char bracket)
{
	putc_unlocked(bracket, json->out);
	json->comma = true;
}

void json_text(struct json *json, const char *key, const char *text)
{
	begin_value(json, key);
	write_quoted(json->out, text, strlen(text));
}

void json_uint(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_int(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->out);
}
