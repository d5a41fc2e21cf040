/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int text_print(struct text *text, const char *format, ...)
{
	va_list arguments, again;
	int n;

	va_start(arguments, format);
	va_copy(again, arguments);
	n = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (n >= 0 && vec_reserve(text, n + 1) == 0)
		text->count += (size_t)vsnprintf(text->items + text->count, (size_t)n + 1,
						 format, again);
	else
		n = -ENOMEM;
	va_end(again);
	return n < 0 ? -ENOMEM : 0;
}

int text_append(struct text *text, const char *bytes, size_t n)
{
	if (vec_reserve(text, n + 1) < 0)
		return -ENOMEM;
	if (n)
		memcpy(text->items + text->count, bytes, n);
	text_cut(text, text->count + n);
	return 0;
}

void text_cut(struct text *text, size_t size)
{
	text->count = size;
	if (text->items)
		text->items[size] = '\0';
}

void buffer_print(char *buffer, size_t room, const char *format, ...)
{
	size_t n = strlen(buffer);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(buffer + n, room - n, format, arguments);
	va_end(arguments);
}
