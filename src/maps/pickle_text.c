/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/pickle_text.h"

#include <errno.h>
#include <stdbool.h>

#include "base/utf8.h"

/* UTF-8 without surrogates: it need not be copied. */
static bool is_plain(const char *text, size_t size)
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
	if (is_plain(text, size))
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
