/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams that are decoded once, by every writer, cut short anywhere, and with a wrong bit. */
#include "config.h"
#include "unit.h"

#include <errno.h>

#include "source/memory_source.h"
#include "stream/unpack.h"

enum { PLAIN = 700000, CUTS = 37, BITS = 61 };

static const struct writer {
	const char *what, *program, *command;
	bool built;    /* with its library */
	bool checked;  /* a wrong bit is seen by its checksums */
} writers[] = {
	{ "one zstd frame", "zstd", "zstd -q --check -c", WITH_ZSTD, true },
	{ "a long window", "zstd", "zstd -q --check --long=27 -c", WITH_ZSTD, true },
	{ "xz", "xz", "xz -0 -T1 -c", WITH_LZMA, true },
	{ "lzma", "xz", "xz -0 --format=lzma -c", WITH_LZMA, false },
	{ "lz4", "lz4", "lz4 -q -c", WITH_LZ4, true },
	{ "lz4, dependent blocks", "lz4", "lz4 -q -BD -c", WITH_LZ4, true },
	{ "gzip", "gzip", "gzip -c", WITH_ZLIB, true },
	{ "bzip2", "bzip2", "bzip2 -c", WITH_BZIP2, true },
};

struct output {
	unsigned char bytes[2 * PLAIN];
	size_t count;
	size_t stop; /* writing fails behind so many bytes; 0: never */
};

static unsigned char plain[PLAIN];
static struct output out;

static int take(void *context, const void *bytes, size_t n)
{
	struct output *to = context;

	if (n > sizeof(to->bytes) - to->count || (to->stop && to->count + n > to->stop))
		return -ENOSPC;
	memcpy(to->bytes + to->count, bytes, n);
	to->count += n;
	return 0;
}

static int unpack(const unsigned char *stored, size_t n, struct error *e)
{
	struct source *source = memory_source("x.stream", stored, n, n);
	int err;

	out.count = 0;
	err = unpack_stream(source, 0, "x.stream", take, &out, e);
	source_close(source);
	return err;
}

/* The output of a row's program for the plain bytes; NULL: the row is skipped. */
static unsigned char *write_row(const struct writer *row, size_t *n)
{
	char command[200];

	if (!row->built)
		return NULL;
	snprintf(command, sizeof(command), "command -v %s >found || : >found", row->program);
	unit_shell(command);
	free(unit_read("found", n));
	if (*n == 0)
		return NULL;
	unit_write("plain", plain, sizeof(plain));
	snprintf(command, sizeof(command), "%s <plain >stored", row->command);
	unit_shell(command);
	return (unsigned char *)unit_read("stored", n);
}

static void test_writers(void **state)
{
	size_t n;
	unsigned char *stored = write_row(&writers[unit_row(state)], &n);
	struct error e;

	if (!stored)
		skip();
	assert_int_equal(unpack(stored, n, &e), 0);
	assert_int_equal(out.count, sizeof(plain));
	assert_memory_equal(out.bytes, plain, sizeof(plain));
	out.stop = PLAIN / 2;
	assert_int_equal(unpack(stored, n, &e), -ENOSPC);
	out.stop = 0;
	free(stored);
}

/* Of a .lzma that ends early the decoder alone sees that it has no end. */
static void test_cut_short(void **state)
{
	size_t n;
	unsigned char *stored = write_row(&writers[unit_row(state)], &n);

	if (!stored)
		skip();
	for (size_t i = 1; i < CUTS; i++) {
		struct error e = { 0 };

		assert_int_equal(unpack(stored, n * i / CUTS, &e), -EBADMSG);
		assert_non_null(strstr(e.text, "'x.stream' is "));
	}
	free(stored);
}

/* Never wrong bytes without an error, where the writer has a checksum. */
static void test_wrong_bits(void **state)
{
	const struct writer *row = &writers[unit_row(state)];
	size_t n;
	unsigned char *stored = write_row(row, &n);

	if (!stored)
		skip();
	for (size_t i = 0; i < BITS; i++) {
		struct error e = { 0 };
		size_t at = 20 + (n - 40) * i / BITS;
		int err;

		stored[at] ^= 0x10;
		err = unpack(stored, n, &e);
		stored[at] ^= 0x10;
		if (row->checked)
			assert_true(err || (out.count == PLAIN &&
					    memcmp(out.bytes, plain, PLAIN) == 0));
		if (err == -EBADMSG)
			assert_non_null(strstr(e.text, "'x.stream' is "));
	}
	free(stored);
}

static void test_no_stream(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(unpack(plain, 1000, &e), -EBADMSG);
	assert_false(unpack_alone_reads(plain, 1000));
}

static const struct CMUnitTest tests[] = {
	unit_table(test_writers, writers, what),
	unit_table(test_cut_short, writers, what),
	unit_table(test_wrong_bits, writers, what),
	cmocka_unit_test(test_no_stream),
};

int main(void)
{
	uint32_t seed = 1;

	for (size_t i = 0; i < sizeof(plain); i++) {
		seed = seed * 1664525 + 1013904223;
		plain[i] = i / 50000 % 2 ? (unsigned char)(seed >> 24) :
					   (unsigned char)"words of text "[seed >> 29];
	}
	return unit_run(tests, COUNT(tests), unit_enter, unit_leave);
}
