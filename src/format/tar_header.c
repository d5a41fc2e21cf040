#include "format/tar_header.h"

#include <string.h>

#include "util/checked.h"

enum { /* of a header block */
	CHECKSUM = 148,
	CHECKSUM_BYTES = 8,
	SIZE = 124,
	SIZE_BYTES = 12,
};

bool tar_round_up(uint64_t n, uint64_t *out)
{
	if (!checked_add(n, TAR_BLOCK - 1, out))
		return false;
	*out -= *out % TAR_BLOCK;
	return true;
}

static bool parse_octal(const unsigned char *field, size_t n, uint64_t *out)
{
	uint64_t value = 0;
	size_t i = 0;

	while (i < n && field[i] == ' ')
		i++;
	if (i == n || field[i] < '0' || field[i] > '7')
		return false;
	for (; i < n && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	*out = value;
	return true;
}

/* Old tars summed signed bytes. */
bool tar_header_fits(const unsigned char *block)
{
	int64_t unsigned_sum = 0, signed_sum = 0;
	uint64_t sum;

	if (!parse_octal(block + CHECKSUM, CHECKSUM_BYTES, &sum))
		return false;
	for (size_t i = 0; i < TAR_BLOCK; i++) {
		bool blank = i >= CHECKSUM && i < CHECKSUM + CHECKSUM_BYTES;

		unsigned_sum += blank ? ' ' : block[i];
		signed_sum += blank ? ' ' : (signed char)block[i];
	}
	return (int64_t)sum == unsigned_sum || (int64_t)sum == signed_sum;
}

bool tar_header_extends(const unsigned char *block, uint64_t *size)
{
	uint64_t bytes;

	return tar_header_fits(block) && block[TAR_TYPE] && strchr("xXgLKA", block[TAR_TYPE]) &&
	       parse_octal(block + SIZE, SIZE_BYTES, &bytes) && tar_round_up(bytes, size);
}

const unsigned char *tar_preface(void)
{
	static const struct {
		char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
		char type, link[100], magic[8], rest[TAR_BLOCK - 265], record[TAR_BLOCK];
	} preface = {
		"global", "0000644", "0000000", "0000000", "00000000020", "00000000000",
		"007207\0", 'g', "", "ustar\0" "00", "", "16 comment=none\n",
	};

	_Static_assert(sizeof(preface) == TAR_PREFACE, "a header and a block");
	return (const unsigned char *)&preface;
}

/* The value of the last record that begins with `key` in a pax header. */
static const char *find_record(const char *p, const char *end, const char *key)
{
	const char *found = NULL;
	size_t n = strlen(key);

	while (p < end) {
		const char *text = p;
		uint64_t length = 0;

		for (; text < end && *text >= '0' && *text <= '9' && length < 1u << 30;
		     text++)
			length = length * 10 + (uint64_t)(*text - '0');
		if (text == end || *text != ' ' || length > (uint64_t)(end - p) ||
		    length <= (uint64_t)(text - p))
			return found;
		text++;
		if (length > (uint64_t)(text - p) + n && memcmp(text, key, n) == 0)
			found = text + n;
		p += length;
	}
	return found;
}

/* "-12.5" is half a second before -12: 13 seconds back and half of one on. */
static void parse_negative(const char *text, int64_t *out, uint32_t *out_ns)
{
	int64_t seconds = 0;
	uint32_t ns = 0, digit = 100000000;

	for (; *text >= '0' && *text <= '9' && seconds > INT64_MIN / 10 + 10; text++)
		seconds = seconds * 10 - (*text - '0');
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9' && digit; digit /= 10)
			ns += digit * (uint32_t)(*text++ - '0');
	*out = ns ? seconds - 1 : seconds;
	*out_ns = ns ? 1000000000 - ns : 0;
}

bool tar_header_negative_mtime(const unsigned char *bytes, size_t n,
			       int64_t *seconds, uint32_t *ns)
{
	const char *value = NULL;
	uint64_t at = 0, size, padded;

	while (range_within(at, TAR_BLOCK, n)) {
		const unsigned char *block = bytes + at;

		at += TAR_BLOCK;
		if (!tar_header_fits(block) || !block[TAR_TYPE] ||
		    !strchr("xXgLKA", block[TAR_TYPE]))
			continue;
		if (!parse_octal(block + SIZE, SIZE_BYTES, &size) ||
		    !tar_round_up(size, &padded) || !range_within(at, padded, n))
			break;
		if (block[TAR_TYPE] == 'x')
			value = find_record((const char *)bytes + at,
					    (const char *)bytes + at + size,
					    "mtime=-");
		at += padded;
	}
	if (value)
		parse_negative(value, seconds, ns);
	return value != NULL;
}
