/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "labels/label_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/ieee.h"

enum { DIGITS_MOST = 32, LISTS_LEAST = 2 };

/* A decimal comma is a point; nothing else that strtod() reads is a number here. */
static bool copy_digits(const char *text, size_t n, char out[DIGITS_MOST])
{
	bool comma = !memchr(text, '.', n);

	if (n == 0 || n >= DIGITS_MOST || *text == '+')
		return false;
	for (size_t i = 0; i < n; i++) {
		out[i] = comma && text[i] == ',' ? '.' : text[i];
		if (!isdigit((unsigned char)out[i]) && !memchr("-+.eE", out[i], 5))
			return false;
	}
	out[n] = '\0';
	return true;
}

static enum label_text read_number(const char *text, size_t n, int64_t *number)
{
	char digits[DIGITS_MOST], *end;
	double value;

	if ((n == 3 && strncasecmp(text, "inf", n) == 0) ||
	    (n == 4 && strncasecmp(text, "-inf", n) == 0))
		return LABEL_TEXT_FRACTION;
	if (!copy_digits(text, n, digits))
		return LABEL_TEXT_NAME;
	errno = 0;
	*number = strtoll(digits, &end, 10);
	if (!*end && end > digits)
		return errno ? LABEL_TEXT_NAME : LABEL_TEXT_NUMBER;
	value = strtod(digits, &end);
	if (*end || !isdigit((unsigned char)digits[strcspn(digits, "0123456789")]))
		return LABEL_TEXT_NAME;
	return ieee_whole(value, number) && !memchr(text, ',', n) ? LABEL_TEXT_NUMBER :
								       LABEL_TEXT_FRACTION;
}

static bool is_between(char c)
{
	return c == ',' || isspace((unsigned char)c);
}

/* Numbers with blanks or commas between them, in brackets or not. */
static enum label_text label_text_read_list(const char *text, size_t n, int64_t *number)
{
	struct one_hot row = { 0 };
	bool brackets = n > 1 && *text == '[' && text[n - 1] == ']';
	const char *at = text + brackets, *end = text + n - brackets;

	while (at < end) {
		const char *from;
		int64_t value = 0;
		enum label_text kind;

		while (at < end && is_between(*at))
			at++;
		for (from = at; at < end && !is_between(*at);)
			at++;
		if (at == from)
			break;
		kind = read_number(from, (size_t)(at - from), &value);
		if (kind == LABEL_TEXT_NAME)
			return LABEL_TEXT_NAME;
		one_hot_add(&row, kind == LABEL_TEXT_NUMBER, value);
	}
	*number = row.label;
	if (row.count < LISTS_LEAST)
		return LABEL_TEXT_NAME;
	return one_hot_is(&row) ? LABEL_TEXT_HOT : LABEL_TEXT_LIST;
}

enum label_text label_text_read(const char *text, size_t n, int64_t *number)
{
	enum label_text kind;

	if (n == 0 || (n == 3 && strncasecmp(text, "nan", n) == 0))
		return LABEL_TEXT_NONE;
	kind = read_number(text, n, number);
	return kind == LABEL_TEXT_NAME && (memchr(text, ' ', n) || memchr(text, ',', n)) ?
		       label_text_read_list(text, n, number) : kind;
}
