/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/pickle_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* UTF-8 without surrogates: it need not be copied. */
static bool pickle_text_is_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		uint32_t character;
		unsigned n = utf8_decode(text + i, size - i, &character);

		if (n == 0 || utf8_is_surrogate(character))
			return false;
		i += n;
	}
	return true;
}

int pickle_text_names(struct arena *arena, const char *text, size_t size,
		      const char **out, uint32_t *out_size)
{
	char *copy;
	ptrdiff_t n;

	*out = text;
	*out_size = (uint32_t)size;
	if (pickle_text_is_plain(text, size))
		return 0;
	copy = arena_copy(arena, text, size);
	if (!copy)
		return -ENOMEM;
	n = utf8_name(copy, size);
	if (n < 0)
		return (int)n;
	*out = copy;
	*out_size = (uint32_t)n;
	return 0;
}

int pickle_text_unescape(struct arena *arena, const char *text, size_t size,
			 const char **out, size_t *out_size)
{
	/* a byte of Latin-1 becomes two at most */
	char *plain = arena_alloc(arena, 2 * size + 1);
	size_t used = 0;

	if (!plain)
		return -ENOMEM;
	for (size_t i = 0; i < size;) {
		uint32_t character = (unsigned char)text[i++];
		char next = character == '\\' && i < size ? text[i] : '\0';
		unsigned digits = next == 'u' ? 4 : next == 'U' ? 8 : 0;

		if (digits && (!utf8_hex(text + i + 1, size - i - 1, digits, &character) ||
			       character > 0x10ffff))
			return -EBADMSG;
		i += digits ? digits + 1 : 0;
		used += utf8_encode(plain + used, character);
		if (next == '\\' && i < size)
			plain[used++] = text[i++];
	}
	*out = plain;
	*out_size = used;
	return 0;
}

/* Behind a backslash: how much of it, and which byte it stands for; 0: none. */
static size_t pickle_text_read_escape(const char *text, size_t left, char *byte)
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	const char *known = left ? memchr(from, *text, sizeof(from) - 1) : NULL;
	uint32_t code;
	size_t n = 0;

	if (known) {
		*byte = to[known - from];
		return 1;
	}
	if (left && *text == 'x' && utf8_hex(text + 1, left - 1, 2, &code)) {
		*byte = (char)code;
		return 3;
	}
	for (code = 0; n < 3 && n < left && text[n] >= '0' && text[n] <= '7'; n++)
		code = code * 8 + (uint32_t)(text[n] - '0');
	*byte = (char)code;
	return code < 256 ? n : 0;
}

int pickle_text_literal(struct arena *arena, const char *text, size_t size,
			const char **out, size_t *out_size)
{
	char *plain = arena_alloc(arena, size + 1);
	size_t used = 0;

	if (!plain)
		return -ENOMEM;
	if (size < 2 || (*text != '\'' && *text != '"') || text[size - 1] != *text)
		return -EBADMSG;
	for (size_t i = 1; i + 1 < size;) {
		size_t n = 1;

		plain[used] = text[i++];
		if (plain[used] == '\\') {
			n = pickle_text_read_escape(text + i, size - 1 - i, &plain[used]);
			i += n;
		}
		if (n == 0)
			return -EBADMSG;
		used++;
	}
	*out = plain;
	*out_size = used;
	return 0;
}
