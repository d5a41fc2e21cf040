/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tar/header.h"

#include <string.h>

#include "base/checked.h"

enum { STAR_MAGIC = 508 }; /* "tar" and a NUL */

bool tar_round_up(uint64_t n, uint64_t *out)
{
	if (!checked_add(n, TAR_BLOCK - 1, out))
		return false;
	*out -= *out % TAR_BLOCK;
	return true;
}

/* Two's complement in all bits but the highest, which says that it is base 256. */
static bool parse_256(const unsigned char *field, size_t n, int64_t *out)
{
	bool negative = field[0] & 0x40;
	uint64_t value = negative ? UINT64_MAX : 0;

	for (size_t i = 0; i < n; i++) {
		unsigned byte = field[i];
		uint64_t lost = value >> 55;

		if (i == 0)
			byte = negative ? byte | 0x80 : byte & 0x7f;
		if (lost != (negative ? UINT64_MAX >> 55 : 0)) {
			*out = negative ? INT64_MIN : INT64_MAX;
			return false;
		}
		value = value << 8 | byte;
	}
	*out = (int64_t)value;
	return true;
}

static bool header_is_blank(unsigned char byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Some old programs wrote a NUL where the field before had run over. */
static bool parse_octal(const unsigned char *field, size_t n, int64_t *out)
{
	size_t i = field[0] == '\0';
	uint64_t value = 0;
	bool minus;

	while (i < n && header_is_blank(field[i]))
		i++;
	minus = i + 1 < n && field[i] == '-' && field[i + 1] >= '0' && field[i + 1] <= '7';
	for (i += minus; i < n && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	*out = minus ? -(int64_t)value : (int64_t)value;
	return i == n || field[i] == '\0' || header_is_blank(field[i]);
}

bool tar_number(const unsigned char *field, size_t n, int64_t *out)
{
	return field[0] & 0x80 ? parse_256(field, n, out) : parse_octal(field, n, out);
}

static bool header_is_zero(const unsigned char *bytes, size_t n)
{
	unsigned char any = 0;

	for (size_t i = 0; i < n; i++)
		any |= bytes[i];
	return !any;
}

/* Old tars summed signed bytes. */
bool tar_header_fits(const unsigned char *block)
{
	int64_t unsigned_sum = 0, signed_sum = 0, stored;

	if (!tar_number(block + TAR_CHECKSUM, TAR_ID_BYTES, &stored) ||
	    header_is_zero(block + TAR_CHECKSUM, TAR_ID_BYTES))
		return false;
	for (size_t i = 0; i < TAR_BLOCK; i++) {
		bool blank = i >= TAR_CHECKSUM && i < TAR_CHECKSUM + TAR_ID_BYTES;

		unsigned_sum += blank ? ' ' : block[i];
		signed_sum += blank ? ' ' : (signed char)block[i];
	}
	return stored == unsigned_sum || stored == signed_sum;
}

enum tar_dialect tar_header_dialect(const unsigned char *block)
{
	if (memcmp(block + TAR_MAGIC, "ustar  \0", 8) == 0)
		return TAR_GNU;
	if (memcmp(block + TAR_MAGIC, "ustar", 5) != 0)
		return TAR_V7;
	return memcmp(block + STAR_MAGIC, "tar", 4) == 0 ? TAR_STAR : TAR_POSIX;
}

bool tar_header_extends(const unsigned char *block)
{
	return block[TAR_TYPE] && strchr("xXgLKA", block[TAR_TYPE]);
}

static size_t copy_field(char *out, const unsigned char *field, size_t n)
{
	size_t length = strnlen((const char *)field, n);

	memcpy(out, field, length);
	return length;
}

void tar_header_path(const unsigned char *block, char *out)
{
	enum tar_dialect dialect = tar_header_dialect(block);
	size_t n = 0;

	if (dialect == TAR_POSIX || dialect == TAR_STAR)
		n = copy_field(out, block + TAR_PREFIX, TAR_PREFIX_BYTES);
	if (n && out[n - 1] != '/')
		out[n++] = '/';
	n += copy_field(out + n, block + TAR_NAME, TAR_NAME_BYTES);
	out[n] = '\0';
}
