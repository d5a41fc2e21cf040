/* SPDX-License-Identifier: GPL-3.0-or-later */
/* granary-test: CFLAGS += $(CODECS_CFLAGS) $(ZLIB_CFLAGS) */
/* Chunks as HDF5 stores them: hdf5_chunks.py says where these come from. */
#include "config.h"
#if WITH_DEFLATE && WITH_LZ4 && WITH_ZSTD && WITH_LZF && WITH_BLOSC
#include "codec/kit.h"

#include <errno.h>

struct chunk {
	const char *name;
	size_t n; /* plain bytes */
	const char *stored;
	uint32_t steps[CODEC_CHAIN_MOST];
};

enum kind { ZEROS, ONES, RISING };

struct sum {
	enum kind kind;
	size_t n;
	const char *stored;
};

#define CHUNK(name, n, stored, ...) { name, n, stored, { __VA_ARGS__ } },
#define SUM(kind, n, stored)
static const struct chunk chunks[] = {
#include "codec/hdf5_chunks.def"
};
#undef CHUNK
#undef SUM

#define CHUNK(name, n, stored, ...)
#define SUM(kind, n, stored) { kind, n, stored },
static const struct sum sums[] = {
#include "codec/hdf5_chunks.def"
};
#undef CHUNK
#undef SUM

static const uint32_t fletcher32[CODEC_CHAIN_MOST] = { CODEC_STEP(CODEC_FLETCHER32, 0) };

static struct guarded from_hex(const char *hex)
{
	struct guarded made = guarded_new(strlen(hex) / 2);

	for (size_t i = 0; i < made.n; i++) {
		unsigned value;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
		made.at[i] = (unsigned char)value;
	}
	return made;
}

static void assert_plain(const struct chunk *chunk, const unsigned char *got)
{
	for (size_t i = 0; i < chunk->n; i++)
		if (got[i] != (unsigned char)(3 + 7 * i))
			fail_msg("%s: byte %zu of %zu is wrong", chunk->name, i,
				 chunk->n);
}

static void test_chunks_are_decoded(void **state)
{
	size_t i = unit_row(state);
	const struct chunk *chunk = &chunks[i];
	struct guarded stored = from_hex(chunk->stored);
	struct guarded plain = guarded_new(chunk->n);

	assert_int_equal(codec_chain_check(chunk->steps), 0);
	assert_int_equal(codec_chain_decode(chunk->steps, 0, stored.at, stored.n,
					    plain.at, plain.n),
			 chunk->n);
	assert_plain(chunk, plain.at);
	guarded_free(&plain);
	guarded_free(&stored);
}

static void test_a_chunk_that_has_no_room_is_an_error(void **state)
{
	size_t i = unit_row(state);
	const struct chunk *chunk = &chunks[i];
	struct guarded stored = from_hex(chunk->stored);

	for (size_t room = 0; room < chunk->n; room++) {
		struct guarded plain = guarded_new(room);

		assert_int_equal(codec_chain_decode(chunk->steps, 0, stored.at,
						    stored.n, plain.at, room),
				 -EBADMSG);
		guarded_free(&plain);
	}
	guarded_free(&stored);
}

/* Any prefix of a chunk ends, with an error or less than there was. */
static void test_a_chunk_that_is_cut_short_ends(void **state)
{
	size_t i = unit_row(state);
	const struct chunk *chunk = &chunks[i];
	struct guarded whole = from_hex(chunk->stored);
	struct guarded plain = guarded_new(chunk->n);

	for (size_t n = 0; n < whole.n; n++) {
		struct guarded part = guarded_copy(whole.at, n);
		ssize_t got = codec_chain_decode(chunk->steps, 0, part.at, n,
						 plain.at, plain.n);

		assert_true(got == -EBADMSG || (got >= 0 && (size_t)got < chunk->n));
		guarded_free(&part);
	}
	guarded_free(&plain);
	guarded_free(&whole);
}

/* One wrong bit is always seen by a sum or by zlib, where there is one. */
static void test_a_wrong_bit_is_seen(void **state)
{
	size_t i = unit_row(state);
	const struct chunk *chunk = &chunks[i];
	struct guarded stored = from_hex(chunk->stored);
	struct guarded plain = guarded_new(chunk->n);

	if (!strpbrk(chunk->name, "FZ"))
		stored.n = 0;
	for (size_t bit = 0; bit < stored.n * 8; bit++) {
		ssize_t got;

		stored.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
		got = codec_chain_decode(chunk->steps, 0, stored.at, stored.n,
					 plain.at, plain.n);
		if (got >= 0)
			assert_plain(chunk, plain.at);
		stored.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	guarded_free(&plain);
	guarded_free(&stored);
}

static unsigned char byte_of(enum kind kind, size_t i)
{
	if (kind == RISING)
		return (unsigned char)(i * 7 + i / 251);
	return kind == ONES ? 0xff : 0;
}

static void test_sums_of_many_bytes(void **state)
{
	size_t i = unit_row(state);
	const struct sum *sum = &sums[i];
	struct guarded tail = from_hex(sum->stored);
	struct guarded stored = guarded_new(sum->n + tail.n);
	struct guarded plain = guarded_new(sum->n);

	for (size_t k = 0; k < sum->n; k++)
		stored.at[k] = byte_of(sum->kind, k);
	memcpy(stored.at + sum->n, tail.at, tail.n);
	assert_int_equal(codec_chain_decode(fletcher32, 0, stored.at, stored.n,
					    plain.at, plain.n),
			 sum->n);
	assert_memory_equal(plain.at, stored.at, sum->n);
	stored.at[sum->n / 2] ^= 1;
	assert_int_equal(codec_chain_decode(fletcher32, 0, stored.at, stored.n,
					    plain.at, plain.n),
			 -EBADMSG);
	guarded_free(&plain);
	guarded_free(&stored);
	guarded_free(&tail);
}

/* Nothing but 0xffff and 0x0000 are the same to the sum: both are zero in it. */
static void test_no_bytes_have_a_sum_of_zero(void **state)
{
	struct guarded plain = guarded_new(0);

	(void)state;
	assert_int_equal(kit_decode(fletcher32[0], "\0\0\0\0", 4, &plain), 0);
	assert_int_equal(kit_decode(fletcher32[0], "\1\0\0\0", 4, &plain), -EBADMSG);
	for (size_t n = 0; n < 4; n++)
		assert_int_equal(kit_decode(fletcher32[0], "\0\0\0", n, &plain),
				 -EBADMSG);
	guarded_free(&plain);
}

/* The size of an element comes from an index: any number. */
static void test_shuffle_with_any_size_of_element(void **state)
{
	static const uint32_t large[] = { 9, 10, 11, 20, CODEC_PARAMETER_MOST };
	struct guarded plain = guarded_new(10);

	(void)state;
	for (size_t i = 0; i < COUNT(large); i++) {
		assert_int_equal(kit_decode(CODEC_STEP(CODEC_SHUFFLE, large[i]),
					    "0123456789", 10, &plain),
				 10);
		assert_memory_equal(plain.at, "0123456789", 10);
	}
	assert_int_equal(kit_decode(CODEC_STEP(CODEC_SHUFFLE, 0), "0123456789", 10,
				    &plain),
			 -ENOTSUP);
	assert_int_equal(codec_find(CODEC_SHUFFLE)->decode("0123456789", 10, plain.at,
							   plain.n, 0),
			 -EBADMSG);
	assert_int_equal(kit_decode(CODEC_STEP(CODEC_SHUFFLE, 4), "", 0, &plain), 0);
	guarded_free(&plain);
}

static const struct CMUnitTest tests[] = {
	unit_table(test_chunks_are_decoded, chunks, name),
	unit_table(test_a_chunk_that_has_no_room_is_an_error, chunks, name),
	unit_table(test_a_chunk_that_is_cut_short_ends, chunks, name),
	unit_table(test_a_wrong_bit_is_seen, chunks, name),
	unit_table(test_sums_of_many_bytes, sums, stored),
	cmocka_unit_test(test_no_bytes_have_a_sum_of_zero),
	cmocka_unit_test(test_shuffle_with_any_size_of_element),
};

UNIT_MAIN_IN(tests, NULL, NULL)

#else
#include "left_out.h"
#endif
