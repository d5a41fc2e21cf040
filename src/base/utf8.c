/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/utf8.h"

#include <errno.h>
#include <string.h>

unsigned utf8_decode(const void *bytes, size_t left, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *text = bytes;
	unsigned lead = *text, n;

	if (lead < 0x80) {
		*character = lead;
		return 1;
	}
	n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	if (lead < 0xc2 || lead > 0xf4 || left < n)
		return 0;
	*character = lead & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		*character = *character << 6 | (text[i] & 0x3fu);
	}
	return *character >= least[n] && *character <= 0x10ffff ? n : 0;
}

unsigned utf8_encode(char out[UTF8_MOST], uint32_t character)
{
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	unsigned n = character < 0x80    ? 1 :
		     character < 0x800   ? 2 :
		     character < 0x10000 ? 3 :
					   4;

	for (unsigned i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (character & 0x3f));
		character >>= 6;
	}
	out[0] = (char)(leads[n] | character);
	return n;
}

static int utf8_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool utf8_hex(const char *text, size_t left, unsigned digits, uint32_t *out)
{
	uint32_t value = 0;

	if (left < digits)
		return false;
	for (unsigned i = 0; i < digits; i++) {
		int digit = utf8_hex_digit(text[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (uint32_t)digit;
	}
	*out = value;
	return true;
}

ptrdiff_t utf8_name(char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < size;) {
		uint32_t character;
		unsigned n = utf8_decode(text + i, size - i, &character);

		if (n == 0 || (utf8_is_surrogate(character) &&
			       (character < 0xdc80 || character > 0xdcff)))
			return -EBADMSG;
		if (utf8_is_surrogate(character))
			text[used++] = (char)(character & 0xff);
		else
			memmove(text + used, text + i, n);
		used += utf8_is_surrogate(character) ? 0 : n;
		i += n;
	}
	return (ptrdiff_t)used;
}
