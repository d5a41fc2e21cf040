/* SPDX-License-Identifier: GPL-3.0-or-later */
/* told.h: the lines that findings become, in the log and in an index. */
#ifndef GRANARY_TESTS_TOLD_H
#define GRANARY_TESTS_TOLD_H

#include "unit.h"

#include "build/findings.h"
#include "build/image.h"

/* Tells them: the lines of the index, a line feed between two; the caller frees it. */
static inline char *told(struct findings *findings)
{
	struct image image = { 0 };
	char *lines, *end;

	assert_int_equal(findings_publish(findings, &image), 0);
	assert_true(image_append(&image, SECTION_NOTES, "", 1) >= 0);
	lines = strdup((char *)image.sections[SECTION_NOTES].items);
	image_free(&image);
	end = strrchr(lines, '\n');
	if (end)
		*end = '\0';
	findings_free(findings);
	*findings = (struct findings){ .file = findings->file };
	return lines;
}

#endif
