/* SPDX-License-Identifier: GPL-3.0-or-later */
/* granary-test: CFLAGS += $(ZLIB_CFLAGS) */
/* granary-test: LDADD += $(ZLIB_LIBS) */
/* Streams that are decoded while they are read, and entered at their points afterwards. */
#include "config.h"
#if WITH_ZLIB
#include "source/memory_source.h"
#include "unit.h"

#include <errno.h>
#include <zlib.h>

#include "stream/decoded.h"

enum {
	PLAIN = 9 << 20,
	STORED_ROOM = PLAIN + (1 << 20),
	HEAD = 64,
	PIECE = 100000,
};

struct fixture {
	unsigned char *plain, *stored;
	size_t plain_size, stored_size;
	struct source *source;
	struct decoded *stream;
};

/* Words, noise and runs, a stretch of each in turn. */
static void fill_plain(unsigned char *out, size_t n)
{
	uint32_t seed = 1;

	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		switch (i / 300000 % 3) {
		case 0:
			out[i] = (unsigned char)"data sets of words "[seed >> 24 & 15];
			break;
		case 1:
			out[i] = (unsigned char)(seed >> 24);
			break;
		default:
			out[i] = i % 70000 < 60000 ? 'z' : (unsigned char)(i / 7);
		}
	}
}

/* One member. `flush`: bytes between two flushes that end a block; 0: none. */
static size_t write_member(const unsigned char *plain, size_t n, int level, size_t flush,
			   unsigned char *out, size_t room)
{
	z_stream z = { .next_out = out, .avail_out = (uInt)room };

	assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 16 + MAX_WBITS, 8,
				      Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)(uintptr_t)plain;
	for (size_t at = 0; flush && at + flush < n; at += flush) {
		z.avail_in = (uInt)flush;
		assert_int_equal(deflate(&z, at / flush % 2 ? Z_SYNC_FLUSH : Z_FULL_FLUSH),
				 Z_OK);
	}
	z.avail_in = (uInt)(n - z.total_in);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	n = z.total_out;
	deflateEnd(&z);
	return n;
}

/* How a stream is written. */
struct writer {
	const char *what;
	size_t plain;   /* bytes */
	size_t member;  /* bytes of a member; 0: there is one */
	size_t flush;
	int level;
	size_t zeros;   /* behind the end */
	size_t window;  /* bytes that a point has of it, at most, on average */
};

static const struct writer writers[] = {
	{ "level 1", PLAIN, 0, 0, 1, 0, 16384 },
	{ "level 6", PLAIN, 0, 0, 6, 0, 16384 },
	{ "level 9", PLAIN, 0, 0, 9, 0, 16384 },
	{ "stored", PLAIN, 0, 0, 0, 0, 0 },
	{ "flushes", PLAIN, 0, 70001, 6, 0, 16384 },
	{ "small members", PLAIN, 60000, 0, 6, 0, 0 },
	{ "large members", PLAIN, 2500000, 0, 6, 0, 16384 },
	{ "members of a byte", 3000, 1, 0, 6, 0, 0 },
	{ "padded", PLAIN, 0, 0, 6, 5000, 16384 },
	{ "a few bytes", 100, 0, 0, 6, 0, 0 },
	{ "a byte", 1, 0, 0, 6, 512, 0 },
};

static void write_stream(struct fixture *f, const struct writer *writer)
{
	size_t member = writer->member ? writer->member : writer->plain;

	f->plain_size = writer->plain;
	f->stored_size = 0;
	for (size_t at = 0; at < writer->plain; at += member) {
		size_t n = writer->plain - at < member ? writer->plain - at : member;

		f->stored_size += write_member(f->plain + at, n, writer->level, writer->flush,
					       f->stored + f->stored_size,
					       STORED_ROOM - f->stored_size);
	}
	memset(f->stored + f->stored_size, 0, writer->zeros);
	f->stored_size += writer->zeros;
}

static void open_stream(struct fixture *f)
{
	f->source = memory_source("x.gz", f->stored, f->stored_size, f->stored_size);
	assert_int_equal(decoded_open(stream_kind_find(f->stored, HEAD), f->source, 0,
				      f->stored_size, "x.gz", &f->stream), 0);
}

static void new_fixture(struct fixture *f, const struct writer *writer)
{
	f->plain = malloc(PLAIN);
	f->stored = calloc(1, STORED_ROOM);
	assert_non_null(f->plain);
	assert_non_null(f->stored);
	fill_plain(f->plain, PLAIN);
	write_stream(f, writer);
	open_stream(f);
}

static void free_fixture(struct fixture *f)
{
	decoded_close(f->stream);
	source_close(f->source);
	free(f->plain);
	free(f->stored);
}

static bool stream_reads(const struct fixture *f, size_t length, uint64_t at)
{
	unsigned char *got = malloc(length + 1);
	bool same = source_pread(decoded_source(f->stream), got, length, at) == 0 &&
		    memcmp(got, f->plain + at, length) == 0;

	free(got);
	return same;
}

/* In order, then all over it, also across the points. */
static void test_streams_read_in_any_order(void **state)
{
	const struct writer *writer = &writers[unit_row(state)];
	struct fixture f;
	struct error e;
	uint64_t at = 0;

	new_fixture(&f, writer);
	assert_true(source_size(decoded_source(f.stream)) == DECODED_UNKNOWN);
	for (; at + PIECE <= f.plain_size; at += PIECE)
		assert_true(stream_reads(&f, PIECE, at));
	assert_true(stream_reads(&f, f.plain_size - at, at));
	assert_int_equal(decoded_finish(f.stream, &e), 0);
	assert_int_equal(source_size(decoded_source(f.stream)), f.plain_size);
	assert_int_equal(decoded_ignored(f.stream), 0);
	for (at = f.plain_size; at > PIECE; at -= PIECE)
		assert_true(stream_reads(&f, PIECE, at - PIECE));
	assert_true(stream_reads(&f, f.plain_size, 0));
	free_fixture(&f);
}

/* The tables of an index: chunks one behind the other, small windows, no gap. */
static void test_points_cover_the_stream(void **state)
{
	const struct writer *writer = &writers[unit_row(state)];
	struct stream_record record;
	uint64_t start = 0, stored = 0;
	struct fixture f;
	struct error e;

	new_fixture(&f, writer);
	assert_int_equal(decoded_finish(f.stream, &e), 0);
	decoded_record(f.stream, &record);
	assert_int_equal(record.length, f.plain_size);
	assert_in_range(record.count, 1, f.plain_size / (1 << 20) + 1);
	for (uint64_t i = 0; i < record.count; i++) {
		const struct volume_chunk *chunk = &record.chunks[i];

		assert_true(i == 0 ? chunk->start == 0 : chunk->start > start);
		assert_true(chunk->stored_at + chunk->stored_length <= f.stored_size);
		assert_true((record.points[i].bits & 255) < 8);
		assert_true(i == 0 || chunk->stored_at >= stored);
		stored = chunk->stored_at + chunk->stored_length;
		assert_true(record.points[i].window + record.points[i].window_length <=
			    record.window_bytes);
		start = chunk->start;
	}
	assert_in_range(record.window_bytes, 0, record.count * writer->window);
	free_fixture(&f);
}

static void test_a_read_past_the_end(void **state)
{
	unsigned char bytes[200];
	struct fixture f;

	(void)state;
	new_fixture(&f, &writers[9]);
	assert_int_equal(source_pread(decoded_source(f.stream), bytes, 101, 0), -ENODATA);
	assert_int_equal(source_size(decoded_source(f.stream)), 100);
	assert_true(stream_reads(&f, 100, 0));
	free_fixture(&f);
}

/* What is done to the stored bytes, and the words of the sentence. */
static const struct fault {
	const char *what;
	size_t cut;       /* bytes taken off the end */
	size_t at;        /* from the end, of bytes changed; 0: none */
	const char *words;
} faults[] = {
	{ "cut in its middle", 100000, 0, "is truncated: its compressed data end" },
	{ "cut in its trailer", 3, 0, "is truncated: its compressed data end" },
	{ "cut before its trailer", 8, 0, "is truncated: its compressed data end" },
	{ "another checksum", 0, 8, "the checksum does not match of the gzip member that "
				    "begins at byte 0" },
	{ "another length", 0, 4, "the checksum does not match of the gzip member that "
				  "begins at byte 0" },
	{ "a changed byte", 0, 400000, "x.gz' is damaged: " },
};

static void test_damage_is_a_sentence(void **state)
{
	const struct fault *fault = &faults[unit_row(state)];
	unsigned char bytes[PIECE];
	struct error e = { 0 };
	struct fixture f;
	int err = 0;

	new_fixture(&f, &writers[1]);
	decoded_close(f.stream);
	source_close(f.source);
	f.stored_size -= fault->cut;
	if (fault->at)
		f.stored[f.stored_size - fault->at] ^= 0x5a;
	open_stream(&f);
	for (uint64_t at = 0; !err && at < f.plain_size; at += PIECE)
		err = source_pread(decoded_source(f.stream), bytes,
				   f.plain_size - at < PIECE ? f.plain_size - at : PIECE, at);
	assert_int_equal(decoded_finish(f.stream, &e), -EBADMSG);
	assert_int_equal(decoded_fault(f.stream, &e), -EBADMSG);
	if (!strstr(e.text, fault->words))
		fail_msg("%s: %s", fault->what, e.text);
	free_fixture(&f);
}

static void test_bytes_behind_the_end_are_counted(void **state)
{
	struct fixture f;
	struct error e;

	(void)state;
	new_fixture(&f, &writers[1]);
	decoded_close(f.stream);
	source_close(f.source);
	memcpy(f.stored + f.stored_size, "garbage", 7);
	f.stored_size += 7;
	open_stream(&f);
	assert_int_equal(decoded_finish(f.stream, &e), 0);
	assert_int_equal(decoded_ignored(f.stream), 7);
	assert_int_equal(source_size(decoded_source(f.stream)), f.plain_size);
	free_fixture(&f);
}

/* Bits of deflate, the first in the lowest bit of a byte. */
struct bits {
	unsigned char *out;
	size_t count;
};

static void put_bits(struct bits *bits, unsigned value, unsigned n, bool code)
{
	for (unsigned i = 0; i < n; i++, bits->count++) {
		unsigned bit = value >> (code ? n - 1 - i : i) & 1;

		bits->out[bits->count / 8] |= (unsigned char)(bit << bits->count % 8);
	}
}

/* One block of fixed codes (RFC 1951, 3.2.6): a zero, repeated for 65 MiB. */
static size_t write_endless_block(unsigned char *out)
{
	static const unsigned char header[10] = { 0x1f, 0x8b, 8 };
	struct bits bits = { out, 8 * sizeof(header) };

	memset(out, 0, STORED_ROOM);
	memcpy(out, header, sizeof(header));
	put_bits(&bits, 1, 1, false); /* the last block, */
	put_bits(&bits, 1, 2, false); /* of fixed codes */
	put_bits(&bits, 0x30, 8, true); /* a literal zero */
	for (int i = 0; i < (65 << 20) / 258; i++) {
		put_bits(&bits, 0xc5, 8, true); /* 258 bytes, */
		put_bits(&bits, 0, 5, true);    /* from one byte back */
	}
	return bits.count / 8 + 100;
}

static void test_a_block_without_an_end_is_refused(void **state)
{
	struct error e = { 0 };
	struct fixture f;

	(void)state;
	new_fixture(&f, &writers[9]);
	decoded_close(f.stream);
	source_close(f.source);
	f.stored_size = write_endless_block(f.stored);
	open_stream(&f);
	assert_int_equal(decoded_finish(f.stream, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "can be entered nowhere for 64 MiB"));
	assert_non_null(strstr(e.text, "gzip -dc 'x.gz' | pigz"));
	free_fixture(&f);
}

/* A stream in a stream whose end is not known yet. */
static void test_a_stream_in_a_stream(void **state)
{
	struct decoded *inner;
	struct fixture f;
	struct error e;
	unsigned char *stored = malloc(STORED_ROOM), bytes[PIECE];

	(void)state;
	new_fixture(&f, &writers[1]);
	decoded_close(f.stream);
	source_close(f.source);
	memcpy(stored, f.stored, f.stored_size);
	f.stored_size = write_member(stored, f.stored_size, 1, 0, f.stored, STORED_ROOM);
	open_stream(&f);
	assert_int_equal(decoded_open(stream_kind_find(stored, HEAD),
				      decoded_source(f.stream), 0, DECODED_UNKNOWN, "x.gz.gz",
				      &inner), 0);
	for (uint64_t at = 0; at + PIECE <= f.plain_size; at += PIECE) {
		assert_int_equal(source_pread(decoded_source(inner), bytes, PIECE, at), 0);
		assert_memory_equal(bytes, f.plain + at, PIECE);
	}
	assert_int_equal(decoded_finish(inner, &e), 0);
	assert_int_equal(source_size(decoded_source(inner)), f.plain_size);
	decoded_close(inner);
	free(stored);
	free_fixture(&f);
}

static const struct CMUnitTest decoded[] = {
	unit_table(test_streams_read_in_any_order, writers, what),
	unit_table(test_points_cover_the_stream, writers, what),
	cmocka_unit_test(test_a_read_past_the_end),
	unit_table(test_damage_is_a_sentence, faults, what),
	cmocka_unit_test(test_bytes_behind_the_end_are_counted),
	cmocka_unit_test(test_a_block_without_an_end_is_refused),
	cmocka_unit_test(test_a_stream_in_a_stream),
};

UNIT_MAIN(decoded)
#else
#include "left_out.h"
#endif
