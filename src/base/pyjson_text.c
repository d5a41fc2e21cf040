/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/pyjson_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

struct encoding {
	unsigned width; /* bytes of a unit: 1, 2 or 4 */
	bool big;       /* big-endian */
	unsigned mark;  /* bytes of the byte order mark */
};

static const struct {
	const char *mark;
	unsigned length;
	struct encoding encoding;
} marks[] = { /* UTF-32's mark begins as UTF-16's */
	{ "\0\0\xfe\xff", 4, { 4, true, 4 } }, { "\xff\xfe\0\0", 4, { 4, false, 4 } },
	{ "\xfe\xff", 2, { 2, true, 2 } },     { "\xff\xfe", 2, { 2, false, 2 } },
	{ "\xef\xbb\xbf", 3, { 1, false, 3 } },
};

static struct encoding detect(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (n >= marks[i].length && memcmp(s, marks[i].mark, marks[i].length) == 0)
			return marks[i].encoding;
	if (n >= 4 && !s[0])
		return (struct encoding){ s[1] ? 2 : 4, true, 0 };
	if (n >= 4 && !s[1])
		return (struct encoding){ s[2] || s[3] ? 2 : 4, false, 0 };
	if (n == 2 && (!s[0] || !s[1]))
		return (struct encoding){ 2, !s[0], 0 };
	return (struct encoding){ 1, false, 0 };
}

static uint32_t unit_at(const unsigned char *s, const struct encoding *encoding)
{
	uint32_t unit = 0;

	for (unsigned i = 0; i < encoding->width; i++)
		unit = unit << 8 | s[encoding->big ? i : encoding->width - 1 - i];
	return unit;
}

/* The character at `s`; returns its bytes. A lone half of a pair is one. */
static size_t character_at(const unsigned char *s, size_t left,
			   const struct encoding *encoding, uint32_t *out)
{
	uint32_t second;

	*out = unit_at(s, encoding);
	if (encoding->width == 4 || left < 4 || *out >> 10 != 0xd800 >> 10)
		return encoding->width;
	second = unit_at(s + 2, encoding);
	if (second >> 10 != 0xdc00 >> 10)
		return 2;
	*out = 0x10000 + ((*out & 0x3ff) << 10) + (second & 0x3ff);
	return 4;
}

/* Converts into `out`, which has room: 0, or -EBADMSG with the length so far. */
static int convert(const unsigned char *s, size_t n, const struct encoding *encoding,
		   char *out, size_t *length)
{
	uint32_t character;

	*length = 0;
	for (size_t i = 0; i < n;) {
		if (n - i < encoding->width)
			return -EBADMSG;
		i += character_at(s + i, n - i, encoding, &character);
		if (character > 0x10ffff)
			return -EBADMSG;
		*length += utf8_encode(out + *length, character);
	}
	return 0;
}

int pyjson_text(const char **text, size_t *n, char **copy)
{
	struct encoding encoding = detect(*text, *n);
	const char *from = *text + encoding.mark;
	size_t left = *n - encoding.mark;
	int err;

	*text = from;
	*n = left;
	if (encoding.width == 1)
		return 0;
	/* two bytes become at most three, four stay four */
	*copy = malloc(left + left / 2 + UTF8_MOST);
	if (!*copy)
		return -ENOMEM;
	err = convert((const unsigned char *)from, left, &encoding, *copy, n);
	*text = *copy;
	return err;
}
