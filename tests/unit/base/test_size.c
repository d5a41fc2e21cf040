/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes and counts, read and written. */
#include "unit.h"

#include <errno.h>

#include "base/size.h"

static const struct {
	const char *text;
	uint64_t bytes;
} good[] = {
	{ "0", 0 }, { "4096", 4096 }, { "007", 7 },
	{ "1K", 1024 }, { "1k", 1024 }, { "1KiB", 1024 }, { "1kb", 1024 },
	{ "1M", 1 << 20 }, { "8G", UINT64_C(8) << 30 }, { "2T", UINT64_C(2) << 40 },
	{ "3P", UINT64_C(3) << 50 }, { "15E", UINT64_C(15) << 60 },
	{ "1.5T", UINT64_C(3) << 39 }, { "0.5K", 512 }, { "1.5k", 1536 },
	{ "18446744073709551615", UINT64_MAX },
	{ "9007199254740993", UINT64_C(9007199254740993) },
};

static const struct {
	const char *text;
	int err;
} bad[] = {
	{ "", -EINVAL }, { "G", -EINVAL }, { "-1", -EINVAL }, { "+1", -EINVAL },
	{ " 1", -EINVAL }, { ".5G", -EINVAL }, { "1X", -EINVAL }, { "1 G", -EINVAL },
	{ "1GG", -EINVAL }, { "1G ", -EINVAL }, { "1KiBi", -EINVAL }, { "1B", -EINVAL },
	{ "50%", -EINVAL }, { "inf", -EINVAL }, { "nan", -EINVAL },
	{ "18446744073709551616", -ERANGE }, { "16E", -ERANGE }, { "16384P", -ERANGE },
	{ "99999999999999999999999", -ERANGE }, { "1000000000000E", -ERANGE },
};

static void test_sizes_are_read(void **state)
{
	size_t i = unit_row(state);
	uint64_t bytes = 1234567;

	assert_int_equal(size_parse(good[i].text, &bytes), 0);
	assert_int_equal(bytes, good[i].bytes);
}

static void test_what_is_no_size_is_refused(void **state)
{
	size_t i = unit_row(state);
	uint64_t bytes;

	assert_int_equal(size_parse(bad[i].text, &bytes), bad[i].err);
}

static const struct {
	uint64_t bytes;
	const char *text;
} shown[] = {
	{ 0, "0 B" }, { 1023, "1023 B" }, { 1024, "1.0 KiB" }, { 1536, "1.5 KiB" },
	{ 10 * 1024, "10 KiB" }, { 1 << 20, "1.0 MiB" },
	{ UINT64_C(3) << 39, "1.5 TiB" }, { UINT64_MAX, "16 EiB" },
};

static void test_sizes_are_written(void **state)
{
	size_t i = unit_row(state);
	char text[SIZE_TEXT_BYTES];

	assert_ptr_equal(size_text(shown[i].bytes, text), text);
	assert_string_equal(text, shown[i].text);
}

static const struct {
	uint64_t count;
	const char *text;
} counts[] = {
	{ 0, "0" }, { 999, "999" }, { 1000, "1,000" }, { 12345, "12,345" },
	{ 123456, "123,456" }, { 1281167, "1,281,167" },
	{ UINT64_MAX, "18,446,744,073,709,551,615" },
};

static void test_counts_are_grouped(void **state)
{
	size_t i = unit_row(state);
	char text[SIZE_TEXT_BYTES];

	assert_ptr_equal(count_text(counts[i].count, text), text);
	assert_string_equal(text, counts[i].text);
}

static const struct CMUnitTest size[] = {
	unit_table(test_sizes_are_read, good, text),
	unit_table(test_what_is_no_size_is_refused, bad, text),
	unit_table(test_sizes_are_written, shown, text),
	unit_table(test_counts_are_grouped, counts, text),
};

UNIT_MAIN(size)
