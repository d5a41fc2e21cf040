/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void note(struct index_summary *summary, const char *format, ...)
{
	static const char more[] = "...";
	size_t n = strlen(summary->notes);
	char line[512], *at = summary->notes + n;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	/* names may contain newlines, which separate notes */
	for (char *c = line; *c; c++)
		if (*c == '\n')
			*c = '?';
	if (n + 1 + strlen(line) + sizeof(more) + 1 <= sizeof(summary->notes))
		snprintf(at, sizeof(summary->notes) - n, "%s%s", n ? "\n" : "", line);
	else if (n < 4 || strcmp(at - 4, "\n...") != 0)
		snprintf(at, sizeof(summary->notes) - n, "\n%s", more);
}
