/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of Snappy, element by element as its format description has them. */
#include "kit.h"

#include <errno.h>

enum { ROOM = 64, LONG = 70000 };

static const struct block {
	const char *name, *bytes;
	size_t n;
	const char *plain; /* NULL: it is damaged */
} blocks[] = {
#define BLOCK(name, bytes, plain) { name, bytes, sizeof(bytes) - 1, plain },
	BLOCK("empty", "\000", "")
	BLOCK("literal", "\003\010abc", "abc")
	BLOCK("literal-with-a-byte", "\003\360\002abc", "abc")
	BLOCK("literal-with-four-bytes", "\003\374\002\000\000\000abc", "abc")
	BLOCK("two-literals", "\004\004ab\004cd", "abcd")
	BLOCK("copy-1", "\010\014abcd\001\004", "abcdabcd")
	BLOCK("copy-2", "\007\014abcd\012\004\000", "abcdabc")
	BLOCK("copy-4", "\006\014abcd\007\003\000\000\000", "abcdbc")
	BLOCK("copy-of-itself", "\011\000a\035\001", NULL)
	BLOCK("run", "\005\000a\001\001", "aaaaa")
	BLOCK("none", "", NULL)
	BLOCK("length-without-end", "\200", NULL)
	BLOCK("length-of-6-bytes", "\200\200\200\200\200\000", NULL)
	BLOCK("shorter-than-said", "\004\010abc", NULL)
	BLOCK("longer-than-said", "\002\010abc", NULL)
	BLOCK("more-than-room", "\301\000\000a", NULL)
	BLOCK("cut-literal", "\003\010ab", NULL)
	BLOCK("cut-length-of-literal", "\003\364\002", NULL)
	BLOCK("literal-of-2^32", "\003\374\377\377\377\377abc", NULL)
	BLOCK("cut-copy-1", "\005\000a\001", NULL)
	BLOCK("cut-copy-2", "\005\000a\016\001", NULL)
	BLOCK("cut-copy-4", "\005\000a\017\001\000\000", NULL)
	BLOCK("offset-0", "\005\000a\001\000", NULL)
	BLOCK("offset-before-the-start", "\005\000a\001\002", NULL)
	BLOCK("copy-at-the-start", "\004\001\001", NULL)
#undef BLOCK
};

static void test_block(void **state)
{
	const struct block *block = &blocks[unit_row(state)];
	struct guarded in = guarded_copy(block->bytes, block->n), out = guarded_new(ROOM);
	ssize_t got = kit_decode(CODEC_SNAPPY, in.at, in.n, &out);

	if (block->plain) {
		assert_int_equal(got, strlen(block->plain));
		assert_memory_equal(out.at, block->plain, strlen(block->plain));
	} else {
		assert_int_equal(got, -EBADMSG);
	}
	guarded_free(&in);
	guarded_free(&out);
}

/* A literal whose length takes three bytes, as those of images do; and each beginning of it. */
static void test_long(void **state)
{
	struct guarded in = guarded_new(LONG + 7), out = guarded_new(LONG);

	(void)state;
	memcpy(in.at, "\360\242\004\370\157\021\001", 7);
	kit_fill(in.at + 7, LONG);
	assert_int_equal(kit_decode(CODEC_SNAPPY, in.at, in.n, &out), LONG);
	assert_memory_equal(out.at, in.at + 7, LONG);
	for (size_t n = 0; n < in.n; n += n < 64 ? 1 : 997)
		assert_int_equal(kit_decode(CODEC_SNAPPY, in.at, n, &out), -EBADMSG);
	guarded_free(&in);
	guarded_free(&out);
}

static const struct CMUnitTest snappy[] = {
	unit_table(test_block, blocks, name),
	cmocka_unit_test(test_long),
};

UNIT_MAIN(snappy)
