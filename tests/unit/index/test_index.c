/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The index as a file: what is opened, and what is accepted. */
#include "build/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/card.h"
#include "index/layout.h"
#include "build/publish.h"

static const char script[] = "f:a:1 d:d f:d/b:2 h:d/c:a s:s:a";

/* The bytes of a sound index; the caller frees them. */
static uint8_t *sound(size_t *size)
{
	struct image image;
	uint8_t *bytes;

	kit_image(script, &image);
	bytes = kit_bytes(&image, size);
	image_free(&image);
	return bytes;
}

static void test_written_and_opened(void **state)
{
	const struct image_access access = { 0600, getuid(), getgid() };
	struct image image;
	struct index *index;
	struct error e;
	struct stat st;
	char *list;

	(void)state;
	kit_image(script, &image);
	assert_int_equal(publish_at(&image, "a.gidx", &access, &e), 0);
	image_free(&image);
	assert_int_equal(kit_open_path("a.gidx", &index, &e), 0);
	assert_int_equal(stat("a.gidx", &st), 0);
	assert_int_equal(index_size(index), st.st_size);
	assert_int_equal(card_owner(index_card(index)), st.st_uid);
	assert_int_equal(index_check(index, &e), 0);
	list = kit_list(index_tree(index));
	assert_string_equal(list, "a=1*2 d/ d/b=2 d/c=1*2 s>a");
	free(list);
	index_close(index);
	index_close(NULL);
	unlink("a.gidx");
}

static void test_the_same_tree_is_the_same_bytes(void **state)
{
	size_t size, size2;
	uint8_t *bytes = sound(&size), *again = sound(&size2);

	(void)state;
	assert_int_equal(size, size2);
	assert_memory_equal(bytes, again, size);
	free(bytes);
	free(again);
}

static const struct {
	const char *what;
	struct identity identities[2];
	uint32_t count;
	const char *options;
	int err;
	const char *word;
} wishes[] = {
	{ "the same", { { KIT_SOURCE_SIZE, 2000, 3000, 0, 0 } }, 1, "shape=kit", 0, "" },
	{ "size", { { KIT_SOURCE_SIZE + 1, 2000, 3000, 0, 0 } }, 1, "shape=kit", -ESTALE, "another size" },
	{ "mtime", { { KIT_SOURCE_SIZE, 2001, 3000, 0, 0 } }, 1, "shape=kit", -ESTALE, "time of change" },
	{ "not recorded", { { KIT_SOURCE_SIZE, 2000, 3000, 5, 6 } }, 1, "shape=kit", 0, "" },
	{ "digest", { { KIT_SOURCE_SIZE, 2000, 3001, 0, 0 } }, 1, "shape=kit", -ESTALE, "beginning or end" },
	{ "one more", { { KIT_SOURCE_SIZE, 2000, 3000, 0, 0 }, { 1, 2, 3, 0, 0 } }, 2, "shape=kit", -ESTALE,
	  "another set" },
	{ "none", { { 0 } }, 0, "shape=kit", -ESTALE, "another set" },
	{ "options", { { KIT_SOURCE_SIZE, 2000, 3000, 0, 0 } }, 1, "shape=other", -ESTALE, "shape=kit" },
	{ "no options", { { KIT_SOURCE_SIZE, 2000, 3000, 0, 0 } }, 1, "", -ESTALE, "other options" },
};

static void test_accepted_only_for_its_sources_and_options(void **state)
{
	size_t i = unit_row(state);
	struct index *index = kit_make(script);
	struct error e = { 0 };

	if (card_accept(index_card(index), wishes[i].identities, wishes[i].count,
			wishes[i].options, &e) != wishes[i].err)
		fail_msg("%s", wishes[i].what);
	assert_non_null(strstr(e.text, wishes[i].word));
	index_close(index);
}

struct head_change {
	const char *what;
	size_t at, bytes;
	uint64_t value;
	const char *word;
};

#define HEADER(member) \
	offsetof(struct layout_header, member), \
		sizeof(((struct layout_header *)NULL)->member)
#define TABLE(section, member)                                                \
	sizeof(struct layout_header) +                                        \
		SECTION_##section * sizeof(struct layout_section) +           \
		offsetof(struct layout_section, member),                      \
		sizeof(((struct layout_section *)NULL)->member)

/* Each with a right checksum: as a version of tomorrow, or malice, would have it. */
static const struct head_change changes[] = {
	{ "magic", HEADER(magic), 0, "no index" },
	{ "version 0", HEADER(version), 0, "another version" },
	{ "the version before", HEADER(version), LAYOUT_VERSION - 1, "another version" },
	{ "the next version", HEADER(version), LAYOUT_VERSION + 1, "another version" },
	{ "byte order", HEADER(byte_order), 0x04030201, "byte order" },
	{ "file size", HEADER(file_size), 1, "cut off, or has grown" },
	{ "file size 2^64-1", HEADER(file_size), UINT64_MAX, "cut off, or has grown" },
	{ "sections", HEADER(section_count), SECTION_COUNT + 1, "sections" },
	{ "id", TABLE(NODES, id), 0, "makes no sense" },
	{ "item size", TABLE(NODES, item_size), 35, "makes no sense" },
	{ "item size 0", TABLE(NODES, item_size), 0, "makes no sense" },
	{ "offset", TABLE(NODES, offset), UINT64_MAX - 7, "makes no sense" },
	{ "crooked offset", TABLE(NAMES, offset), 9, "makes no sense" },
	{ "length", TABLE(BYTES, length), UINT64_MAX, "makes no sense" },
	{ "length past the end", TABLE(BYTES, length), 100000, "makes no sense" },
	{ "broken item", TABLE(NODES, length), 35, "makes no sense" },
	{ "no nodes", TABLE(NODES, length), 0, "no tree" },
	{ "no summary", TABLE(SUMMARY, length), 0, "no tree" },
};

static void refused(const uint8_t *bytes, size_t size, const char *what,
		    const char *word)
{
	struct index *index;
	struct error e = { 0 };

	if (kit_open_bytes(bytes, size, &index, &e) != -EBADMSG)
		fail_msg("%s: was opened", what);
	assert_int_equal(e.status, ERROR_DATASET);
	if (!strstr(e.text, word) || strncmp(e.text, "kit: ", 5) != 0)
		fail_msg("%s: %s", what, e.text);
}

static void test_a_header_that_is_not_ours_is_refused(void **state)
{
	size_t i = unit_row(state);
	size_t size;
	uint8_t *bytes = sound(&size), *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	memcpy(copy + changes[i].at, &changes[i].value, changes[i].bytes);
	kit_fix_header(copy);
	refused(copy, size, changes[i].what, changes[i].word);
	free(copy);
	free(bytes);
}

static void test_every_flip_in_the_head_is_refused(void **state)
{
	const size_t head = sizeof(struct layout_header) +
			    SECTION_COUNT_LEAST * sizeof(struct layout_section);
	size_t size;
	uint8_t *bytes = sound(&size);

	(void)state;
	for (size_t i = 0; i < head; i++) {
		bytes[i] ^= 0x10;
		refused(bytes, size, "a flip in the head", "");
		bytes[i] ^= 0x10;
	}
	free(bytes);
}

static void test_truncated_and_grown_files_are_refused(void **state)
{
	size_t size;
	uint8_t *bytes = sound(&size), *longer = calloc(1, size + 1);

	(void)state;
	assert_non_null(longer);
	memcpy(longer, bytes, size);
	for (size_t i = 0; i < size; i++)
		refused(bytes, i, "truncated", "");
	refused(longer, size + 1, "grown", "grown");
	free(longer);
	free(bytes);
}

/* An index in memory, of which it is counted how much is read. */
struct bytes {
	const uint8_t *at;
	size_t *read;
};

static int read_bytes(const void *context, void *buffer, size_t length, uint64_t offset)
{
	const struct bytes *bytes = context;

	memcpy(buffer, bytes->at + offset, length);
	*bytes->read += length;
	return 0;
}

static int card_of(const void *bytes, size_t size, size_t *read, struct error *e)
{
	const struct bytes context = { bytes, read };
	const struct card_reader reader = { read_bytes, &context, size, 0 };
	struct card *card;
	int err = card_read(&reader, &card, e);

	*e->text = '\0';
	if (err)
		return err;
	assert_int_equal(card_source(card, 0)->identity.size, KIT_SOURCE_SIZE);
	assert_string_equal(card_source(card, 0)->name, "kit.tar");
	assert_null(card_source(card, 1));
	assert_string_equal(card_summary(card)->options, "shape=kit");
	assert_false(card_has_sums(card));
	card_free(card);
	return 0;
}

/* The card alone tells, before all of a file is read. */
static void test_what_is_no_index_is_refused(void **state)
{
	size_t size, read = 0, large = 64 << 20;
	uint8_t *bytes = sound(&size), *hole = calloc(1, large);
	struct layout_header header;
	char text[5000];
	struct error e;

	(void)state;
	assert_non_null(hole);
	memset(text, 'x', sizeof(text));
	refused((uint8_t *)text, sizeof(text), "text", "no index");
	refused((uint8_t *)text, 10, "short", "no index");
	refused((uint8_t *)text, 0, "empty", "empty");
	assert_int_equal(card_of(bytes, size, &read, &e), 0);
	assert_int_equal(card_of(text, sizeof(text), &read, &e), -EBADMSG);
	/* an index that ends in a large hole */
	memcpy(hole, bytes, size);
	memcpy(&header, bytes, sizeof(header));
	header.file_size = large;
	memcpy(hole, &header, sizeof(header));
	kit_fix_header(hole);
	read = 0;
	assert_int_equal(card_of(hole, large, &read, &e), 0);
	assert_in_range(read, 1, 4096);
	free(hole);
	free(bytes);
}

/* Fields of a packed file that 0.1 did not record: all of them or none. */
static void test_identities(void **state)
{
	const struct identity recorded = { .number = 77, .samples = 88 };
	struct index *index = kit_make(script);
	struct image image;
	struct error e;
	uint8_t *bytes;
	size_t size;

	(void)state;
	assert_false(card_has_identities(index_card(index)));
	assert_int_equal(card_source(index_card(index), 0)->identity.number, 0);
	index_close(index);
	kit_image(script, &image);
	assert_int_equal(image_add_identity(&image, &recorded), 0);
	index = kit_open(&image);
	assert_true(card_has_identities(index_card(index)));
	assert_int_equal(card_source(index_card(index), 0)->identity.number, 77);
	assert_int_equal(card_source(index_card(index), 0)->identity.samples, 88);
	assert_int_equal(card_source(index_card(index), 0)->identity.digest, 3000);
	index_close(index);
	kit_image(script, &image);
	assert_int_equal(image_add_identity(&image, &recorded), 0);
	assert_int_equal(image_add_identity(&image, &recorded), 0);
	bytes = kit_bytes(&image, &size);
	image_free(&image);
	assert_int_equal(kit_open_bytes(bytes, size, &index, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "not one for each packed file"));
	free(bytes);
}

static unsigned open_descriptors(void)
{
	return unit_names_in("/proc/self/fd");
}

static void test_no_descriptor_is_left(void **state)
{
	unsigned before = open_descriptors();
	struct index *index = kit_make(script);

	(void)state;
	assert_int_equal(open_descriptors(), before + 1); /* the memory */
	index_close(index);
	refused((const uint8_t *)"text", 4, "text", "");
	assert_int_equal(open_descriptors(), before);
}

static const struct CMUnitTest index_file[] = {
	cmocka_unit_test(test_written_and_opened),
	cmocka_unit_test(test_the_same_tree_is_the_same_bytes),
	unit_table(test_accepted_only_for_its_sources_and_options, wishes, what),
	unit_table(test_a_header_that_is_not_ours_is_refused, changes, what),
	cmocka_unit_test(test_every_flip_in_the_head_is_refused),
	cmocka_unit_test(test_truncated_and_grown_files_are_refused),
	cmocka_unit_test(test_what_is_no_index_is_refused),
	cmocka_unit_test(test_identities),
	cmocka_unit_test(test_no_descriptor_is_left),
};

UNIT_MAIN(index_file)
