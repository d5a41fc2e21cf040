/* SPDX-License-Identifier: GPL-3.0-or-later */
/* granary-test: CFLAGS += $(CODECS_CFLAGS) $(ZLIB_CFLAGS) */
/* Chains of steps, some of them skipped, from an index that may say anything. */
#include "config.h"
#if WITH_ZLIB && WITH_DEFLATE
#include "codec/kit.h"

#include <errno.h>
#include <zlib.h>

enum { PLAIN = 4096 };

#define ZLIB CODEC_STEP(CODEC_ZLIB, 0)
#define ZSTD CODEC_STEP(CODEC_ZSTD, 0)
#define XZ CODEC_STEP(CODEC_XZ, 0)
#define SUM CODEC_STEP(CODEC_FLETCHER32, 0)
#define CRC CODEC_STEP(CODEC_CRC32, 0)
#define SHUFFLE(size) CODEC_STEP(CODEC_SHUFFLE, size)

static const struct {
	uint32_t steps[CODEC_CHAIN_MOST];
	int err;
} chains[] = {
	{ { CODEC_END }, 0 },
	{ { ZLIB }, 0 },
	{ { SHUFFLE(8), ZLIB, SUM }, 0 },
	{ { ZLIB, SHUFFLE(8), SUM }, 0 },
	{ { SUM, SUM, SUM, SUM }, 0 },
	{ { SUM, SHUFFLE(3), SHUFFLE(4), XZ }, 0 },
	{ { SHUFFLE(CODEC_PARAMETER_MOST) }, 0 },
	{ { CODEC_END, 0xffffffff, ZLIB, ZLIB }, 0 }, /* nobody looks behind the end */
	{ { CRC }, 0 },
	{ { CRC, ZLIB, SUM }, 0 },
	{ { ZLIB, CRC }, -ENOTSUP },
	{ { CRC, CRC }, -ENOTSUP },
	{ { CRC, ZLIB, ZLIB }, -ENOTSUP },
	{ { ZLIB, ZLIB }, -ENOTSUP },
	{ { ZSTD, SHUFFLE(2), SUM, XZ }, -ENOTSUP },
	{ { SHUFFLE(0) }, -ENOTSUP },
	{ { CODEC_STEP(CODEC_ZLIB, 6) }, -ENOTSUP },
	{ { CODEC_STEP(CODEC_END, 1) }, -ENOTSUP },
	{ { CODEC_STEP(11, 0) }, -ENOTSUP },
	{ { ZLIB, CODEC_STEP(255, 0) }, -ENOTSUP },
	{ { SUM, SUM, SUM, 0xffffffff }, -ENOTSUP },
};

static void test_which_chains_can_be_decoded(void **state)
{
	size_t i = unit_row(state);
	struct guarded out = guarded_new(64);
	unsigned char in[64];

	memset(in, 0x5a, sizeof(in));
	ssize_t got;

	assert_int_equal(codec_chain_check(chains[i].steps), chains[i].err);
	got = codec_chain_decode(chains[i].steps, 0, in, sizeof(in), out.at,
				 out.n);
	assert_int_equal(got == -ENOTSUP, chains[i].err == -ENOTSUP);
	guarded_free(&out);
}

static void test_codecs_have_names(void **state)
{
	(void)state;
	assert_string_equal(codec_find(ZSTD)->name, "zstd");
	assert_string_equal(codec_find(SHUFFLE(12345))->name, "shuffle");
	assert_null(codec_find(CODEC_END));
	assert_null(codec_find(11));
	assert_null(codec_find(0xff));
	assert_null(codec_find(0xffffffff));
}

/* A writer's steps for a chunk, one after the other. */
struct written {
	unsigned char bytes[2 * PLAIN];
	size_t n;
};

static void write_shuffle(struct written *chunk, size_t size)
{
	struct written plain = *chunk;
	size_t count = chunk->n / size;

	for (size_t i = 0; i < count * size; i++)
		chunk->bytes[i % size * count + i / size] = plain.bytes[i];
}

static void write_zlib(struct written *chunk)
{
	struct written plain = *chunk;
	uLongf n = sizeof(chunk->bytes);

	assert_int_equal(compress2(chunk->bytes, &n, plain.bytes, plain.n, 9), Z_OK);
	chunk->n = n;
}

/* Sums as RFC 1146 has them, one number after the other. */
static void write_sum(struct written *chunk)
{
	uint32_t first = 0, second = 0;

	for (size_t i = 0; i < chunk->n; i += 2) {
		uint32_t low = i + 1 < chunk->n ? chunk->bytes[i + 1] : 0;

		first += (uint32_t)chunk->bytes[i] << 8 | low;
		first = first > 0xffff ? first - 0xffff : first;
		second += first;
		second = second > 0xffff ? second - 0xffff : second;
	}
	for (int i = 0; i < 2; i++)
		chunk->bytes[chunk->n++] = (unsigned char)(first >> 8 * i);
	for (int i = 0; i < 2; i++)
		chunk->bytes[chunk->n++] = (unsigned char)(second >> 8 * i);
}

static void write_step(struct written *chunk, uint32_t step)
{
	if ((step & 0xff) == CODEC_SHUFFLE)
		write_shuffle(chunk, step >> 8);
	else if (step == ZLIB)
		write_zlib(chunk);
	else if (step == SUM)
		write_sum(chunk);
}

/* Every chain of three or four, every mask: what was skipped is not undone. */
static void test_skipped_steps(void **state)
{
	static const uint32_t all[][CODEC_CHAIN_MOST] = {
		{ SHUFFLE(8), ZLIB, SUM },
		{ SUM, ZLIB, SHUFFLE(3), SHUFFLE(7) },
		{ SHUFFLE(4), SUM, SHUFFLE(5), ZLIB },
		{ ZLIB, SUM, SHUFFLE(6), SUM },
		{ SUM, SUM, SUM, SUM },
	};
	struct guarded plain = guarded_new(PLAIN), out = guarded_new(PLAIN);

	(void)state;
	kit_fill(plain.at, PLAIN);
	for (size_t i = 0; i < COUNT(all) * 16; i++) {
		const uint32_t *steps = all[i / 16];
		uint32_t skipped = i % 16;
		struct written chunk = { .n = PLAIN };
		struct guarded stored;

		memcpy(chunk.bytes, plain.at, PLAIN);
		for (unsigned k = 0; k < CODEC_CHAIN_MOST; k++)
			if (!(skipped >> k & 1))
				write_step(&chunk, steps[k]);
		stored = guarded_copy(chunk.bytes, chunk.n);
		memset(out.at, 0, PLAIN);
		assert_int_equal(codec_chain_decode(steps, skipped | 0xfffffff0,
						    stored.at, stored.n, out.at, PLAIN),
				 PLAIN);
		assert_memory_equal(out.at, plain.at, PLAIN);
		guarded_free(&stored);
	}
	guarded_free(&plain);
	guarded_free(&out);
}

static void test_without_steps_bytes_are_copied(void **state)
{
	static const uint32_t none[CODEC_CHAIN_MOST] = { CODEC_END };
	static const uint32_t one[CODEC_CHAIN_MOST] = { ZLIB };
	char out[4] = "";

	(void)state;
	assert_int_equal(codec_chain_decode(none, 0, "abc", 3, out, 3), 3);
	assert_string_equal(out, "abc");
	assert_int_equal(codec_chain_decode(one, 1, "xy", 2, out, 3), 2);
	assert_string_equal(out, "xyc");
	assert_int_equal(codec_chain_decode(none, 0, "abcd", 4, out, 3), -EBADMSG);
	assert_int_equal(codec_chain_decode(none, 0, NULL, 0, NULL, 0), 0);
}

/* The sizes of an index need not have to do with each other. */
static void test_sizes_that_do_not_fit_each_other(void **state)
{
	static const size_t rooms[] = { 0, 1, 3, 4, 5, 4095, 1 << 20 };
	unsigned char in[64], *out = malloc(1 << 20);

	(void)state;
	memset(in, 0x78, sizeof(in));
	for (size_t i = 0; i < COUNT(chains) * COUNT(rooms); i++) {
		const uint32_t *steps = chains[i / COUNT(rooms)].steps;
		size_t room = rooms[i % COUNT(rooms)];

		for (size_t n = 0; n < sizeof(in); n++) {
			ssize_t got = codec_chain_decode(steps, 0, in, n, out, room);

			assert_true(got < 0 || (size_t)got <= room);
		}
	}
	free(out);
	assert_int_equal(codec_find(SUM)->stored_size(SIZE_MAX - 4), SIZE_MAX);
	assert_int_equal(codec_find(SUM)->stored_size(SIZE_MAX - 3), SIZE_MAX);
}

/* In the place of the mask of skipped steps. */
static void test_the_checksum_is_compared(void **state)
{
	const uint32_t chain[CODEC_CHAIN_MOST] = { CRC, ZLIB }, plain[CODEC_CHAIN_MOST] = { CRC };
	struct written chunk = { .n = PLAIN };
	unsigned char out[PLAIN];
	uint32_t crc;

	(void)state;
	kit_fill(chunk.bytes, PLAIN);
	crc = (uint32_t)crc32(0, chunk.bytes, PLAIN);
	assert_int_equal(codec_chain_decode(plain, crc, chunk.bytes, PLAIN, out, PLAIN), PLAIN);
	assert_int_equal(codec_chain_decode(plain, crc ^ 1, chunk.bytes, PLAIN, out, PLAIN),
			 -EBADMSG);
	write_zlib(&chunk);
	assert_int_equal(codec_chain_decode(chain, crc, chunk.bytes, chunk.n, out, PLAIN), PLAIN);
	for (unsigned bit = 0; bit < 32; bit++)
		assert_int_equal(codec_chain_decode(chain, crc ^ UINT32_C(1) << bit, chunk.bytes,
						    chunk.n, out, PLAIN), -EBADMSG);
}

static void test_the_unreadable_is_an_error(void **state)
{
	const uint32_t chain[CODEC_CHAIN_MOST] = { CODEC_UNREADABLE };
	char out[9];

	(void)state;
	assert_int_equal(codec_chain_decode(chain, 0, "x", 1, out, sizeof(out)), -EOPNOTSUPP);
}

static const struct CMUnitTest tests[] = {
	unit_rows(test_which_chains_can_be_decoded, chains),
	cmocka_unit_test(test_codecs_have_names),
	cmocka_unit_test(test_skipped_steps),
	cmocka_unit_test(test_without_steps_bytes_are_copied),
	cmocka_unit_test(test_sizes_that_do_not_fit_each_other),
	cmocka_unit_test(test_the_checksum_is_compared),
	cmocka_unit_test(test_the_unreadable_is_an_error),
};

UNIT_MAIN_IN(tests, NULL, NULL)

#else
#include "left_out.h"
#endif
