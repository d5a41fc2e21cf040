/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Characters of UTF-8: what is one, surrogates, and names of files as Python has them. */
#include "unit.h"

#include <errno.h>

#include "base/utf8.h"

static void test_every_character_comes_back(void **state)
{
	char bytes[UTF8_MOST];

	(void)state;
	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		uint32_t found = ~c;
		unsigned n = utf8_encode(bytes, c);

		if (utf8_decode(bytes, n, &found) != n || found != c)
			fail_msg("U+%04X is U+%04X", c, found);
		for (unsigned i = 1; i < n; i++)
			if (utf8_decode(bytes, i, &found))
				fail_msg("U+%04X is one of %u bytes", c, i);
	}
}

static const char *const others[] = {
	"\x80", "\xbf", "\xc0\xaf", "\xc1\xbf", "\xc3\x28", "\xe0\x80\xaf",
	"\xe2\x82\x41", "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80",
	"\xf5\x80\x80\x80", "\xff\xfe",
};

static void test_other_bytes_are_none(void **state)
{
	size_t i = unit_row(state);
	uint32_t found;

	assert_int_equal(utf8_decode(others[i], strlen(others[i]), &found), 0);
}

static void test_hexadecimal_digits(void **state)
{
	uint32_t found = 7;

	(void)state;
	assert_true(utf8_hex("d83D", 4, 4, &found) && found == 0xd83d);
	assert_true(utf8_hex("fFfFfFfFg", 9, 8, &found) && found == UINT32_MAX);
	assert_false(utf8_hex("d83", 3, 4, &found));
	assert_false(utf8_hex("d83g", 4, 4, &found));
	assert_false(utf8_hex("+123", 4, 4, &found));
	assert_false(utf8_hex(" 123", 4, 4, &found));
}

static void expect_name(const char *text, const char *wanted)
{
	char copy[64];
	ptrdiff_t n;

	strcpy(copy, text);
	n = utf8_name(copy, strlen(copy));
	assert_int_equal(n, wanted ? (ptrdiff_t)strlen(wanted) : -EBADMSG);
	if (wanted)
		assert_memory_equal(copy, wanted, strlen(wanted));
}

static void test_names_of_files(void **state)
{
	(void)state;
	expect_name("", "");
	expect_name("gr\xc3\xbc\xc3\x9f \xf0\x9f\x8c\xbe", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x8c\xbe");
	expect_name("a\xed\xb2\x80z\xed\xb3\xbf", "a\x80z\xff"); /* U+DC80, U+DCFF */
	expect_name("\xed\xb1\xbf", NULL);                        /* U+DC7F, */
	expect_name("\xed\xa0\xbd", NULL);                        /* U+D83D */
	expect_name("\xed\xb4\x80", NULL);                        /* and U+DD00 */
	expect_name("a\xff", NULL);
}

static const struct CMUnitTest utf8[] = {
	cmocka_unit_test(test_every_character_comes_back),
	unit_texts(test_other_bytes_are_none, others),
	cmocka_unit_test(test_hexadecimal_digits),
	cmocka_unit_test(test_names_of_files),
};

UNIT_MAIN(utf8)
