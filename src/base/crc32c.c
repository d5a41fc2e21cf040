/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/crc32c.h"

#include <string.h>

/* By half bytes: the polynomial 0x82f63b78, reflected. */
static uint32_t crc_by_table(uint32_t crc, const unsigned char *bytes, size_t n)
{
	static const uint32_t table[] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	for (size_t i = 0; i < n; i++) {
		crc = crc >> 4 ^ table[(crc ^ bytes[i]) & 15];
		crc = crc >> 4 ^ table[(crc ^ bytes[i] >> 4) & 15];
	}
	return crc;
}

#if defined(__x86_64__)

static inline int can_instruct(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) static uint32_t
crc_by_instruction(uint32_t crc, const unsigned char *bytes, size_t n)
{
	uint64_t state = crc, word;

	for (; n >= sizeof(word); n -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		state = __builtin_ia32_crc32di(state, word);
	}
	return crc_by_table((uint32_t)state, bytes, n);
}

#else

static inline int can_instruct(void)
{
	return 0;
}

static uint32_t crc_by_instruction(uint32_t crc, const unsigned char *bytes, size_t n)
{
	return crc_by_table(crc, bytes, n);
}

#endif

uint32_t crc32c(uint32_t before, const void *bytes, size_t n)
{
	return ~(can_instruct() ? crc_by_instruction(~before, bytes, n) :
				  crc_by_table(~before, bytes, n));
}
