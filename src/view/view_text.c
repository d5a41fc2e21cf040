/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_text.c: strangers' names as those of files and directories. */
#include <string.h>

#include "build/paths.h"
#include "view/view_parts.h"

bool view_safe_component(const char *text, char out[VIEW_COMPONENT_BYTES + 1])
{
	bool special = !*text || strcmp(text, ".") == 0 || strcmp(text, "..") == 0 ||
		       path_is_reserved(text);
	size_t n = strlen(text);
	char *at = out;

	if (n + special > VIEW_COMPONENT_BYTES)
		return false;
	if (special)
		*at++ = '_';
	memcpy(at, text, n + 1);
	for (; *at; at++)
		if (*at == '/')
			*at = '_';
	return true;
}

bool view_safe_path(const char *text, char out[VIEW_PATH_BYTES])
{
	size_t length = 0;

	while (*text) {
		size_t n = strcspn(text, "/");

		if (n > VIEW_COMPONENT_BYTES || length + n + 2 > VIEW_PATH_BYTES ||
		    (n == 2 && memcmp(text, "..", 2) == 0))
			return false;
		if (n && !(n == 1 && *text == '.')) {
			if (length)
				out[length++] = '/';
			memcpy(out + length, text, n);
			length += n;
		} else if (!text[n]) {
			return false; /* it ends as a directory does */
		}
		text += n;
		if (*text && !*++text)
			return false;
	}
	out[length] = '\0';
	return length > 0;
}
