/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coded and literal volumes: from logs to an index, and what a hostile one may say. */
#include "build/kit.h"

#include <errno.h>
#include <time.h>

#include "index/layout.h"

static const uint32_t codecs[VOLUME_CODECS] = { 3, 7 };

static void add_file(struct entries *log, const char *path, struct entry_extent x)
{
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = path, .size = x.length,
				      .extents = &x, .extent_count = 1 });
}

/* A file of one chunk, whose stored length is `mark`. */
static void add_coded(struct entries *log, const char *path, uint32_t mark, uint64_t plain)
{
	struct entry_chunk chunk = { .source_size = KIT_SOURCE_SIZE, .codecs = codecs,
				     .stored_at = 5, .stored_length = mark,
				     .plain = plain };
	struct entry_extent x;

	assert_int_equal(entries_coded_extent(log, &chunk, &x), 0);
	add_file(log, path, x);
}

static void add_literal(struct entries *log, const char *path, const char *text)
{
	struct entry_extent x;

	assert_int_equal(entries_literal_extent(log, text, strlen(text), &x), 0);
	add_file(log, path, x);
}

static struct tree_piece piece_of(const struct index *index, const char *path,
				  struct volume_desc *volume)
{
	struct tree_piece piece;

	assert_int_equal(tree_piece(index_tree(index), kit_node(index_tree(index), path), 0,
				    &piece), 0);
	assert_int_equal(index_volume(index, piece.volume, volume), 0);
	return piece;
}

static void expect_chunk(const struct index *index, const char *path, uint32_t mark,
			 uint64_t plain)
{
	struct volume_desc volume;
	struct volume_chunk chunk;
	struct tree_piece piece = piece_of(index, path, &volume);
	uint64_t number, got;

	assert_int_equal(volume.kind, VOLUME_CODED);
	assert_memory_equal(volume.codecs, codecs, sizeof(codecs));
	assert_int_equal(index_chunk(index, &volume, piece.offset, &number, &chunk, &got), 0);
	assert_int_equal(chunk.stored_length, mark);
	assert_int_equal(got, plain);
	assert_int_equal(piece.length, plain);
}

static void expect_literal(const struct index *index, const char *path, const char *text)
{
	struct volume_desc volume;
	struct tree_piece piece = piece_of(index, path, &volume);
	char got[64];

	assert_int_equal(volume.kind, VOLUME_LITERAL);
	assert_int_equal(piece.length, strlen(text));
	assert_int_equal(index_read_literals(index, got, strlen(text),
					     volume.base + piece.offset), 0);
	assert_memory_equal(got, text, strlen(text));
}

static struct index *seal(struct builder *builder)
{
	struct image image;
	struct index *index;
	struct error e;

	assert_int_equal(kit_seal(builder, &image, &e), 0);
	builder_free(builder);
	index = kit_open(&image);
	if (index_check(index, &e) < 0)
		fail_msg("%s", e.text);
	return index;
}

enum { SHARDS = 40 };

/* A log that is freed makes room for the next, often at the same address. */
static void test_each_shard_has_its_own(void **state)
{
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	struct index *index;
	unsigned same = 0;
	const struct entries *before = NULL;
	char path[32], text[32];

	(void)state;
	for (uint32_t i = 0; i < SHARDS; i++) {
		struct entries *log = entries_new();

		same += log == before;
		before = log;
		snprintf(path, sizeof(path), "coded-%u", i);
		add_coded(log, path, 100 + i, 10 + i);
		snprintf(path, sizeof(path), "second-%u", i);
		add_coded(log, path, 500 + i, 1);
		snprintf(path, sizeof(path), "literal-%u", i);
		snprintf(text, sizeof(text), "shard %u", i);
		add_literal(log, path, text);
		assert_int_equal(builder_apply(builder, log, "s", NULL), 0);
		entries_free(log);
	}
	index = seal(builder);
	assert_int_equal(index_volume_count(index), 2 * SHARDS);
	for (uint32_t i = 0; i < SHARDS; i++) {
		snprintf(path, sizeof(path), "coded-%u", i);
		expect_chunk(index, path, 100 + i, 10 + i);
		snprintf(path, sizeof(path), "second-%u", i);
		expect_chunk(index, path, 500 + i, 1);
		snprintf(path, sizeof(path), "literal-%u", i);
		snprintf(text, sizeof(text), "shard %u", i);
		expect_literal(index, path, text);
	}
	index_close(index);
	/* not with an allocator that keeps what was freed, as sanitizers do */
	print_message("# %u logs lay where the one before did\n", same);
}

static void add_nested(struct entries *log, const char *path, struct entries *nested)
{
	kit_add(log, &(struct entry){ .kind = ENTRY_NESTED, .path = path, .nested = nested });
}

static void test_nested_logs_have_their_own(void **state)
{
	struct entries *log = entries_new(), *one = entries_new(), *two = entries_new();
	struct index *index;

	(void)state;
	add_coded(log, "coded", 1, 10);
	add_literal(log, "literal", "outer");
	add_coded(one, "coded", 2, 20);
	add_literal(one, "literal", "first");
	add_coded(two, "coded", 3, 30);
	add_literal(two, "literal", "second");
	add_nested(one, "two.img", two);
	add_nested(log, "one.img", one);
	add_coded(log, "again", 4, 40);
	index = kit_index_of(log);
	assert_int_equal(index_check(index, NULL), 0);
	expect_chunk(index, "coded", 1, 10);
	expect_chunk(index, "again", 4, 40);
	expect_chunk(index, "one/coded", 2, 20);
	expect_chunk(index, "one/two/coded", 3, 30);
	expect_literal(index, "literal", "outer");
	expect_literal(index, "one/literal", "first");
	expect_literal(index, "one/two/literal", "second");
	assert_int_equal(index_volume_count(index), 6);
	index_close(index);
}

/* A volume that no file uses, because the file was replaced, may stay or go. */
static void test_a_replaced_file_leaves_a_sound_index(void **state)
{
	struct entries *log = entries_new();
	struct index *index;

	(void)state;
	add_coded(log, "x", 1, 10);
	add_literal(log, "x", "text");
	index = kit_index_of(log);
	assert_int_equal(index_check(index, NULL), 0);
	expect_literal(index, "x", "text");
	index_close(index);
}

/* An extent that covers several chunks, and a file of two of them. */
static void test_chunks_may_be_joined(void **state)
{
	struct entries *log = entries_new();
	struct volume_desc volume;
	struct volume_chunk chunk;
	uint64_t number, plain;
	struct index *index;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		char path[16];

		snprintf(path, sizeof(path), "part-%u", i);
		add_coded(log, path, i + 1, 100);
	}
	add_file(log, "joined", (struct entry_extent){ .offset = 150, .length = 700 });
	index = kit_index_of(log);
	assert_int_equal(index_check(index, NULL), 0);
	assert_int_equal(piece_of(index, "joined", &volume).length, 700);
	for (uint64_t at = 0; at < 1000; at++) {
		assert_int_equal(index_chunk(index, &volume, at, &number, &chunk, &plain), 0);
		assert_int_equal(number, at / 100);
		assert_int_equal(chunk.start, at / 100 * 100);
		assert_int_equal(chunk.stored_length, at / 100 + 1);
		assert_int_equal(plain, 100);
	}
	assert_int_equal(index_chunk(index, &volume, 1000, &number, &chunk, &plain), -EIO);
	assert_int_equal(index_chunk(index, &volume, UINT64_MAX, &number, &chunk, &plain),
			 -EIO);
	index_close(index);
}

static void test_a_files_extents_must_lie_within_its_volume(void **state)
{
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	struct entries *log = entries_new();
	struct error e;

	(void)state;
	add_coded(log, "good", 1, 10);
	add_file(log, "bad", (struct entry_extent){ .offset = 5, .length = 6 });
	assert_int_equal(builder_apply(builder, log, "s", &e), -EBADMSG);
	assert_non_null(strstr(e.text, "bad"));
	entries_free(log);
	builder_free(builder);
}

/* ---- Hostile indexes ---------------------------------------------------- */

static uint8_t *coded_bytes(unsigned chunks, size_t *size)
{
	struct entries *log = entries_new();

	for (unsigned i = 0; i < chunks; i++) {
		char path[16];

		snprintf(path, sizeof(path), "f%u", i);
		add_coded(log, path, 7, 100);
	}
	return kit_bytes_of(log, size);
}

static const uint64_t numbers[] = { 0, 1, 2, 99, 100, 101, 399, 400, 401, 1U << 30,
				    UINT32_MAX, UINT64_C(1) << 40, UINT64_MAX / 2,
				    UINT64_MAX - 1, UINT64_MAX };

/* Any chunk that is found holds the byte that was asked for. */
static void ask_chunks(const struct index *index)
{
	struct volume_desc volume;

	assert_int_equal(index_volume(index, 0, &volume), 0);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct volume_chunk chunk;
		uint64_t number, plain;
		int err = index_chunk(index, &volume, numbers[i], &number, &chunk, &plain);

		if (err) {
			assert_int_equal(err, -EIO);
			continue;
		}
		assert_true(chunk.start <= numbers[i]);
		assert_true(plain > numbers[i] - chunk.start);
		assert_true(plain <= VOLUME_CHUNK_LIMIT);
	}
}

/* Writes each number over each word of a section in turn. */
static void try_section(const uint8_t *bytes, size_t size, unsigned section)
{
	uint8_t *copy = malloc(size);
	size_t length, at = kit_section(bytes, section, &length);

	assert_non_null(copy);
	for (size_t word = 0; word + 4 <= length; word += 4) {
		for (size_t i = 0; i < 2 * COUNT(numbers); i++) {
			size_t n = i % 2 || word + 8 > length ? 4 : 8;
			struct index *index;
			struct error e = { 0 };

			memcpy(copy, bytes, size);
			memcpy(copy + at + word, &numbers[i / 2], n);
			kit_fix_sums(copy);
			assert_int_equal(kit_open_bytes(copy, size, &index, &e), 0);
			ask_chunks(index);
			if (index_check(index, &e) < 0)
				assert_true(e.text[0] != '\0');
			index_close(index);
		}
	}
	free(copy);
}

static void test_hostile_chunks_are_errors(void **state)
{
	size_t size;
	uint8_t *bytes = coded_bytes(4, &size);

	(void)state;
	try_section(bytes, size, SECTION_CHUNKS);
	try_section(bytes, size, SECTION_VOLUMES);
	free(bytes);
}

static void test_no_chunks_at_all(void **state)
{
	struct layout_volume coded = { .kind = VOLUME_CODED, .length = 1000,
				       .chunk_count = 3 };
	struct volume_desc volume;
	struct volume_chunk chunk;
	uint64_t number, plain;
	struct image image;
	struct index *index;

	(void)state;
	kit_image("d:d", &image);
	assert_true(image_append(&image, SECTION_VOLUMES, &coded, sizeof(coded)) >= 0);
	coded.chunk_count = 0;
	assert_true(image_append(&image, SECTION_VOLUMES, &coded, sizeof(coded)) >= 0);
	index = kit_open(&image);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(index_volume(index, i, &volume), 0);
		assert_int_equal(index_chunk(index, &volume, 0, &number, &chunk, &plain),
				 -EIO);
	}
	assert_int_equal(index_check(index, &(struct error){ 0 }), -EBADMSG);
	index_close(index);
}

enum { MANY = 20000 };

/* As many volumes as chunks, each of which claims all of them. */
static void test_shared_chunks_do_not_take_for_ever(void **state)
{
	struct layout_volume coded = { .kind = VOLUME_CODED, .length = MANY,
				       .chunk_count = MANY };
	struct error e = { 0 };
	struct image image;
	struct index *index;
	clock_t start;

	(void)state;
	kit_image("f:a:1", &image);
	for (uint32_t i = 0; i < MANY; i++) {
		struct volume_chunk chunk = { i, 5, 7, 0 };

		assert_true(image_append(&image, SECTION_CHUNKS, &chunk, sizeof(chunk)) >= 0);
		assert_true(image_append(&image, SECTION_VOLUMES, &coded, sizeof(coded)) >= 0);
	}
	index = kit_open(&image);
	start = clock();
	assert_int_equal(index_check(index, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "volume 2")); /* 0 is raw, 1 has them all */
	assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
	index_close(index);
}

static const struct CMUnitTest chunks[] = {
	cmocka_unit_test(test_each_shard_has_its_own),
	cmocka_unit_test(test_nested_logs_have_their_own),
	cmocka_unit_test(test_a_replaced_file_leaves_a_sound_index),
	cmocka_unit_test(test_chunks_may_be_joined),
	cmocka_unit_test(test_a_files_extents_must_lie_within_its_volume),
	cmocka_unit_test(test_hostile_chunks_are_errors),
	cmocka_unit_test(test_no_chunks_at_all),
	cmocka_unit_test(test_shared_chunks_do_not_take_for_ever),
};

UNIT_MAIN(chunks)
