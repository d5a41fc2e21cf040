/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

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

/* Where there is no memory it is counted, as those beyond the most are. */
void findings_add(struct findings *findings, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (findings->items.count == FINDINGS_MOST || vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (!text || vec_push(&findings->items, text) < 0) {
		free(text);
		findings->more++;
	}
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->items.count; i++)
		free(findings->items.items[i]);
	vec_free(&findings->items);
}

void findings_log(const struct findings *findings, const char *label)
{
	for (size_t i = 0; i < findings->items.count; i++)
		log_warn("'%s': %s", label, findings->items.items[i]);
	if (findings->more)
		log_warn("'%s': %llu more warnings", label, (unsigned long long)findings->more);
}

void findings_note(const struct findings *findings, const char *label,
		   struct index_summary *summary)
{
	for (size_t i = 0; i < findings->items.count; i++)
		note(summary, "%s%s%s", label ? label : "", label ? ": " : "",
		     findings->items.items[i]);
	if (findings->more)
		note(summary, "%s%s%llu more warnings", label ? label : "", label ? ": " : "",
		     (unsigned long long)findings->more);
}
