#include "indexer/pickle_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The character at text, and how many bytes it takes; 0: it is not UTF-8. */
static unsigned decode(const unsigned char *text, size_t left, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
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

static bool is_surrogate(uint32_t character)
{
	return character >= 0xd800 && character <= 0xdfff;
}

static bool stands_for_byte(uint32_t character)
{
	return character >= 0xdc80 && character <= 0xdcff;
}

/* Whether it is UTF-8 but for such surrogates; `surrogates` is how many. */
static bool check(const char *text, size_t size, size_t *surrogates)
{
	*surrogates = 0;
	for (size_t i = 0; i < size;) {
		uint32_t character;
		unsigned n =
			decode((const unsigned char *)text + i, size - i, &character);

		if (n == 0 || (is_surrogate(character) && !stands_for_byte(character)))
			return false;
		*surrogates += is_surrogate(character);
		i += n;
	}
	return true;
}

int pickle_text_names(struct arena *arena, const char *text, size_t size,
		      const char **out, uint32_t *out_size)
{
	size_t surrogates, used = 0;
	char *copy;

	if (!check(text, size, &surrogates))
		return -EBADMSG;
	*out = text;
	*out_size = (uint32_t)size;
	if (surrogates == 0)
		return 0;
	*out_size = (uint32_t)(size - 2 * surrogates);
	copy = arena_alloc(arena, *out_size);
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < size;) {
		uint32_t character;
		unsigned n =
			decode((const unsigned char *)text + i, size - i, &character);

		if (is_surrogate(character))
			copy[used++] = (char)(character & 0xff);
		else
			memcpy(copy + used, text + i, n);
		used += is_surrogate(character) ? 0 : n;
		i += n;
	}
	*out = copy;
	return 0;
}

static size_t encode(char *out, uint32_t character)
{
	unsigned n = character < 0x80	   ? 1
		     : character < 0x800   ? 2
		     : character < 0x10000 ? 3
					   : 4;
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (unsigned i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (character & 0x3f));
		character >>= 6;
	}
	out[0] = (char)(leads[n] | character);
	return n;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool take_hex(const char *text, size_t left, unsigned digits, uint32_t *out)
{
	uint32_t value = 0;

	if (left < digits)
		return false;
	for (unsigned i = 0; i < digits; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (uint32_t)digit;
	}
	*out = value;
	return value <= 0x10ffff;
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

		if (digits && !take_hex(text + i + 1, size - i - 1, digits, &character))
			return -EBADMSG;
		i += digits ? digits + 1 : 0;
		used += encode(plain + used, character);
		if (next == '\\' && i < size)
			plain[used++] = text[i++];
	}
	*out = plain;
	*out_size = used;
	return 0;
}
