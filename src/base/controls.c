/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/controls.h"

#include <ctype.h>
#include <stdio.h>

enum { ESCAPE_BYTES = 4 };

void controls_escape(const char *text, char *out, size_t room)
{
	size_t n = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		size_t wanted = iscntrl(c) ? ESCAPE_BYTES : 1;

		if (n + wanted >= room)
			break;
		if (iscntrl(c))
			snprintf(out + n, ESCAPE_BYTES + 1, "\\%03o", c);
		else
			out[n] = (char)c;
		n += wanted;
	}
	out[n] = '\0';
}
