/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names in the character sets that libc knows. */
#include "unit.h"

#include <errno.h>

#include "os/charset.h"

static const struct text {
	const char *set, *bytes, *utf8;
} texts[] = {
	{ "GBK", "\xca\xfd\xbe\xdd", "数据" },
	{ "SHIFT-JIS", "\x89\xe6\x91\x9c", "画像" },
	{ "CP1251", "\xc4\xe0", "Да" },
	{ "ISO-2022-JP", "\x1b$B2hA|\x1b(B", "画像" }, /* with a state */
	{ "UTF-8", "ä", "ä" },
};

static void test_converts(void **state)
{
	const struct text *row = &texts[unit_row(state)];
	struct charset *charset;
	char out[64] = "";

	assert_int_equal(charset_load(row->set), 0);
	charset = charset_open(row->set);
	assert_non_null(charset);
	for (int i = 0; i < 2; i++) {
		ssize_t n = charset_to_utf8(charset, row->bytes, strlen(row->bytes), out,
					    sizeof(out));

		assert_int_equal(n, strlen(row->utf8));
		assert_memory_equal(out, row->utf8, strlen(row->utf8));
	}
	charset_close(charset);
}

static void test_refuses(void **state)
{
	struct charset *charset;
	char out[8];

	(void)state;
	assert_int_equal(charset_load("no-such-set"), -EINVAL);
	assert_null(charset_open("no-such-set"));
	assert_int_equal(charset_load("GBK"), 0);
	charset = charset_open("GBK");
	assert_non_null(charset);
	assert_int_equal(charset_to_utf8(charset, "\xff\xff", 2, out, sizeof(out)), -EILSEQ);
	assert_int_equal(charset_to_utf8(charset, "a\xca", 2, out, sizeof(out)), -EILSEQ);
	assert_int_equal(charset_to_utf8(charset, "123456789", 9, out, sizeof(out)), -E2BIG);
	assert_int_equal(charset_to_utf8(charset, "abc", 3, out, sizeof(out)), 3);
	assert_int_equal(charset_to_utf8(charset, "", 0, out, sizeof(out)), 0);
	charset_close(charset);
	charset_close(NULL);
}

static const struct CMUnitTest tests[] = {
	unit_table(test_converts, texts, set),
	cmocka_unit_test(test_refuses),
};

UNIT_MAIN_IN(tests, NULL, NULL)
