/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CRC-32C, against the values of RFC 3720, B.4. */
#include "unit.h"

#include "base/crc32c.h"

static const struct row {
	const char *name;
	int first, step;
	uint32_t crc;
} rows[] = {
	{ "zeros", 0, 0, 0x8a9136aa }, { "ones", 255, 0, 0x62a8ab43 },
	{ "up", 0, 1, 0x46dd794e }, { "down", 31, -1, 0x113fdb5c },
};

/* Whole, and in two pieces of each length, from places that no word begins at. */
static void test_values(void **state)
{
	const struct row *row = &rows[unit_row(state)];
	unsigned char bytes[33];

	for (int i = 0; i < 32; i++)
		bytes[i + 1] = (unsigned char)(row->first + i * row->step);
	for (size_t n = 0; n <= 32; n++)
		assert_int_equal(crc32c(crc32c(0, bytes + 1, n), bytes + 1 + n, 32 - n),
				 row->crc);
}

static const struct CMUnitTest crc[] = {
	unit_table(test_values, rows, name),
};

UNIT_MAIN(crc)
