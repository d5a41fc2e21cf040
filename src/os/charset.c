/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/charset.h"

#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <stdlib.h>

struct charset {
	iconv_t descriptor;
};

struct charset *charset_open(const char *name)
{
	struct charset *charset = malloc(sizeof(*charset));
	iconv_t none = (iconv_t)(intptr_t)-1;

	if (!charset)
		return NULL;
	charset->descriptor = iconv_open("UTF-8", name);
	if (charset->descriptor != none)
		return charset;
	free(charset);
	return NULL;
}

void charset_close(struct charset *charset)
{
	if (charset)
		iconv_close(charset->descriptor);
	free(charset);
}

int charset_load(const char *name)
{
	static struct charset *loaded; /* never closed: that unloads the tables */

	charset_close(loaded);
	loaded = charset_open(name);
	return loaded ? 0 : -EINVAL;
}

ssize_t charset_to_utf8(struct charset *charset, const char *in, size_t n, char *out,
			size_t room)
{
	char *from = (char *)(uintptr_t)in, *to = out;
	size_t left = room;

	iconv(charset->descriptor, NULL, NULL, NULL, NULL);
	if (iconv(charset->descriptor, &from, &n, &to, &left) == (size_t)-1 ||
	    iconv(charset->descriptor, NULL, NULL, &to, &left) == (size_t)-1)
		return errno == E2BIG ? -E2BIG : -EILSEQ;
	return to - out;
}
