/* SPDX-License-Identifier: GPL-3.0-or-later */
/* granary-test: CFLAGS += $(CODECS_CFLAGS) $(ZLIB_CFLAGS) */
/* Each library decodes what it has encoded, and ends on whatever else it is given. */
#include "config.h"
#if WITH_ZLIB && WITH_DEFLATE && WITH_LZ4 && WITH_ZSTD && WITH_LZMA && WITH_LZO && \
	WITH_LZF && WITH_BLOSC && WITH_BZIP2
#include "codec/kit.h"

#include <blosc.h>
#include <bzlib.h>
#include <errno.h>
#include <lz4.h>
#include <lz4hc.h>
#include <lzf.h>
#include <lzma.h>
#include <lzo/lzo1x.h>
#include <pthread.h>
#include <stdatomic.h>
#include <zlib.h>
#include <zstd.h>

enum {
	BLOCK = 128 * 1024,
	SMALL = 600,
	BOMB = 16 * 1024 * 1024,
};

typedef size_t encode(const void *in, size_t n, void *out, size_t room);

static size_t encode_zlib(const void *in, size_t n, void *out, size_t room)
{
	uLongf got = room;

	assert_int_equal(compress2(out, &got, in, n, 6), Z_OK);
	return got;
}

static size_t encode_deflate(const void *in, size_t n, void *out, size_t room)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)n,
			    .next_out = out, .avail_out = (uInt)room };

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, 0), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(deflateEnd(&stream), Z_OK);
	return room - stream.avail_out;
}

static size_t encode_bzip2(const void *in, size_t n, void *out, size_t room)
{
	unsigned got = (unsigned)room;

	assert_int_equal(BZ2_bzBuffToBuffCompress(out, &got, (char *)(uintptr_t)in,
						  (unsigned)n, 1, 0, 0), BZ_OK);
	return got;
}

static size_t encode_lz4(const void *in, size_t n, void *out, size_t room)
{
	return (size_t)LZ4_compress_default(in, out, (int)n, (int)room);
}

static size_t encode_lz4hc(const void *in, size_t n, void *out, size_t room)
{
	return (size_t)LZ4_compress_HC(in, out, (int)n, (int)room, 12);
}

static size_t encode_zstd(const void *in, size_t n, void *out, size_t room)
{
	return ZSTD_compress(out, room, in, n, 3);
}

/* With a checksum, which nothing obliges a writer to add. */
static size_t encode_zstd_sum(const void *in, size_t n, void *out, size_t room)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t got;

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	got = ZSTD_compress2(context, out, room, in, n);
	ZSTD_freeCCtx(context);
	return got;
}

static size_t encode_xz(const void *in, size_t n, void *out, size_t room)
{
	size_t got = 0;

	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, in, n, out,
						 &got, room),
			 LZMA_OK);
	return got;
}

static size_t encode_lzo(const void *in, size_t n, void *out, size_t room)
{
	void *work = malloc(LZO1X_1_MEM_COMPRESS);
	lzo_uint got = room;

	assert_int_equal(lzo_init(), LZO_E_OK);
	assert_int_equal(lzo1x_1_compress(in, n, out, &got, work), LZO_E_OK);
	free(work);
	return got;
}

/* The library looks at bytes behind those that it is given, when it writes. */
static size_t encode_lzf(const void *in, size_t n, void *out, size_t room)
{
	char *copy = calloc(1, n + 16);
	size_t got;

	memcpy(copy, in, n);
	got = lzf_compress(copy, (unsigned)n, out, (unsigned)room);
	free(copy);
	return got;
}

static size_t put_number(unsigned char *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * (bytes - 1 - i));
	return bytes;
}

/* In several blocks, the last of which is shorter. */
static size_t encode_hdf5_lz4(const void *in, size_t n, void *out, size_t room)
{
	unsigned char *to = out;
	size_t at = put_number(to, n, 8), block = n < BLOCK ? 500 : BLOCK / 3;

	at += put_number(to + at, block, 4);
	for (size_t done = 0; done < n; done += block) {
		size_t plain = n - done < block ? n - done : block;
		size_t got = encode_lz4((const char *)in + done, plain, to + at + 4,
					room - at - 4);

		if (got >= plain) {
			memcpy(to + at + 4, (const char *)in + done, plain);
			got = plain;
		}
		at += put_number(to + at, got, 4) + got;
	}
	return at;
}

static size_t encode_blosc(const void *in, size_t n, void *out, size_t room,
			   const char *compressor, int shuffle)
{
	int got = blosc_compress_ctx(5, shuffle, 4, n, in, out, room, compressor, 0, 1);

	return got > 0 ? (size_t)got : 0;
}

static size_t encode_blosclz(const void *in, size_t n, void *out, size_t room)
{
	return encode_blosc(in, n, out, room, "blosclz", BLOSC_SHUFFLE);
}

static size_t encode_blosc_lz4(const void *in, size_t n, void *out, size_t room)
{
	return encode_blosc(in, n, out, room, "lz4", BLOSC_BITSHUFFLE);
}

static size_t encode_blosc_zstd(const void *in, size_t n, void *out, size_t room)
{
	return encode_blosc(in, n, out, room, "zstd", BLOSC_NOSHUFFLE);
}

static const struct encoder {
	uint32_t step;
	encode *encode;
	bool summed; /* a wrong byte is always seen */
	bool ended;  /* so is a missing one */
} encoders[] = {
	{ CODEC_ZLIB, encode_zlib, true, true },
	{ CODEC_LZ4, encode_lz4, false, false },
	{ CODEC_LZ4, encode_lz4hc, false, false },
	{ CODEC_ZSTD, encode_zstd, false, true },
	{ CODEC_ZSTD, encode_zstd_sum, true, true },
	{ CODEC_XZ, encode_xz, true, true },
	{ CODEC_LZO, encode_lzo, false, true },
	{ CODEC_LZF, encode_lzf, false, false },
	{ CODEC_HDF5_LZ4, encode_hdf5_lz4, false, true },
	{ CODEC_DEFLATE, encode_deflate, false, true },
	{ CODEC_BZIP2, encode_bzip2, true, true },
	{ CODEC_BLOSC, encode_blosclz, false, true },
	{ CODEC_BLOSC, encode_blosc_lz4, false, true },
	{ CODEC_BLOSC, encode_blosc_zstd, false, true },
};

struct sample {
	struct guarded plain, stored;
};

static struct sample sample_new(const struct encoder *encoder, size_t n)
{
	struct sample made = { .plain = guarded_new(n),
			       .stored = guarded_new(n + n / 8 + 1024) };

	kit_fill(made.plain.at, n);
	made.stored.n = encoder->encode(made.plain.at, n, made.stored.at, made.stored.n);
	assert_true(made.stored.n > 0 && made.stored.n < n + n / 8 + 1024);
	return made;
}

static void sample_free(struct sample *sample)
{
	guarded_free(&sample->plain);
	guarded_free(&sample->stored);
}

static void test_blocks_come_back(void **state)
{
	static const size_t sizes[] = { 1, 2, 13, 4096, BLOCK - 1, BLOCK, 1 << 20 };

	(void)state;
	for (size_t i = 0; i < COUNT(encoders) * COUNT(sizes); i++) {
		const struct encoder *encoder = &encoders[i / COUNT(sizes)];
		size_t n = sizes[i % COUNT(sizes)];
		struct sample sample = sample_new(encoder, n);
		struct guarded exact = guarded_new(n), ample = guarded_new(2 * n);

		assert_int_equal(kit_decode(encoder->step, sample.stored.at,
					    sample.stored.n, &exact),
				 n);
		assert_memory_equal(exact.at, sample.plain.at, n);
		assert_int_equal(kit_decode(encoder->step, sample.stored.at,
					    sample.stored.n, &ample),
				 n);
		assert_memory_equal(ample.at, sample.plain.at, n);
		guarded_free(&exact);
		guarded_free(&ample);
		sample_free(&sample);
	}
}

static void test_what_has_no_room_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(encoders) * SMALL; i++) {
		const struct encoder *encoder = &encoders[i / SMALL];
		struct sample sample = sample_new(encoder, SMALL);
		struct guarded out = guarded_new(i % SMALL);

		assert_int_equal(kit_decode(encoder->step, sample.stored.at,
					    sample.stored.n, &out),
				 -EBADMSG);
		guarded_free(&out);
		sample_free(&sample);
	}
}

static void test_a_bomb_stays_in_its_room(void **state)
{
	size_t i = unit_row(state);
	unsigned char *zeros = calloc(1, BOMB), *stored = malloc(BOMB);
	size_t n = encoders[i].encode(zeros, BOMB, stored, BOMB);
	struct guarded out = guarded_new(BLOCK);

	assert_true(n < BOMB / 80);
	assert_int_equal(kit_decode(encoders[i].step, stored, n, &out), -EBADMSG);
	guarded_free(&out);
	free(zeros);
	free(stored);
}

/* An error, or no more than fits; where there is a sum, never other bytes. */
static void check_damaged(const struct encoder *encoder, const struct sample *sample,
			  const unsigned char *stored, size_t n, struct guarded *out)
{
	ssize_t got = kit_decode(encoder->step, stored, n, out);

	if (got == -EBADMSG || got == -ENOMEM)
		return;
	assert_in_range(got, 0, out->n);
	if (encoder->summed)
		assert_true((size_t)got == sample->plain.n &&
			    memcmp(out->at, sample->plain.at, sample->plain.n) == 0);
}

static void test_any_beginning_of_a_block_ends(void **state)
{
	size_t i = unit_row(state);
	struct sample sample = sample_new(&encoders[i], SMALL);
	struct guarded out = guarded_new(SMALL);

	for (size_t n = 0; n < sample.stored.n; n++) {
		ssize_t got = kit_decode(encoders[i].step, sample.stored.at, n,
					 &out);

		if (encoders[i].ended)
			assert_int_equal(got, -EBADMSG);
		else
			assert_true(got == -EBADMSG || (got >= 0 && got < SMALL));
	}
	guarded_free(&out);
	sample_free(&sample);
}

static void test_any_wrong_bit_ends(void **state)
{
	size_t i = unit_row(state);
	struct sample sample = sample_new(&encoders[i], SMALL);
	struct guarded out = guarded_new(SMALL);

	for (size_t bit = 0; bit < sample.stored.n * 8; bit++) {
		unsigned char *byte = &sample.stored.at[bit / 8];

		*byte ^= (unsigned char)(1u << bit % 8);
		check_damaged(&encoders[i], &sample, sample.stored.at,
			      sample.stored.n, &out);
		*byte ^= (unsigned char)(1u << bit % 8);
	}
	guarded_free(&out);
	sample_free(&sample);
}

/* Many wrong bytes, in blocks of the usual size. */
static void test_noise_in_a_block_ends(void **state)
{
	size_t i = unit_row(state);
	uint32_t random = 1;
	struct sample sample = sample_new(&encoders[i], BLOCK);
	struct guarded out = guarded_new(BLOCK);

	for (int round = 0; round < 60; round++) {
		struct guarded noisy = guarded_copy(sample.stored.at,
						    sample.stored.n);

		for (int k = 0; k <= round; k++) {
			random = random * 1664525 + 1013904223;
			noisy.at[(random >> 8) % noisy.n] ^=
				(unsigned char)(random >> 8 | 1);
		}
		check_damaged(&encoders[i], &sample, noisy.at, noisy.n, &out);
		guarded_free(&noisy);
	}
	guarded_free(&out);
	sample_free(&sample);
}

/* One library's bytes in another one's hands, and nothing at all. */
static void test_what_is_of_another_kind_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(encoders) * COUNT(encoders); i++) {
		const struct encoder *from = &encoders[i / COUNT(encoders)];
		uint32_t to = encoders[i % COUNT(encoders)].step;
		struct sample sample = sample_new(from, SMALL);
		struct guarded out = guarded_new(SMALL);

		if (to != from->step)
			assert_int_not_equal(kit_decode(to, sample.stored.at,
							sample.stored.n, &out),
					     SMALL);
		assert_int_equal(kit_decode(to, "", 0, &out), -EBADMSG);
		guarded_free(&out);
		sample_free(&sample);
	}
}

/* HDF5 and Linux read such blocks, too. */
static void test_what_follows_a_stream_is_left_alone(void **state)
{
	size_t i = unit_row(state);
	const struct encoder *encoder = &encoders[i];
	struct sample sample = sample_new(encoder, SMALL);
	struct guarded out = guarded_new(SMALL);
	struct guarded more = guarded_new(sample.stored.n + 1);
	bool left = encoder->step == CODEC_ZLIB || encoder->step == CODEC_XZ ||
		    encoder->step == CODEC_HDF5_LZ4 || encoder->step == CODEC_DEFLATE ||
		    encoder->step == CODEC_BZIP2;

	memcpy(more.at, sample.stored.at, sample.stored.n);
	more.at[sample.stored.n] = 0xaa;
	assert_int_equal(kit_decode(encoder->step, more.at, more.n, &out),
			 left ? SMALL : -EBADMSG);
	guarded_free(&more);
	guarded_free(&out);
	sample_free(&sample);
}

struct shared {
	struct sample samples[COUNT(encoders)];
	_Atomic unsigned wrong;
};

static void *decode_all(void *argument)
{
	struct shared *shared = argument;
	unsigned char *out = malloc(SMALL);

	for (size_t i = 0; i < 200 * COUNT(encoders); i++) {
		const struct sample *sample = &shared->samples[i % COUNT(encoders)];
		const uint32_t chain[CODEC_CHAIN_MOST] = {
			encoders[i % COUNT(encoders)].step
		};

		if (codec_chain_decode(chain, 0, sample->stored.at, sample->stored.n, out,
				       SMALL) != SMALL ||
		    memcmp(out, sample->plain.at, SMALL) != 0)
			atomic_fetch_add(&shared->wrong, 1);
	}
	free(out);
	return NULL;
}

/* More of them than zstd.c keeps contexts for. */
static void test_many_threads(void **state)
{
	struct shared shared = { .wrong = 0 };
	pthread_t threads[24];

	(void)state;
	for (size_t i = 0; i < COUNT(encoders); i++)
		shared.samples[i] = sample_new(&encoders[i], SMALL);
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, decode_all, &shared),
				 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(shared.wrong, 0);
	for (size_t i = 0; i < COUNT(encoders); i++)
		sample_free(&shared.samples[i]);
}

static const lzma_vli filters[] = {
	LZMA_FILTER_X86, LZMA_FILTER_POWERPC,  LZMA_FILTER_IA64,
	LZMA_FILTER_ARM, LZMA_FILTER_ARMTHUMB, LZMA_FILTER_SPARC,
};

static void test_xz_with_filters_for_machine_code(void **state)
{
	size_t i = unit_row(state);
	struct guarded plain = guarded_new(BLOCK), out = guarded_new(BLOCK);
	unsigned char *stored = malloc(2 * BLOCK);
	lzma_options_lzma options;

	kit_fill(plain.at, BLOCK);
	assert_false(lzma_lzma_preset(&options, 1));
	lzma_filter chain[] = { { filters[i], NULL },
				{ LZMA_FILTER_LZMA2, &options },
				{ LZMA_VLI_UNKNOWN, NULL } };
	size_t n = 0;

	assert_int_equal(lzma_stream_buffer_encode(chain, LZMA_CHECK_CRC32, NULL,
						   plain.at, BLOCK, stored, &n,
						   2 * BLOCK),
			 LZMA_OK);
	assert_int_equal(kit_decode(CODEC_XZ, stored, n, &out), BLOCK);
	assert_memory_equal(out.at, plain.at, BLOCK);
	free(stored);
	guarded_free(&plain);
	guarded_free(&out);
}

/* Asks for another dictionary: one byte of the block's header, and its CRC32. */
static void set_dictionary(unsigned char *stream, unsigned char size)
{
	unsigned char *header = stream + LZMA_STREAM_HEADER_SIZE;
	size_t length = ((size_t)header[0] + 1) * 4;
	unsigned char *filter = header + 2;
	uint32_t sum;

	for (int flag = 6; flag <= 7; flag++) /* sizes, 7 bits a byte */
		while (header[1] >> flag & 1 && *filter++ & 0x80)
			;
	assert_int_equal(filter[0], 0x21); /* LZMA2, with one byte */
	assert_int_equal(filter[1], 1);
	filter[2] = size;
	sum = lzma_crc32(header, length - 4, 0);
	for (size_t i = 0; i < 4; i++)
		header[length - 4 + i] = (unsigned char)(sum >> 8 * i);
}

static void test_xz_has_a_limit_of_memory(void **state)
{
	struct sample sample = sample_new(&encoders[5], SMALL);
	struct guarded out = guarded_new(SMALL);

	(void)state;
	assert_int_equal(encoders[5].step, CODEC_XZ);
	set_dictionary(sample.stored.at, 28); /* 64 MiB: xz -9 */
	assert_int_equal(kit_decode(CODEC_XZ, sample.stored.at, sample.stored.n, &out),
			 SMALL);
	for (unsigned char size = 30; size <= 40; size++) { /* 128 MiB to 4 GiB */
		set_dictionary(sample.stored.at, size);
		assert_int_equal(kit_decode(CODEC_XZ, sample.stored.at, sample.stored.n,
					    &out),
				 -EBADMSG);
	}
	guarded_free(&out);
	sample_free(&sample);
}

/* What follows the version and the size of the properties: all of an .lzma file but its size. */
static size_t encode_zip_lzma(const void *in, size_t n, bool mark, unsigned char *out,
			      size_t room)
{
	lzma_options_lzma options;
	lzma_filter chain[] = { { LZMA_FILTER_LZMA1, &options }, { LZMA_VLI_UNKNOWN, NULL } };
	size_t used = 4 + 5;
	uint32_t properties = 0;

	assert_false(lzma_lzma_preset(&options, 1));
	memcpy(out, "\11\24\5\0", 4);
	if (!mark) {
		chain[0].id = LZMA_FILTER_LZMA1EXT;
		options.ext_flags = 0;
		lzma_set_ext_size(options, n);
	}
	assert_int_equal(lzma_properties_size(&properties, chain), LZMA_OK);
	assert_int_equal(properties, 5);
	assert_int_equal(lzma_properties_encode(chain, out + 4), LZMA_OK);
	assert_int_equal(lzma_raw_buffer_encode(chain, NULL, in, n, out, &used, room), LZMA_OK);
	return used;
}

/* A zip's flag, which no codec sees, says whether there is a mark at the stream's end. */
static void test_lzma_of_zip(void **state)
{
	struct guarded plain = guarded_new(SMALL), out = guarded_new(SMALL);
	struct guarded less = guarded_new(SMALL - 1);
	unsigned char stored[2 * SMALL];

	(void)state;
	kit_fill(plain.at, SMALL);
	for (int mark = 0; mark < 2; mark++) {
		size_t n = encode_zip_lzma(plain.at, SMALL, mark, stored, sizeof(stored));

		assert_int_equal(kit_decode(CODEC_ZIP_LZMA, stored, n, &out), SMALL);
		assert_memory_equal(out.at, plain.at, SMALL);
		for (size_t cut = 0; cut < n - 6; cut++)
			assert_int_equal(kit_decode(CODEC_ZIP_LZMA, stored, cut, &out),
					 -EBADMSG);
	}
	assert_int_not_equal(kit_decode(CODEC_ZIP_LZMA, stored, sizeof(stored), &less), SMALL);
	guarded_free(&plain);
	guarded_free(&out);
	guarded_free(&less);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_blocks_come_back),
	cmocka_unit_test(test_what_has_no_room_is_an_error),
	unit_rows(test_a_bomb_stays_in_its_room, encoders),
	unit_rows(test_any_beginning_of_a_block_ends, encoders),
	unit_rows(test_any_wrong_bit_ends, encoders),
	unit_rows(test_noise_in_a_block_ends, encoders),
	cmocka_unit_test(test_what_is_of_another_kind_is_an_error),
	unit_rows(test_what_follows_a_stream_is_left_alone, encoders),
	cmocka_unit_test(test_many_threads),
	unit_rows(test_xz_with_filters_for_machine_code, filters),
	cmocka_unit_test(test_xz_has_a_limit_of_memory),
	cmocka_unit_test(test_lzma_of_zip),
};

UNIT_MAIN_IN(tests, NULL, NULL)

#else
#include "left_out.h"
#endif
