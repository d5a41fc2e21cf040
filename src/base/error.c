/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/controls.h"

int error_set(struct error *e, enum error_status status, int errnum,
	      const char *format, ...)
{
	if (e) {
		char text[sizeof(e->text)];
		va_list args;

		e->status = status;
		va_start(args, format);
		vsnprintf(text, sizeof(text), format, args);
		va_end(args);
		controls_escape(text, e->text, sizeof(e->text));
	}
	return -errnum;
}

int error_no_memory(struct error *e, const char *path)
{
	return error_set(e, ERROR_SYSTEM, ENOMEM, "%s%sout of memory", path ? path : "",
			 path ? ": " : "");
}

void error_prefix(struct error *e, const char *format, ...)
{
	char whole[2 * sizeof(e->text)];
	va_list args;
	size_t n;

	if (!e)
		return;
	va_start(args, format);
	vsnprintf(whole, sizeof(e->text), format, args);
	va_end(args);
	n = strlen(whole);
	snprintf(whole + n, sizeof(whole) - n, ": %s", e->text);
	controls_escape(whole, e->text, sizeof(e->text));
}
