#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *e, enum error_status status, int errnum,
	      const char *format, ...)
{
	if (e) {
		va_list args;

		e->status = status;
		va_start(args, format);
		vsnprintf(e->text, sizeof(e->text), format, args);
		va_end(args);
	}
	return -errnum;
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
	n = strlen(whole);
	if (n >= sizeof(e->text))
		n = sizeof(e->text) - 1;
	memcpy(e->text, whole, n);
	e->text[n] = '\0';
}
