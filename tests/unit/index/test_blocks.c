/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checksums of blocks in an index: where each file's are, whoever wrote them. */
#include "build/kit.h"

#include <errno.h>
#include <stdio.h>

#include "build/index_copy.h"
#include "index/block_sums.h"
#include "index/layout.h"

enum { NODES_MOST = 512, FILES = 300 };

/* Of one block or less, and of more: the last one full, or of one byte. */
static const struct {
	uint64_t size, blocks;
} sizes[] = {
	{ 0, 0 }, { 1, 0 }, { BLOCK_BYTES, 0 }, { BLOCK_BYTES + 1, 2 },
	{ 2 * BLOCK_BYTES, 2 }, { 7 * BLOCK_BYTES + 5, 8 }, { 400000, 4 },
};

/* "f:d/000:0 f:d/001:1 ... h:link:d/003 s:soft:x", the sizes in turn. */
static char *many_files(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (unsigned i = 0; i < FILES; i++)
		fprintf(out, "f:d/%03u:%llu ", i,
			(unsigned long long)sizes[i % COUNT(sizes)].size);
	fprintf(out, "h:link:d/003 s:soft:x");
	assert_int_equal(fclose(out), 0);
	return text;
}

static uint64_t blocks_in(const struct tree *tree, uint32_t node)
{
	struct tree_stat st;

	assert_int_equal(tree_stat(tree, node, &st), 0);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		if (st.kind == TREE_FILE && st.node == node && st.size == sizes[i].size)
			return sizes[i].blocks;
	}
	return 0;
}

/* The sum of a block tells whose it is. */
static uint64_t sum_for(uint32_t node, uint64_t block)
{
	return (uint64_t)node << 32 | (block + 1);
}

/* The image of a script, with such sums. */
static void blocks_image(const char *script, struct image *image)
{
	struct index *index = kit_make(script);
	uint64_t sums[NODES_MOST] = { 1 };
	struct block_sums blocks;

	kit_image(script, image);
	assert_in_range(image_nodes(image), 1, NODES_MOST);
	assert_int_equal(block_sums_allocate(index, &blocks), 0);
	for (uint32_t node = 0; node < image_nodes(image); node++) {
		uint64_t count = blocks_in(index_tree(index), node);
		uint64_t *at = block_sums_of_file(index, &blocks, node);

		assert_true((at != NULL) == (count > 0));
		for (uint64_t i = 0; i < count; i++) {
			assert_in_range(at + i - blocks.items, 1, blocks.count - 1);
			assert_int_equal(at[i], 0); /* nobody else's */
			at[i] = sum_for(node, i);
		}
	}
	assert_int_equal(image_set_sums(image, sums, &blocks), 0);
	block_sums_free(&blocks);
	index_close(index);
}

static void test_each_block_has_its_own(void **state)
{
	char *script = many_files();
	struct image image;
	struct index *index;
	struct error e = { 0 };
	uint64_t first, sum;

	(void)state;
	blocks_image(script, &image);
	index = kit_open(&image);
	assert_true(block_sums_exist(index));
	assert_int_equal(index_check(index, &e), 0);
	for (uint32_t node = 0; node < tree_count(index_tree(index)); node++) {
		uint64_t count = blocks_in(index_tree(index), node);

		for (uint64_t i = 0; i < count; i++) {
			assert_int_equal(block_sums_first(index, node, &first), 0);
			assert_int_equal(block_sums_get(index, first + i, &sum), 0);
			assert_int_equal(sum, sum_for(node, i));
		}
	}
	index_close(index);
	free(script);
}

/* 8 bytes a block of a larger file, and 8 for 64 names. */
static void test_it_costs_little(void **state)
{
	static const char *const scripts[] = { "f:a:1 f:b:131072", "f:a:131073 f:b:1" };
	static const size_t lengths[] = { 8, 8 + 2 * 8 };

	(void)state;
	for (size_t i = 0; i < COUNT(scripts); i++) {
		struct image image;
		uint8_t *bytes;
		size_t size, length;

		blocks_image(scripts[i], &image);
		bytes = kit_bytes(&image, &size);
		kit_section(bytes, SECTION_BLOCKS, &length);
		assert_int_equal(length, lengths[i]);
		image_free(&image);
		free(bytes);
	}
}

/* As version 0.1 wrote them: of files, and none of blocks. */
static void test_an_index_may_have_none(void **state)
{
	uint64_t sums[NODES_MOST] = { 1 }, first;
	struct image image;
	struct index *index;
	struct error e = { 0 };

	(void)state;
	kit_image("f:a:131073", &image);
	assert_int_equal(image_set_sums(&image, sums, NULL), 0);
	index = kit_open(&image);
	assert_true(index_has_sums(index));
	assert_false(block_sums_exist(index));
	assert_int_equal(index_check(index, &e), 0);
	assert_int_equal(block_sums_first(index, kit_node(index_tree(index), "a"),
					  &first), -EIO);
	index_close(index);
}

static const char hostile_script[] = "f:a:131073 f:b:400000 f:c:1";

/* Under right checksums: what is said before the first group, and how many there are. */
static const struct {
	const char *what;
	uint64_t before;
	uint64_t items; /* 0: as it should be */
} hostile[] = {
	{ "one too far", 1, 0 },
	{ "at the end", 7, 0 },
	{ "past the end", 1000, 0 },
	{ "far past the end", UINT64_C(1) << 61, 0 },
	{ "so far that it comes round", UINT64_MAX, 0 },
	{ "one too few", 0, 6 },
	{ "only the group", 0, 1 },
	{ "one too many", 0, 8 },
};

static void visit_all(const struct index *index)
{
	for (uint32_t node = 0; node < tree_count(index_tree(index)); node++) {
		uint64_t first = 0, sum;
		int err = block_sums_first(index, node, &first);

		assert_true(err == 0 || err == -EIO);
		for (uint64_t i = 0; !err && i < 5; i++) {
			int bad = block_sums_get(index, first + i, &sum);

			assert_true(bad == 0 || bad == -EIO);
		}
	}
}

static void test_hostile_numbers_lead_nowhere(void **state)
{
	size_t i = unit_row(state);
	struct image image;
	struct index *index;
	struct error e = { 0 };
	uint8_t *items;

	blocks_image(hostile_script, &image);
	if (hostile[i].items == 8)
		assert_true(image_append(&image, SECTION_BLOCKS, "12345678", 8) > 0);
	else if (hostile[i].items)
		image.sections[SECTION_BLOCKS].count = 8 * hostile[i].items;
	items = image.sections[SECTION_BLOCKS].items;
	memcpy(items, &hostile[i].before, sizeof(hostile[i].before));
	index = kit_open(&image);
	visit_all(index);
	if (index_check(index, &e) != -EBADMSG)
		fail_msg("%s: taken for sound", hostile[i].what);
	assert_non_null(strstr(e.text, "checksums of blocks"));
	index_close(index);
}

static void test_of_blocks_alone_there_are_none(void **state)
{
	struct image image;
	struct index *index;
	struct error e = { 0 };
	uint8_t *bytes;
	size_t size;

	(void)state;
	blocks_image(hostile_script, &image);
	image.sections[SECTION_SUMS].count = 0;
	bytes = kit_bytes(&image, &size);
	image_free(&image);
	assert_int_equal(kit_open_bytes(bytes, size, &index, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "and none of files"));
	free(bytes);
}

static void test_a_copy_is_the_same(void **state)
{
	struct image image;
	struct index *index;
	uint8_t *bytes, *again;
	size_t size, size2;

	(void)state;
	blocks_image(hostile_script, &image);
	bytes = kit_bytes(&image, &size);
	index = kit_open(&image);
	assert_int_equal(index_copy(index, &image), 0);
	again = kit_bytes(&image, &size2);
	assert_int_equal(size, size2);
	assert_memory_equal(bytes, again, size);
	image_free(&image);
	index_close(index);
	free(again);
	free(bytes);
}

static const struct CMUnitTest blocks[] = {
	cmocka_unit_test(test_each_block_has_its_own),
	cmocka_unit_test(test_it_costs_little),
	cmocka_unit_test(test_an_index_may_have_none),
	unit_table(test_hostile_numbers_lead_nowhere, hostile, what),
	cmocka_unit_test(test_of_blocks_alone_there_are_none),
	cmocka_unit_test(test_a_copy_is_the_same),
};

UNIT_MAIN(blocks)
