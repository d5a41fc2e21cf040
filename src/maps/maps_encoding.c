/* SPDX-License-Identifier: GPL-3.0-or-later */
/* maps_encoding.c: UTF-16, as spreadsheets and PowerShell write it, becomes UTF-8. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pyjson_text.h"
#include "base/utf8.h"
#include "maps/maps_pairs.h"

static int refuse_utf16(const struct map_input *input, size_t unit, struct error *e)
{
	return error_set(
		e, ERROR_DATASET, EBADMSG,
		"%s: it begins as UTF-16, and has no character at byte %zu; save it as "
		"UTF-8",
		input->path, 2 + 2 * unit);
}

/* Neither a byte 0 nor half of a pair is a character. */
static int convert_utf16(struct map_input *input, char **buffer, struct error *e)
{
	int err = pyjson_text(&input->bytes, &input->n, buffer);
	size_t units = 0;
	uint32_t character;

	if (err == -ENOMEM)
		return error_no_memory(e, input->path);
	for (size_t i = 0; i < input->n; units += character > 0xffff ? 2 : 1) {
		i += utf8_decode(input->bytes + i, input->n - i, &character);
		if (character == 0 || utf8_is_surrogate(character))
			return refuse_utf16(input, units, e);
	}
	return err ? refuse_utf16(input, units, e) : 0;
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
		return convert_utf16(input, buffer, e);
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
