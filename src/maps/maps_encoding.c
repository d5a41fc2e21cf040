/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maps_encoding.c: UTF-16, as spreadsheets and PowerShell write it, becomes UTF-8. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "maps/maps_pairs.h"

struct utf16 {
	const unsigned char *bytes;
	size_t units;
	unsigned low; /* where in a unit its low byte is */
};

static uint32_t utf16_unit(const struct utf16 *text, size_t i)
{
	const unsigned char *unit = text->bytes + 2 * i;

	return unit[text->low] | (uint32_t)unit[1 - text->low] << 8;
}

/* The character at *i, which is moved behind it; 0: there is none. */
static uint32_t utf16_next(const struct utf16 *text, size_t *i)
{
	uint32_t high = utf16_unit(text, (*i)++), low;

	if (!utf8_is_surrogate(high))
		return high;
	if (high >= 0xdc00 || *i == text->units)
		return 0;
	low = utf16_unit(text, (*i)++);
	if (low < 0xdc00 || low > 0xdfff)
		return 0;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static int refuse_utf16(const struct map_input *input, size_t unit, struct error *e)
{
	return error_set(
		e, ERROR_DATASET, EBADMSG,
		"%s: it begins as UTF-16, and has no character at byte %zu; save it as "
		"UTF-8",
		input->path, 2 + 2 * unit);
}

static int convert_utf16(struct map_input *input, bool big_endian, char **buffer,
			 struct error *e)
{
	const struct utf16 text = {(const unsigned char *)input->bytes + 2,
				   (input->n - 2) / 2, big_endian};
	size_t used = 0;

	*buffer = malloc(3 * text.units + UTF8_MOST);
	if (!*buffer)
		return error_no_memory(e, input->path);
	for (size_t i = 0; i < text.units;) {
		size_t at = i;
		uint32_t character = utf16_next(&text, &i);

		if (character == 0)
			return refuse_utf16(input, at, e);
		used += utf8_encode(*buffer + used, character);
	}
	if (input->n % 2)
		return refuse_utf16(input, text.units, e);
	input->bytes = *buffer;
	input->n = used;
	return 0;
}

static bool map_begins(const struct map_input *input, const char *mark, size_t n)
{
	return input->n >= n && memcmp(input->bytes, mark, n) == 0;
}

int map_decode_text(struct map_input *input, char **buffer, struct error *e)
{
	const char *nul;

	*buffer = NULL;
	if (map_begins(input, "\xff\xfe", 2) || map_begins(input, "\xfe\xff", 2))
		return convert_utf16(input, input->bytes[0] == '\xfe', buffer, e);
	if (map_begins(input, "\xef\xbb\xbf", 3)) {
		input->bytes += 3;
		input->n -= 3;
	}
	nul = memchr(input->bytes, '\0', input->n);
	if (!nul)
		return 0;
	return error_set(
		e, ERROR_DATASET, EBADMSG,
		"%s: it is neither a pickle nor JSON nor text: byte %zu is 0; text is "
		"UTF-8, or UTF-16 with a mark at its beginning",
		input->path, (size_t)(nul - input->bytes));
}
