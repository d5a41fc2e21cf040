/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that must lie before an extent, and their place. */
#include "build/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "source/memory_source.h"
#include "volume/guard.h"
#include "volume/volume.h"

enum { HEADER = 16 };

/* HDF5 File Format Specification 3.0, III.E: index, references, reserved, size. */
static void put_header(unsigned char *at, uint16_t index, uint64_t size)
{
	memset(at, 0, HEADER);
	at[0] = (unsigned char)index;
	at[1] = (unsigned char)(index >> 8);
	at[2] = 1;
	memset(at + 4, 0xee, 4); /* whatever is reserved */
	for (int i = 0; i < 8; i++)
		at[8 + i] = (unsigned char)(size >> 8 * i);
}

static int from_source(const void *source, void *buffer, size_t length, uint64_t offset)
{
	return source_pread(source, buffer, length, offset);
}

static const struct {
	const char *what;
	uint16_t index;
	uint64_t says, asked;
	int result, first; /* of an object that is taken for the first */
} headers[] = {
	{ "right", 1, 100, 100, 0, 0 },
	{ "another object", 2, 100, 100, 0, -EBADMSG },
	{ "a high index", 0xff00, 100, 100, 0, -EBADMSG },
	{ "1 and 255 in two bytes", 0xff01, 100, 100, 0, -EBADMSG },
	{ "the next one's size", 1, 99, 100, -EBADMSG, -EBADMSG },
	{ "larger", 1, 101, 100, -EBADMSG, -EBADMSG },
	{ "the free space's index", 0, 100, 100, -EBADMSG, -EBADMSG },
	{ "a size of 64 bits", 1, (UINT64_C(1) << 32) + 100, 100, -EBADMSG, -EBADMSG },
	{ "empty", 1, 0, 100, -EBADMSG, -EBADMSG },
};

static void test_headers(void **state)
{
	size_t i = unit_row(state);
	unsigned char bytes[200] = { 0 };
	struct source *source;

	put_header(bytes + 50, headers[i].index, headers[i].says);
	source = memory_source("guarded", bytes, sizeof(bytes), sizeof(bytes));
	if (guard_check(GUARD_HDF5_HEAP, from_source, source, 50 + HEADER,
			headers[i].asked) != headers[i].result)
		fail_msg("%s", headers[i].what);
	if (guard_check(GUARD_HDF5_FIRST, from_source, source, 50 + HEADER,
			headers[i].asked) != headers[i].first)
		fail_msg("%s, as the first", headers[i].what);
	assert_int_equal(guard_check(GUARD_NONE, from_source, source, 0, 5), 0);
	source_close(source);
}

static void test_no_room_for_a_header(void **state)
{
	unsigned char bytes[HEADER + 4];
	struct source *source;

	(void)state;
	put_header(bytes, 1, 4);
	source = memory_source("guarded", bytes, sizeof(bytes), sizeof(bytes));
	assert_int_equal(guard_check(GUARD_HDF5_HEAP, from_source, source, HEADER, 4), 0);
	for (uint64_t offset = 0; offset < HEADER; offset++)
		assert_int_equal(guard_check(GUARD_HDF5_HEAP, from_source, source, offset, 4), -EBADMSG);
	assert_int_equal(guard_check(GUARD_HDF5_HEAP, from_source, source, 1000, 4), -EIO);
	assert_int_equal(guard_check(GUARD_HDF5_HEAP, from_source, source, UINT64_MAX, 4), -EIO);
	source_close(source);
}

static void test_known_ones(void **state)
{
	(void)state;
	assert_true(guard_is_known(GUARD_NONE));
	assert_true(guard_is_known(GUARD_HDF5_HEAP));
	assert_true(guard_is_known(GUARD_HDF5_FIRST));
	assert_true(guard_is_known(GUARD_LMDB));
	assert_false(guard_is_known((enum volume_guard)4));
	assert_false(guard_is_known((enum volume_guard)-1));
}

/* ---- In volumes --------------------------------------------------------- */

#define FAR (VOLUME_OFFSET_LIMIT + 16) /* the header lies in the window before */

struct fixture {
	struct index *index;
	struct source_set sources;
	struct volume_table table;
};

static const uint64_t places[] = { 100, 300, FAR };

/* Objects of 50 bytes: good, bad, and good where no node's offset reaches. */
static void write_objects(void)
{
	int fd = open("objects", O_CREAT | O_TRUNC | O_RDWR, 0600);

	assert_true(fd >= 0);
	for (size_t i = 0; i < COUNT(places); i++) {
		unsigned char bytes[HEADER + 50];

		put_header(bytes, 1, i == 1 ? 49 : 50);
		memset(bytes + HEADER, 'a' + (int)i, 50);
		assert_int_equal(pwrite(fd, bytes, sizeof(bytes), (off_t)places[i] - HEADER),
				 sizeof(bytes));
	}
	close(fd);
}

static void open_fixture(struct fixture *f)
{
	char name[] = "objects", *names[] = { name };
	struct entries *log = entries_new();

	write_objects();
	for (size_t i = 0; i < COUNT(places); i++) {
		char path[2] = { (char)('a' + (int)i), '\0' };
		struct entry_extent x;

		assert_int_equal(entries_guarded_extent(log, 0, FAR + 50, GUARD_HDF5_HEAP,
							places[i], 50, &x), 0);
		kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = path, .size = 50,
					      .extents = &x, .extent_count = 1 });
	}
	f->index = kit_index_of(log);
	assert_int_equal(source_set_open(names, 1, false, &f->sources, NULL), 0);
	assert_int_equal(volume_table_open(f->index, &f->sources, &f->table), 0);
}

static void close_fixture(struct fixture *f)
{
	volume_table_close(&f->table);
	source_set_close(&f->sources);
	index_close(f->index);
}

/* Wherever in a file is read, it is the whole extent's header that counts. */
static void test_the_extent_is_checked_from_any_offset(void **state)
{
	static const int results[] = { 0, -EBADMSG, 0 };
	struct fixture f;

	(void)state;
	open_fixture(&f);
	for (uint32_t i = 0; i < COUNT(places); i++) {
		for (uint64_t at = 0; at < 50; at++) {
			struct tree_piece piece;
			uint64_t found;
			char byte = 0;

			assert_int_equal(tree_piece(index_tree(f.index), i + 1, at, &piece), 0);
			assert_int_equal(piece.whole, 50);
			assert_int_equal(piece.offset, piece.start + at);
			assert_int_equal(volume_pread(&f.table, piece.volume, &byte, 1,
						      piece.offset, PLAIN_READ), 0);
			assert_int_equal(byte, 'a' + (int)i);
			assert_int_equal(volume_check(&f.table, piece.volume, piece.start,
						      piece.whole, PLAIN_READ),
					 results[i]);
			assert_string_equal(volume_locate(&f.table, piece.volume,
							  piece.offset, &found), "objects");
			assert_int_equal(found, places[i] + at);
		}
	}
	close_fixture(&f);
}

static void test_what_is_not_in_the_volume_is_eio(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f);
	assert_int_equal(volume_check(&f.table, 0, FAR + 40, 50, PLAIN_READ), -EIO);
	assert_int_equal(volume_check(&f.table, 0, UINT64_MAX, 2, PLAIN_READ), -EIO);
	assert_int_equal(volume_check(&f.table, 7, 100, 50, PLAIN_READ), -EIO);
	assert_int_equal(volume_check(&f.table, 0, 5, 50, PLAIN_READ), -EBADMSG);
	assert_int_equal(truncate("objects", 90), 0);
	assert_int_equal(volume_check(&f.table, 0, 100, 50, PLAIN_READ), -EIO);
	close_fixture(&f);
}

/* ---- The newest transaction ------------------------------------------------ */

enum { COUNTER_AT = 9, COUNTERS_APART = 100, DATABASE_BYTES = 300 };

static void write_database(uint64_t one, uint64_t other)
{
	unsigned char bytes[DATABASE_BYTES];

	memset(bytes, 'x', sizeof(bytes));
	for (int i = 0; i < 8; i++) {
		bytes[COUNTER_AT + i] = (unsigned char)(one >> 8 * i);
		bytes[COUNTER_AT + COUNTERS_APART + i] = (unsigned char)(other >> 8 * i);
	}
	unit_write("database", bytes, sizeof(bytes));
}

static const struct {
	const char *what;
	uint64_t one, other;
	int result;
} transactions[] = {
	{ "this one is the newest", 41, 42, 0 },
	{ "the next one is", 43, 42, 0 },
	{ "the second one is", 43, 44, -ESTALE },
	{ "a later one is", 1000, 999, -ESTALE },
	{ "an older one is", 41, 40, -ESTALE },
	{ "none is", 0, 0, -ESTALE },
	{ "2^64 - 1 is", UINT64_MAX, 42, -ESTALE },
};

/* A raw volume, and an array of the same bytes, in an index. */
static void open_database(struct fixture *f)
{
	static const uint32_t no_codecs[VOLUME_CODECS] = { 0 };
	const struct volume_snapshot snapshot = { 42, COUNTER_AT, COUNTERS_APART };
	const struct entry_tile tile = { 200, 60, 0 };
	const struct entry_array array = {
		.source_size = DATABASE_BYTES, .rank = 3, .item = 1, .dims = { 3, 4, 5 },
		.tile = { 3, 4, 5 }, .order = { 1, 2, 0 }, .codecs = no_codecs,
		.tiles = &tile, .tile_count = 1, .snapshot = snapshot,
	};
	char name[] = "database", *names[] = { name };
	struct entries *log = entries_new();
	struct entry_extent x[2];

	write_database(42, 41);
	assert_int_equal(entries_snapshot_extent(log, 0, DATABASE_BYTES, &snapshot, 200, 60,
						 &x[0]), 0);
	assert_int_equal(entries_array_extent(log, &array, &x[1]), 0);
	for (size_t i = 0; i < COUNT(x); i++)
		kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = i ? "b" : "a",
					      .size = 60, .extents = &x[i],
					      .extent_count = 1 });
	f->index = kit_index_of(log);
	assert_int_equal(source_set_open(names, 1, false, &f->sources, NULL), 0);
	assert_int_equal(volume_table_open(f->index, &f->sources, &f->table), 0);
}

/* The writer goes on after the index was made; what is in the cache does not count. */
static void test_transactions(void **state)
{
	size_t i = unit_row(state);
	struct fixture f;

	open_database(&f);
	write_database(transactions[i].one, transactions[i].other);
	for (uint32_t node = 1; node <= 2; node++) {
		struct tree_piece piece;
		char bytes[60];

		assert_int_equal(tree_piece(index_tree(f.index), node, 0, &piece), 0);
		assert_int_equal(volume_pread(&f.table, piece.volume, bytes, sizeof(bytes),
					      piece.offset, PLAIN_READ), 0);
		assert_int_equal(bytes[0], 'x');
		assert_int_equal(volume_check(&f.table, piece.volume, piece.start, piece.whole,
					      PLAIN_READ), transactions[i].result);
	}
	close_fixture(&f);
}

static void test_an_extent_of_pieces_has_its_start(void **state)
{
	struct entry_extent x[2];
	struct entries *log = entries_new();
	struct tree_piece piece;
	struct index *index;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(entries_guarded_extent(log, 0, 1000, GUARD_HDF5_HEAP,
							100 + 200 * i, 50, &x[i]), 0);
		x[i].file_offset = 60 * i; /* a hole of ten bytes between them */
	}
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = "f", .size = 110,
				      .extents = x, .extent_count = 2 });
	index = kit_index_of(log);
	assert_int_equal(tree_piece(index_tree(index), 1, 75, &piece), 0);
	assert_int_equal(piece.start, 300);
	assert_int_equal(piece.whole, 50);
	assert_int_equal(piece.offset, 315);
	assert_int_equal(piece.length, 35);
	assert_int_equal(tree_piece(index_tree(index), 1, 55, &piece), 0);
	assert_true(piece.hole);
	index_close(index);
}

static const struct CMUnitTest guard[] = {
	unit_table(test_headers, headers, what),
	cmocka_unit_test(test_no_room_for_a_header),
	cmocka_unit_test(test_known_ones),
	unit_table(test_transactions, transactions, what),
	cmocka_unit_test(test_the_extent_is_checked_from_any_offset),
	cmocka_unit_test(test_what_is_not_in_the_volume_is_eio),
	cmocka_unit_test(test_an_extent_of_pieces_has_its_start),
};

UNIT_MAIN(guard)
