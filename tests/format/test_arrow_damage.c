/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Damaged and hostile Arrow files: a sentence, in bounded time, and no crash. */
#include "config.h"
#if WITH_ZLIB
#include "rows_run.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "format/arrow/schema.h"
#include "base/bytes.h"
#include "base/log.h"

/* Any damage ends in a sentence, or in samples that lie within the file. */
static int scan_anyhow(const char *path)
{
	struct run run;
	int err;

	run_window(&run, path, 0, NULL);
	err = run.err;
	if (err) {
		assert_int_equal(err, -EBADMSG);
		assert_refused(&run, "; ");
	} else {
		free(run_listing(&run));
	}
	run_end(&run);
	return err;
}

static const char *const files[] = { "ImageNet-val.arrow", "old.arrow", "kinds.arrow",
				     "pets-train-00000-of-00002.arrow", "wide.arrow",
				     "views.test.arrow", "words.arrow",
				     "polars-train-file.arrow", "datumaro.arrow",
				     "dictionary-file.arrow", "dictionary-stream.arrow",
				     "label-hot.arrow", "label-hot-bool.arrow",
				     "label-coded.arrow", "label-float.arrow" };

/* Every byte, changed in two ways. */
static void test_flipped(void **state)
{
	static const unsigned char changes[] = { 0x01, 0xff };
	unsigned refused = 0;

	(void)state;
	log_level_now = LOG_LEVEL_ERROR;
	for (size_t i = 0; i < COUNT(files); i++) {
		size_t n;
		char *bytes = fixture(files[i], &n);
		int fd;

		unit_write("flipped", bytes, n);
		fd = open("flipped", O_WRONLY);
		assert_true(fd >= 0);
		for (size_t at = 0; at < n; at++) {
			for (size_t c = 0; c < COUNT(changes); c++) {
				char changed = (char)(bytes[at] ^ changes[c]);

				assert_int_equal(pwrite(fd, &changed, 1, (off_t)at), 1);
				refused += scan_anyhow("flipped") != 0;
			}
			assert_int_equal(pwrite(fd, bytes + at, 1, (off_t)at), 1);
		}
		close(fd);
		free(bytes);
	}
	assert_true(refused > 1000);
}

/* Cut short at each length; only a stream may be whole where a batch ends. */
static void test_truncated(void **state)
{
	(void)state;
	log_level_now = LOG_LEVEL_ERROR;
	for (size_t i = 0; i < COUNT(files); i++) {
		unsigned whole = 0;
		size_t n;
		char *bytes = fixture(files[i], &n);
		bool stream = memcmp(bytes, "ARROW1", 6) != 0;

		unit_write("cut", bytes, n);
		for (size_t length = n - 1; length > 0; length--) {
			assert_int_equal(truncate("cut", (off_t)length), 0);
			whole += scan_anyhow("cut") == 0;
		}
		assert_true(stream ? whole >= 2 && whole <= 12 : whole == 0);
		free(bytes);
	}
}

/* Where the record batches are in the footer of a file. */
static struct flat_vector footer_blocks(const char *bytes, size_t n)
{
	size_t length = little_endian((const unsigned char *)bytes + n - 10, 4);
	struct flat_vector blocks;
	struct flat_table root;

	assert_true(flat_root(bytes + n - 10 - length, length, &root));
	assert_true(flat_vector(&root, 3, 24, &blocks));
	return blocks;
}

static void put(unsigned char *at, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static unsigned char *block_at(const struct flat_vector *blocks, uint32_t i)
{
	return (unsigned char *)(uintptr_t)flat_item(blocks, i);
}

static void assert_scan_refused(const char *bytes, size_t n, const char *word)
{
	struct run run;

	unit_write("hostile", bytes, n);
	run_window(&run, "hostile", 0, NULL);
	assert_refused(&run, word);
	run_end(&run);
}

static void test_footer(void **state)
{
	unsigned char first[24];
	size_t n;
	char *bytes = fixture("ImageNet_train.arrow", &n);
	struct flat_vector blocks = footer_blocks(bytes, n);
	struct sample sample;
	struct run run;

	(void)state;
	assert_int_equal(blocks.count, 24);
	memcpy(first, block_at(&blocks, 0), sizeof(first));

	/* in another order than they lie: that is their order */
	memcpy(block_at(&blocks, 0), block_at(&blocks, 23), sizeof(first));
	memcpy(block_at(&blocks, 23), first, sizeof(first));
	unit_write("other-order", bytes, n);
	run_window(&run, "other-order", 0, NULL);
	assert_int_equal(run.err, 0);
	assert_int_equal(samples_group(run.samples, 0)->rows, 24);
	samples_get(run.samples, 0, 0, &sample);
	assert_int_equal(sample.body.length, 20 + 7 * 23);
	samples_get(run.samples, 0, 23, &sample);
	assert_int_equal(sample.body.length, 20);
	run_end(&run);

	memcpy(block_at(&blocks, 23), block_at(&blocks, 4), sizeof(first));
	assert_scan_refused(bytes, n, "overlap");

	memcpy(block_at(&blocks, 0), first, sizeof(first));
	put(block_at(&blocks, 5), n - 64, 8);
	assert_scan_refused(bytes, n, "record batch 5");
	put(block_at(&blocks, 5), UINT64_MAX - 7, 8);
	assert_scan_refused(bytes, n, "lies outside the file");
	free(bytes);
}

/* The offsets of the one row of batch 3, whose image has 41 bytes. */
static void test_offsets(void **state)
{
	static const struct {
		uint32_t from, to;
		const char *word; /* NULL: that is good */
	} offsets[] = {
		{ 2, 41, NULL }, /* a slice need not begin at 0 */
		{ 41, 41, NULL },
		{ 41, 0, "record batch 3" },
		{ 0, 41 + 4096, "leave its buffer" },
		{ 0xffffffff, 41, "decrease" },
	};
	static const char stored[] = { 0, 0, 0, 0, 41, 0, 0, 0 };
	size_t n;
	char *bytes = fixture("ImageNet_train.arrow", &n);
	unsigned char *at = memmem(bytes, n, stored, sizeof(stored));
	struct run run;

	(void)state;
	assert_non_null(at);
	for (size_t i = 0; i < COUNT(offsets); i++) {
		struct sample sample;

		put(at, offsets[i].from, 4);
		put(at + 4, offsets[i].to, 4);
		if (offsets[i].word) {
			assert_scan_refused(bytes, n, offsets[i].word);
			continue;
		}
		unit_write("slice", bytes, n);
		run_window(&run, "slice", 0, NULL);
		assert_int_equal(run.err, 0);
		samples_get(run.samples, 0, 3, &sample);
		assert_int_equal(sample.body.length, offsets[i].to - offsets[i].from);
		run_end(&run);
	}
	free(bytes);
}

/* words.arrow with so many rows in its batch, all of which are empty. */
static void write_empty_rows(uint64_t rows)
{
	size_t n;
	char *bytes = fixture("words.arrow", &n);
	uint64_t schema = 8 + little_endian((unsigned char *)bytes + 4, 4);
	uint64_t length = little_endian((unsigned char *)bytes + schema + 4, 4);
	struct flat_table root, header;
	struct flat_vector nodes, buffers;
	uint64_t number = 4;

	assert_true(flat_root(bytes + schema + 8, length, &root));
	assert_true(flat_table(&root, 2, &header));
	assert_true(flat_vector(&header, 1, 16, &nodes));
	assert_true(flat_vector(&header, 2, 16, &buffers));
	for (uint32_t i = 0; i < nodes.count; i++)
		put((unsigned char *)(uintptr_t)flat_item(&nodes, i), rows, 8);
	for (uint32_t i = 0; i < buffers.count; i++) {
		put((unsigned char *)(uintptr_t)flat_item(&buffers, i), 0, 8);
		put((unsigned char *)(uintptr_t)flat_item(&buffers, i) + 8, 8 * rows, 8);
	}
	for (size_t i = 0; i < 2; i++) { /* the rows, and the body's length */
		const struct flat_table *table = i ? &root : &header;
		const unsigned char *vtable = table->in.bytes + table->vtable;
		unsigned slot = i ? 3 : 0;

		put((unsigned char *)(uintptr_t)table->in.bytes + table->at +
			    little_endian(vtable + 4 + 2 * slot, 2), i ? 8 * rows : rows, 8);
	}
	assert_true(flat_number(&header, 0, 8, &number));
	assert_int_equal(number, rows);
	unit_write("empty", bytes, (size_t)(schema + 8 + length));
	assert_int_equal(truncate("empty", (off_t)(schema + 8 + length + 8 * rows)), 0);
	free(bytes);
}

/* Rows that take no room may not take memory without end. */
static void test_empty_rows(void **state)
{
	struct run run;

	(void)state;
	write_empty_rows(100000);
	run_window(&run, "empty", 0, "other");
	assert_int_equal(run.err, 0);
	assert_int_equal(run.passed, 100000);
	run_end(&run);
	write_empty_rows(3 << 20);
	run_window(&run, "empty", 0, "other");
	assert_refused(&run, "more rows than there is room for");
	run_end(&run);
}

/*
 * A schema of one column, whose children are twice the same field, and so on: `levels`
 * of them. References lead to 2^levels fields.
 */
static size_t write_shared(unsigned char *bytes, unsigned levels, unsigned children)
{
	enum { ROOT_VTABLE = 4, VTABLE = 12, ROOT = 28, FIELDS = 36, FIRST = 44, FIELD = 24 };
	size_t at = FIRST;

	memset(bytes, 0, FIRST);
	put(bytes, ROOT, 4);
	put(bytes + ROOT_VTABLE, 8, 2);
	put(bytes + ROOT_VTABLE + 2, 8, 2);
	put(bytes + ROOT_VTABLE + 6, 4, 2); /* the columns */
	put(bytes + VTABLE, 16, 2);
	put(bytes + VTABLE + 2, 12, 2);
	put(bytes + VTABLE + 8, 8, 2);  /* the type */
	put(bytes + VTABLE + 14, 4, 2); /* the children */
	put(bytes + ROOT, ROOT - ROOT_VTABLE, 4);
	put(bytes + ROOT + 4, FIELDS - ROOT - 4, 4);
	put(bytes + FIELDS, 1, 4);
	put(bytes + FIELDS + 4, FIRST - FIELDS - 4, 4);
	for (unsigned i = 0; i < levels; i++, at += FIELD) {
		unsigned n = i + 1 < levels ? children : 0;

		memset(bytes + at, 0, FIELD);
		put(bytes + at, at - VTABLE, 4);
		put(bytes + at + 4, 8, 4);
		put(bytes + at + 8, 13, 1); /* struct */
		put(bytes + at + 12, n, 4);
		put(bytes + at + 16, 8, 4);
		put(bytes + at + 20, 4, 4);
	}
	return at;
}

static void assert_schema(unsigned levels, unsigned children, const char *problem)
{
	unsigned char bytes[4096];
	size_t n = write_shared(bytes, levels, children);
	struct arrow_schema schema;
	struct flat_table root;

	assert_true(n <= sizeof(bytes));
	assert_true(flat_root(bytes, n, &root));
	assert_int_equal(arrow_schema_read(&root, &schema), problem ? -EBADMSG : 0);
	if (problem)
		assert_non_null(strstr(schema.problem, problem));
	else
		assert_int_equal(schema.nodes, (1 << levels) - 1);
	arrow_schema_free(&schema);
}

static void test_shared_tables(void **state)
{
	(void)state;
	assert_schema(10, 2, NULL);
	assert_schema(60, 2, "more than 65,536");
	assert_schema(100, 1, "deeper than 64");
}

/* Some bytes at once, at random, but the same each time. */
static void test_random(void **state)
{
	uint64_t seed = 1;

	(void)state;
	log_level_now = LOG_LEVEL_ERROR;
	for (size_t i = 0; i < COUNT(files); i++) {
		size_t n;
		char *bytes = fixture(files[i], &n), *copy = malloc(n);

		assert_non_null(copy);
		for (unsigned run = 0; run < 300; run++) {
			memcpy(copy, bytes, n);
			for (unsigned change = 0; change < 6; change++) {
				seed = seed * UINT64_C(6364136223846793005) + 1442695;
				copy[(seed >> 33) % n] = (char)(seed >> 20);
			}
			unit_write("random", copy, n);
			scan_anyhow("random");
		}
		free(copy);
		free(bytes);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_flipped),
	cmocka_unit_test(test_truncated),
	cmocka_unit_test(test_random),
	cmocka_unit_test(test_footer),
	cmocka_unit_test(test_offsets),
	cmocka_unit_test(test_empty_rows),
	cmocka_unit_test(test_shared_tables),
};

UNIT_MAIN(tests)

#else
#include "left_out.h"
#endif
