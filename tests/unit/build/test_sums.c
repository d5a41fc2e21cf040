/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checksums in an index: one a node, or none at all, whoever wrote it. */
#include "build/kit.h"

#include <errno.h>

#include "build/index_copy.h"
#include "index/layout.h"
#include "index/checksum.h"

static const char script[] = "f:a:1 d:d f:d/b:2 h:d/c:a s:s:a f:e:0";

enum { NODES_MOST = 16 };

/* An image whose files have their own node number, times a thousand, as checksum. */
static void summed_image(struct image *image)
{
	struct index *index = kit_make(script);
	uint64_t sums[NODES_MOST] = { 0 };

	kit_image(script, image);
	assert_in_range(image_nodes(image), 1, NODES_MOST);
	assert_int_equal(image_nodes(image), tree_count(index_tree(index)));
	for (uint32_t node = 0; node < image_nodes(image); node++) {
		struct tree_stat st;

		assert_int_equal(tree_stat(index_tree(index), node, &st), 0);
		if (st.kind == TREE_FILE && st.node == node && st.size)
			sums[node] = 1000 * (uint64_t)node;
	}
	assert_int_equal(image_set_sums(image, sums, NULL), 0);
	index_close(index);
}

static uint8_t *summed_bytes(size_t *size)
{
	struct image image;
	uint8_t *bytes;

	summed_image(&image);
	bytes = kit_bytes(&image, size);
	image_free(&image);
	return bytes;
}

static void test_an_index_without_is_what_it_always_was(void **state)
{
	struct index *index = kit_make(script);
	struct layout_header header;
	struct image image;
	uint8_t *bytes;
	uint64_t sum;
	size_t size;

	(void)state;
	assert_false(index_has_sums(index));
	assert_int_equal(index_sum(index, kit_node(index_tree(index), "a"), &sum), -ENOENT);
	index_close(index);
	kit_image(script, &image);
	bytes = kit_bytes(&image, &size);
	memcpy(&header, bytes, sizeof(header));
	assert_int_equal(header.version, LAYOUT_VERSION);
	assert_int_equal(header.section_count, SECTION_COUNT_LEAST);
	free(bytes);
	image_free(&image);
}

static void test_files_have_theirs_and_others_none(void **state)
{
	struct image image;
	struct index *index;
	const struct tree *tree;
	struct error e = { 0 };
	uint64_t sum;

	(void)state;
	summed_image(&image);
	index = kit_open(&image);
	tree = index_tree(index);
	assert_true(index_has_sums(index));
	assert_int_equal(index_check(index, &e), 0);
	assert_int_equal(index_sum(index, kit_node(tree, "d/b"), &sum), 0);
	assert_int_equal(sum, 1000 * kit_node(tree, "d/b"));
	/* the link's number is that of the file, which has it once */
	assert_int_equal(index_sum(index, kit_node(tree, "d/c"), &sum), 0);
	assert_int_equal(sum, 1000 * kit_node(tree, "a"));
	assert_int_equal(index_sum(index, kit_node(tree, "d"), &sum), -ENOENT);
	assert_int_equal(index_sum(index, kit_node(tree, "e"), &sum), -ENOENT);
	assert_int_equal(index_sum(index, kit_node(tree, "s"), &sum), -ENOENT);
	assert_int_equal(index_sum(index, tree_count(tree), &sum), -EIO);
	assert_int_equal(index_sum(index, UINT32_MAX, &sum), -EIO);
	index_close(index);
}

/* Where the table says how long the section is. */
static const size_t length_at = sizeof(struct layout_header) +
				SECTION_SUMS * sizeof(struct layout_section) +
				offsetof(struct layout_section, length);

static const struct {
	const char *what;
	int64_t more; /* bytes than there are */
	const char *word;
} lengths[] = {
	{ "one too few", -8, "not one for each name" },
	{ "half of one too few", -4, "makes no sense" },
	{ "one too many", 8, "makes no sense" }, /* it is the last: past the end */
	{ "negative", INT64_MIN, "makes no sense" },
};

static void test_a_section_of_another_length_is_refused(void **state)
{
	size_t size;
	uint8_t *bytes = summed_bytes(&size), *copy = malloc(size);

	(void)state;
	assert_non_null(copy);
	for (size_t i = 0; i < COUNT(lengths); i++) {
		struct index *index;
		struct error e = { 0 };
		uint64_t length;

		memcpy(copy, bytes, size);
		memcpy(&length, copy + length_at, sizeof(length));
		length += (uint64_t)lengths[i].more;
		memcpy(copy + length_at, &length, sizeof(length));
		kit_fix_header(copy);
		if (kit_open_bytes(copy, size, &index, &e) != -EBADMSG)
			fail_msg("%s: was opened", lengths[i].what);
		if (!strstr(e.text, lengths[i].word))
			fail_msg("%s: %s", lengths[i].what, e.text);
	}
	free(copy);
	free(bytes);
}

/* More than one a node, all within the file. */
static void test_too_many_are_refused(void **state)
{
	struct image image;
	struct index *index;
	struct error e = { 0 };
	uint8_t *bytes;
	uint64_t one = 1;
	size_t size;

	(void)state;
	summed_image(&image);
	assert_true(image_append(&image, SECTION_SUMS, &one, sizeof(one)) > 0);
	bytes = kit_bytes(&image, &size);
	image_free(&image);
	assert_int_equal(kit_open_bytes(bytes, size, &index, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "not one for each name"));
	free(bytes);
}

/* A table that says it has the section, and ends before it; and the other way round. */
static void test_a_table_that_is_longer_or_shorter_is_refused(void **state)
{
	const size_t at = offsetof(struct layout_header, section_count);
	struct image image;
	struct index *index;
	struct error e = { 0 };
	uint32_t count = SECTION_COUNT;
	uint8_t *bytes;
	size_t size;

	(void)state;
	kit_image(script, &image);
	bytes = kit_bytes(&image, &size);
	image_free(&image);
	memcpy(bytes + at, &count, sizeof(count));
	kit_fix_header(bytes);
	assert_int_equal(kit_open_bytes(bytes, size, &index, &e), -EBADMSG);
	count = SECTION_COUNT_LEAST - 1;
	memcpy(bytes + at, &count, sizeof(count));
	kit_fix_header(bytes);
	assert_int_equal(kit_open_bytes(bytes, size, &index, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "sections"));
	free(bytes);
}

static void test_every_flip_in_the_head_is_refused(void **state)
{
	const size_t head = sizeof(struct layout_header) +
			    (SECTION_SUMS + 1) * sizeof(struct layout_section);
	size_t size;
	uint8_t *bytes = summed_bytes(&size);

	(void)state;
	for (size_t i = 0; i < head; i++) {
		struct index *index;
		struct error e = { 0 };

		bytes[i] ^= 0x10;
		assert_int_equal(kit_open_bytes(bytes, size, &index, &e), -EBADMSG);
		bytes[i] ^= 0x10;
	}
	free(bytes);
}

static void test_a_changed_sum_is_found(void **state)
{
	size_t size, at;
	uint8_t *bytes = summed_bytes(&size);
	struct index *index;
	struct error e = { 0 };

	(void)state;
	at = kit_section(bytes, SECTION_SUMS, NULL);
	bytes[at + 9] ^= 1;
	assert_int_equal(kit_open_bytes(bytes, size, &index, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "SUMS"));
	free(bytes);
}

static void test_a_copy_is_the_same(void **state)
{
	struct image image;
	struct index *index;
	struct error e = { 0 };
	uint8_t *bytes, *again;
	size_t size, size2;

	(void)state;
	bytes = summed_bytes(&size);
	assert_int_equal(kit_open_bytes(bytes, size, &index, &e), 0);
	assert_int_equal(index_copy(index, &image), 0);
	again = kit_bytes(&image, &size2);
	assert_int_equal(size, size2);
	assert_memory_equal(bytes, again, size);
	image_free(&image);
	index_close(index);
	free(again);
	free(bytes);
}

/* As xxhsum(1) of xxHash 0.8 says with -H3. */
static void test_the_sum_is_xxh3(void **state)
{
	struct sum *sum = sum_new();

	(void)state;
	assert_non_null(sum);
	assert_int_equal(sum_of("", 0), 0x2d06800538d394c2);
	sum_begin(sum);
	sum_add(sum, "granary", 7);
	assert_int_equal(sum_end(sum), sum_of("granary", 7));
	sum_begin(sum);
	for (const char *c = "granary"; *c; c++)
		sum_add(sum, c, 1);
	assert_int_equal(sum_end(sum), sum_of("granary", 7));
	sum_free(sum);
}

static const struct CMUnitTest sums[] = {
	cmocka_unit_test(test_an_index_without_is_what_it_always_was),
	cmocka_unit_test(test_files_have_theirs_and_others_none),
	cmocka_unit_test(test_a_section_of_another_length_is_refused),
	cmocka_unit_test(test_too_many_are_refused),
	cmocka_unit_test(test_a_table_that_is_longer_or_shorter_is_refused),
	cmocka_unit_test(test_every_flip_in_the_head_is_refused),
	cmocka_unit_test(test_a_changed_sum_is_found),
	cmocka_unit_test(test_a_copy_is_the_same),
	cmocka_unit_test(test_the_sum_is_xxh3),
};

UNIT_MAIN(sums)
