/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plain headers against the reader of all others: behind a pax header for all members
 * that follow, that one reads everything. The same members have to come out, with such a
 * header in front and without.
 */
#include "unit.h"

#include "format/tar/header.h"
#include "format/tar/plain.h"
#include "tar_run.h"

enum { BLOCK = 512, MEMBERS = 5, ROOM = 64 * BLOCK, GLOBAL = 2 * BLOCK };

static unsigned seed;

static unsigned choose(unsigned n)
{
	seed = seed * 1103515245U + 12345U;
	return (seed >> 16) % n;
}

static void fix_checksum(unsigned char *block)
{
	unsigned sum = 0;
	char text[8];

	memset(block + 148, ' ', 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += block[i];
	snprintf(text, sizeof(text), "%06o", sum);
	memcpy(block + 148, text, 7);
}

static void put_header(unsigned char *block, const char *name, char type, unsigned size)
{
	memset(block, 0, BLOCK);
	snprintf((char *)block, 100, "%s", name);
	memcpy(block + 100, "0000644\0" "0001750\0" "0000144\0", 24);
	snprintf((char *)block + 124, 12, "%011o", size);
	snprintf((char *)block + 136, 12, "%011o", 1600000000U + choose(1000));
	block[156] = (unsigned char)type;
	memcpy(block + 257, choose(2) ? "ustar\0" "00" : "ustar  \0", 8);
	fix_checksum(block);
}

/* Numbers and texts as hostile, careless and merely old programs write them. */
static void disturb(unsigned char *block)
{
	static const unsigned places[] = { 0, 1, 7, 99, 100, 107, 108, 115, 116, 123, 124,
		125, 134, 135, 136, 146, 147, 156, 157, 257, 262, 263, 264, 265, 297, 329,
		345, 346, 499, 500, 508, 511 };
	static const char bytes[] = "\0\0 07589/.xgLS\t-\x80\xff";
	unsigned at = places[choose(sizeof(places) / sizeof(*places))];

	if (choose(4) == 0)
		at = choose(BLOCK);
	block[at] = (unsigned char)bytes[choose(sizeof(bytes) - 1)];
	/* with a size a hard link is another thing behind a pax header: see below */
	if (block[156] == '1')
		memcpy(block + 124, "00000000000", 12);
	/* a link to nothing is a link if there was one before */
	if ((block[156] == '1' || block[156] == '2') && !block[157])
		block[157] = 'l';
	if (choose(8))
		fix_checksum(block);
}

/* Members, most of them as they should be; returns the bytes. */
static size_t make_archive(unsigned char *out)
{
	static const char types[] = "00000005\0" "12";
	size_t n = 0;

	for (unsigned i = 0; i < MEMBERS; i++) {
		char type = types[choose(sizeof(types) - 1)], name[100];
		unsigned size = type == '0' || !type ? choose(3000) : 0;

		snprintf(name, sizeof(name), "class-%u/%u%s", choose(9), i,
			 type == '5' ? "/" : ".JPEG");
		put_header(out + n, name, type, size);
		if (type == '1' || type == '2')
			memcpy(out + n + 157, "class-1/0.JPEG", 14);
		if (choose(3) == 0)
			memcpy(out + n + 345, "the/front", 9);
		fix_checksum(out + n);
		if (choose(2))
			disturb(out + n);
		n += BLOCK;
		memset(out + n, 'd', size);
		memset(out + n + size, 0, BLOCK);
		n += (size + BLOCK - 1) / BLOCK * BLOCK;
	}
	memset(out + n, 0, 2 * BLOCK);
	return n + 2 * BLOCK;
}

/* A pax header: of all that follow, or of the next one. */
static void put_pax(unsigned char *out, char type)
{
	static const char text[] = "28 SCHILY.xattr.user.x=text\n";

	put_header(out, "pax", type, sizeof(text) - 1);
	memset(out + BLOCK, 0, BLOCK);
	memcpy(out + BLOCK, text, sizeof(text) - 1);
}

static void assert_same_entry(const struct entry *plain, const struct entry *other)
{
	assert_int_equal(plain->kind, other->kind);
	assert_string_equal(plain->path, other->path);
	assert_int_equal(plain->mode, other->mode);
	assert_int_equal(plain->uid, other->uid);
	assert_int_equal(plain->gid, other->gid);
	assert_int_equal(plain->mtime, other->mtime);
	assert_int_equal(plain->size, other->size);
	assert_int_equal(plain->extent_count, other->extent_count);
	for (size_t i = 0; i < plain->extent_count; i++) {
		assert_int_equal(plain->extents[i].offset + GLOBAL, other->extents[i].offset);
		assert_int_equal(plain->extents[i].length, other->extents[i].length);
	}
}

/* Whether it could be read. */
static bool compare(const unsigned char *archive, size_t n)
{
	struct run plain, other;

	run_write_file("without.tar", archive + GLOBAL, n);
	run_write_file("with.tar", archive, GLOBAL + n);
	run_scan(&plain, "without.tar");
	run_scan(&other, "with.tar");
	if (plain.err != other.err)
		print_message("# %s, %s\n", plain.e.text, other.e.text);
	assert_int_equal(plain.err, other.err);
	assert_int_equal(entries_count(plain.entries), entries_count(other.entries));
	for (size_t i = 0; i < entries_count(plain.entries); i++)
		assert_same_entry(entries_get(plain.entries, i),
				  entries_get(other.entries, i));
	run_end(&plain);
	run_end(&other);
	return plain.err == 0;
}

static void test_as_others(void **state)
{
	static unsigned char archive[ROOM];
	unsigned whole = 0;

	(void)state;
	for (unsigned i = 0; i < 4000; i++) {
		size_t n;

		seed = i;
		put_pax(archive, 'g');
		n = make_archive(archive + GLOBAL);
		whole += compare(archive, n);
	}
	assert_true(whole > 1000 && whole < 3500);
}

/*
 * A hard link with a size has data behind a pax header, however far behind, and else
 * it may have none: plain members between them change nothing.
 */
static void test_pax_is_remembered(void **state)
{
	static unsigned char archive[ROOM];
	unsigned char *at = archive + GLOBAL;

	(void)state;
	seed = 1;
	put_pax(archive, 'g');
	put_header(at, "first", '0', 0);
	put_pax(at + BLOCK, 'x');
	at += BLOCK + GLOBAL;
	for (unsigned i = 0; i < 20; i++, at += BLOCK) {
		char name[16];

		snprintf(name, sizeof(name), "plain-%u", i);
		put_header(at, name, '0', 0);
	}
	put_header(at, "link", '1', 3 * BLOCK);
	memcpy(at + 157, "first", 5);
	memcpy(at + 257, "ustar\0" "00", 8);
	fix_checksum(at);
	for (unsigned i = 0; i < 3; i++)
		put_header(at + BLOCK + i * BLOCK, "not-shown", '0', 0);
	put_header(at + 4 * BLOCK, "last", '0', 0);
	memset(at + 5 * BLOCK, 0, 2 * BLOCK);
	assert_true(compare(archive, (size_t)(at + 7 * BLOCK - archive) - GLOBAL));
}

static void test_what_is_plain(void **state)
{
	unsigned char block[BLOCK];
	struct tar_plain plain;

	(void)state;
	seed = 1;
	put_header(block, "n01440764/n01440764_10026.JPEG", '0', 110000);
	assert_true(tar_plain_parse(block, &plain));
	assert_string_equal(plain.path, "n01440764/n01440764_10026.JPEG");
	assert_int_equal(plain.size, 110000);
	assert_int_equal(plain.mode, 0644);
	assert_int_equal(plain.uid, 1000);
	assert_int_equal(plain.gid, 100);
	assert_false(plain.directory);
	block[0]++; /* the checksum says so */
	assert_false(tar_plain_parse(block, &plain));
	memset(block, 0, sizeof(block));
	assert_false(tar_plain_parse(block, &plain));
	memset(block, 0xff, sizeof(block));
	assert_false(tar_plain_parse(block, &plain));
}

static void test_longest_path(void **state)
{
	unsigned char block[BLOCK];
	struct tar_plain plain;

	(void)state;
	put_header(block, "", '0', 0);
	memcpy(block + 257, "ustar\0" "00", 8);
	memset(block, 'n', 100);
	memset(block + 345, 'p', 155);
	fix_checksum(block);
	assert_true(tar_plain_parse(block, &plain));
	assert_int_equal(strlen(plain.path), 256);
	assert_int_equal(plain.path[155], '/');
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_as_others),
	cmocka_unit_test(test_pax_is_remembered),
	cmocka_unit_test(test_what_is_plain),
	cmocka_unit_test(test_longest_path),
};

UNIT_MAIN_IN(tests, run_enter, run_leave)
